"""BenchmarkService and CatalogService over a real channel."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import grpc
import pytest
from builders import a_configuration
from builders_planning import MODEL, TODAY, a_ladder, a_planning_server, an_slo, refusal_of, stored, text_work

from tonnage.domain.measurement import TestState
from tonnage.store.memory import MemoryStore
from tonnage.v1 import benchmark_service_pb2 as pb
from tonnage.v1 import catalog_service_pb2, plan_pb2, run_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from builders_planning import Stubs

ENGINES = ("vllm", "sglang", "tgi", "lmdeploy", "tensorrt-llm")
RECENT = datetime(2026, 11, 1, tzinfo=UTC)
OLD = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def store() -> MemoryStore:
    found = MemoryStore()
    stored(found, *(a_ladder(configuration=a_configuration(engine=engine)) for engine in ENGINES))
    return found


@pytest.fixture
def stubs(store: MemoryStore) -> Iterator[Stubs]:
    with a_planning_server(store) as found:
        yield found


def curve(stubs: Stubs, **changes: object) -> pb.GetCurveResponse:
    """Ask for the vLLM curve."""
    stated: dict[str, object] = {"configuration": run_pb2.Configuration(model=MODEL, engine="vllm")}
    return stubs.benchmark.GetCurve(pb.GetCurveRequest(**{**stated, **changes}), timeout=5)  # type: ignore[arg-type]


def test_a_curve_shows_each_level_with_its_standing_against_the_slo(stubs: Stubs) -> None:
    answer = curve(stubs, slo=an_slo(600))
    assert [point.offered_load for point in answer.points] == [1, 2, 4, 8]
    assert [point.requests_per_s_per_replica for point in answer.points] == [1, 2, 4, 6]
    assert [point.admissible for point in answer.points] == [True, True, True, False]
    assert "1200" in answer.points[3].miss
    assert answer.capacity.q_slo_requests_per_s == 4
    assert answer.capacity.bound == plan_pb2.CAPACITY_BOUND_EXACT
    assert answer.saturation_requests_per_s == 6
    assert answer.sweep_id == "sweep-1"
    assert {point.evidence.source for point in answer.points} == {"ladder.json"}


def test_a_curve_without_an_slo_judges_nothing(stubs: Stubs) -> None:
    answer = curve(stubs)
    assert not answer.HasField("capacity")
    assert not any(point.HasField("admissible") for point in answer.points)


def test_a_curve_far_from_the_asked_lengths_says_so(stubs: Stubs) -> None:
    answer = curve(stubs, work=text_work(50_000, 100), slo=an_slo(600))
    assert "LENGTHS_NOT_MEASURED" in [finding.code for finding in answer.findings]
    assert answer.capacity.bound == plan_pb2.CAPACITY_BOUND_NONE
    assert not answer.capacity.HasField("q_slo_requests_per_s")


def test_a_selector_that_leaves_several_curves_is_asked_for_more(stubs: Stubs) -> None:
    refusal = refusal_of(lambda: curve(stubs, configuration=run_pb2.Configuration(model=MODEL)))
    assert (refusal.code, refusal.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ("configuration",))
    assert "engine" in refusal.message


def test_a_curve_that_is_not_there_is_not_found(stubs: Stubs) -> None:
    for changes in ({"configuration": run_pb2.Configuration(model="example/unknown")}, {"sweep_id": "another"}):
        refusal = refusal_of(lambda asked=changes: curve(stubs, **asked))  # type: ignore[misc]
        assert (refusal.code, refusal.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_STORED")


def test_a_fingerprint_alone_selects_a_curve(stubs: Stubs) -> None:
    fingerprint = a_configuration(engine="tgi").fingerprint
    answer = curve(stubs, configuration=run_pb2.Configuration(fingerprint=fingerprint))
    assert answer.configuration.engine == "tgi"


def test_pages_hold_every_configuration_once(stubs: Stubs) -> None:
    seen, token = [], ""
    while True:
        request = pb.ListConfigurationsRequest(page_size=2, page_token=token)
        page = stubs.benchmark.ListConfigurations(request, timeout=5)
        assert page.total_count == len(ENGINES)
        seen += [summary.configuration.engine for summary in page.configurations]
        token = page.next_page_token
        if not token:
            break
    assert seen == sorted(ENGINES)


def test_pages_hold_every_run_once(stubs: Stubs) -> None:
    seen, token = [], ""
    while True:
        page = stubs.benchmark.ListRuns(pb.ListRunsRequest(page_size=2, page_token=token), timeout=5)
        assert not any(run.levels for run in page.runs)
        seen += [run.name for run in page.runs]
        token = page.next_page_token
        if not token:
            break
    assert len(seen) == len(set(seen)) == len(ENGINES)
    run = stubs.benchmark.GetRun(pb.GetRunRequest(name=seen[0]), timeout=5).run
    assert (run.name, len(run.levels)) == (seen[0], 4)


def test_a_page_of_an_older_data_version_or_another_query_is_stale(store: MemoryStore, stubs: Stubs) -> None:
    page = stubs.benchmark.ListConfigurations(pb.ListConfigurationsRequest(page_size=2), timeout=5)
    token = page.next_page_token
    other = pb.ListConfigurationsRequest(page_size=2, page_token=token, filter=run_pb2.Configuration(engine="vllm"))
    assert refusal_of(lambda: stubs.benchmark.ListConfigurations(other, timeout=5)).reason == "PAGE_TOKEN_STALE"
    stored(store, a_ladder(configuration=a_configuration(engine="other")))
    same = pb.ListConfigurationsRequest(page_size=2, page_token=token)
    assert refusal_of(lambda: stubs.benchmark.ListConfigurations(same, timeout=5)).reason == "PAGE_TOKEN_STALE"


def test_a_filter_in_any_spelling_lists_what_matches(stubs: Stubs) -> None:
    filtered = run_pb2.Configuration(engine="vLLM", accelerator="NVIDIA H100 80GB HBM3")
    page = stubs.benchmark.ListConfigurations(pb.ListConfigurationsRequest(filter=filtered), timeout=5)
    assert [summary.configuration.engine for summary in page.configurations] == ["vllm"]
    runs = stubs.benchmark.ListRuns(pb.ListRunsRequest(filter=filtered), timeout=5)
    assert [run.configuration.engine for run in runs.runs] == ["vllm"]


def test_a_run_nobody_stored_is_not_found(stubs: Stubs) -> None:
    request = pb.GetRunRequest(name="namespaces/default/runs/00000000-0000-0000-0000-000000000009")
    refusal = refusal_of(lambda: stubs.benchmark.GetRun(request, timeout=5))
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_STORED")


def retest(stubs: Stubs, **changes: object) -> pb.CheckRetestResponse:
    """Ask what has to be measured again."""
    stated: dict[str, object] = {"as_of_date": TODAY}
    return stubs.benchmark.CheckRetest(pb.CheckRetestRequest(**{**stated, **changes}), timeout=5)  # type: ignore[arg-type]


def test_a_new_minor_release_asks_for_a_retest_and_a_new_driver_advises_one(stubs: Stubs) -> None:
    planned = run_pb2.Configuration(model=MODEL, engine="vllm", engine_version="0.20")
    answer = retest(stubs, planned=planned)
    nearest = answer.items[0]
    assert nearest.configuration.engine == "vllm"
    assert nearest.verdict == pb.RETEST_VERDICT_REQUIRED
    assert [(change.field, change.measured, change.planned) for change in nearest.changes] == [
        ("engine_version", "0.19", "0.20")
    ]
    assert answer.total_count == len(ENGINES)
    assert len(answer.items[1].changes) == 2


def test_age_and_missing_states_are_told_of_every_configuration() -> None:
    store = MemoryStore()
    configurations = [a_configuration(engine=engine) for engine in ("vllm", "sglang")]
    stored(
        store,
        a_ladder(configuration=configurations[0], measured_at=RECENT, state=TestState.SOAK, sample_set="a"),
        a_ladder(configuration=configurations[1], measured_at=OLD),
    )
    with a_planning_server(store) as stubs:
        items = {item.configuration.engine: item for item in retest(stubs).items}
        empty = retest(stubs, planned=run_pb2.Configuration(model="example/unknown"))
    assert items["vllm"].age_days == 29
    covered = {state.state: state.covered for state in items["vllm"].states}
    assert covered[run_pb2.TEST_STATE_SOAK]
    assert not covered[run_pb2.TEST_STATE_BURST]
    assert run_pb2.TEST_STATE_BURST in items["vllm"].states_to_run
    assert "MEASUREMENT_OLD" in [finding.code for finding in items["sglang"].findings]
    assert "MEASUREMENT_OLD" not in [finding.code for finding in items["vllm"].findings]
    assert not empty.items
    assert [finding.code for finding in empty.findings] == ["NO_MEASURED_RUN"]


def test_pages_hold_every_catalog_model_once(stubs: Stubs) -> None:
    seen, token = [], ""
    while True:
        request = catalog_service_pb2.ListModelsRequest(page_size=100, page_token=token)
        page = stubs.catalog.ListModels(request, timeout=5)
        seen += [model.id for model in page.models]
        token = page.next_page_token
        if not token:
            break
    assert len(seen) == len(set(seen)) == page.total_count > 100
    assert seen == sorted(seen)


def test_a_model_is_known_by_name_or_by_its_config_json(stubs: Stubs) -> None:
    known = stubs.catalog.GetModel(catalog_service_pb2.GetModelRequest(id="llama-3.1-8b-instruct"), timeout=5).model
    assert known.id == MODEL
    assert known.kv_bytes_per_token_16bit == 2 * 32 * 8 * 128 * 2
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 128256,
        "torch_dtype": "bfloat16",
    }
    request = catalog_service_pb2.GetModelRequest(config_json=json.dumps(config).encode())
    described = stubs.catalog.GetModel(request, timeout=5).model
    assert described.kv_bytes_per_token_16bit == known.kv_bytes_per_token_16bit
    config["num_hidden_layers"] = "many"
    request = catalog_service_pb2.GetModelRequest(config_json=json.dumps(config).encode())
    refusal = refusal_of(lambda: stubs.catalog.GetModel(request, timeout=5))
    assert refusal.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refusal.fields == ("config_json.num_hidden_layers",)


def test_a_model_nobody_knows_is_not_found(stubs: Stubs) -> None:
    request = catalog_service_pb2.GetModelRequest(id="lama-3")
    refusal = refusal_of(lambda: stubs.catalog.GetModel(request, timeout=5))
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_NAME")


def test_a_card_is_found_by_any_of_its_names(stubs: Stubs) -> None:
    request = catalog_service_pb2.ListAcceleratorsRequest(query="H100 80GB HBM3")
    found = stubs.catalog.ListAccelerators(request, timeout=5).accelerators
    assert [card.id for card in found] == ["h100-sxm-80gb"]
    assert 79 < found[0].usable_low_bytes / 2**30 < 80

"""What a client may rely on, of the servers and of the fakes alike."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tonnage.client import IngestClient, PlanningClient, errors, messages
from tonnage.client.testing import FakeServers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = ("fake", "servers")


@dataclass(frozen=True)
class Pair:
    """Clients of one pair of servers, and a namespace nobody else uses."""

    planning: PlanningClient
    ingest: IngestClient
    namespace: str


@pytest.fixture(scope="module", params=KINDS)
def targets(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    if request.param == "fake":
        with FakeServers() as fake:
            yield fake.target, fake.target
        return
    with serving(tmp_path_factory.mktemp("data")) as found:
        yield found["planning"], found["ingest"]


class serving:  # noqa: N801 -- reads as ``with serving(folder):``
    """Real servers on free ports, as ``tonnage serve`` starts them."""

    def __init__(self, data: Path) -> None:
        self._command = [
            *(sys.executable, "-m", "tonnage.cli", "serve", "--json", "--data", str(data)),
            *("--planning-port", "0", "--ingest-port", "0"),
        ]

    def __enter__(self) -> dict[str, str]:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "serve ended before it was up"
        found: dict[str, str] = json.loads(line)
        return found

    def __exit__(self, *_ended: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(60) == 0
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def pair(targets: tuple[str, str]) -> Iterator[Pair]:
    with PlanningClient(targets[0]) as planning, IngestClient(targets[1]) as ingest:
        yield Pair(planning, ingest, f"n{uuid.uuid4().hex[:12]}")


def _run(sweep: str = "s1", rate: float = 2.0) -> messages.Run:
    """Return a run of three levels that obey Little's law."""
    run = messages.Run(
        tool="vllm-bench-serve",
        metric_definitions="vllm-serve-1",
        sweep_id=sweep,
        configuration=messages.Configuration(
            model="meta-llama/Llama-3.1-8B-Instruct",
            accelerator="h100-sxm-80gb",
            accelerators_per_replica=1,
            tensor_parallel=1,
            engine="vllm",
            engine_version="0.19",
            weight_precision="bf16",
        ),
        replicas_under_test=1,
        arrival_kind=messages.ARRIVAL_KIND_CLOSED,
    )
    for concurrency in (1, 2, 4):
        requests_per_s = rate * concurrency
        run.levels.add(
            work=messages.WorkSize(text=messages.TextWork(input_tokens_mean=1000, output_tokens_mean=100)),
            concurrency=concurrency,
            requests_per_s=requests_per_s,
            output_tokens_per_s=100 * requests_per_s,
            duration_s=500 / requests_per_s,
            completed_count=500,
            failed_count=0,
            ttft=messages.LatencyStatistics(mean_ms=50, p50_ms=50, p90_ms=80, p99_ms=100),
            e2e=messages.LatencyStatistics(mean_ms=1000 * concurrency / requests_per_s),
        )
    return run


def _listed(pair: Pair, version: int, *, retired: bool = False) -> list[messages.Run]:
    request = messages.ListRunsRequest(
        namespace=pair.namespace, min_data_version=version, include_retired=retired, page_size=2
    )
    return list(pair.planning.runs(request))


def test_both_serve(pair: Pair) -> None:
    assert pair.planning.is_serving()
    assert pair.ingest.is_serving()


def test_runs_pushed_are_listed_without_levels_and_shown_with_them(pair: Pair) -> None:
    answer = pair.ingest.ingest_runs([_run()], namespace=pair.namespace)
    assert [item.outcome for item in answer.runs] == [messages.RUN_OUTCOME_STORED]
    assert answer.stored_level_count == 3
    listed = _listed(pair, answer.data_version)
    assert [(item.name, len(item.levels)) for item in listed] == [(answer.runs[0].run, 0)]
    shown = pair.planning.get_run(messages.GetRunRequest(name=answer.runs[0].run))
    assert [level.concurrency for level in shown.run.levels] == [1, 2, 4]
    assert [level.index for level in shown.run.levels] == [0, 1, 2]
    assert shown.run.configuration.engine == "vllm"
    assert shown.retired == ""


def test_the_same_runs_twice_are_stored_once(pair: Pair) -> None:
    first = pair.ingest.ingest_runs([_run()], namespace=pair.namespace)
    again = pair.ingest.ingest_runs([_run()], namespace=pair.namespace)
    assert [item.outcome for item in again.runs] == [messages.RUN_OUTCOME_ALREADY_STORED]
    assert (again.data_version, again.stored_level_count) == (first.data_version, 0)
    assert again.runs[0].run == first.runs[0].run
    assert len(_listed(pair, first.data_version)) == 1


def test_validate_only_stores_nothing(pair: Pair) -> None:
    answer = pair.ingest.ingest_runs([_run()], namespace=pair.namespace, validate_only=True)
    assert [item.outcome for item in answer.runs] == [messages.RUN_OUTCOME_VALID]
    assert _listed(pair, answer.data_version) == []


def test_lists_are_paged_newest_first_with_the_whole_count(pair: Pair) -> None:
    names, version = [], 0
    for sweep in ("a", "b", "c"):
        answer = pair.ingest.ingest_runs([_run(sweep)], namespace=pair.namespace)
        names.append(answer.runs[0].run)
        version = answer.data_version
    request = messages.ListRunsRequest(namespace=pair.namespace, min_data_version=version, page_size=2)
    page = pair.planning.list_runs(request)
    assert (len(page.runs), page.total_count, bool(page.next_page_token)) == (2, 3, True)
    assert [item.name for item in _listed(pair, version)] == names[::-1]


def test_a_page_token_is_bound_to_its_query(pair: Pair) -> None:
    version = max(pair.ingest.ingest_runs([_run(sweep)], namespace=pair.namespace).data_version for sweep in ("a", "b"))
    request = messages.ListRunsRequest(namespace=pair.namespace, min_data_version=version, page_size=1)
    request.page_token = pair.planning.list_runs(request).next_page_token
    request.sweep_id = "a"
    with pytest.raises(errors.BadInput) as caught:
        pair.planning.list_runs(request)
    assert (caught.value.reason, caught.value.violations[0].field) == ("PAGE_TOKEN_STALE", "page_token")
    request.page_token = "nonsense"  # noqa: S105 -- a page token
    with pytest.raises(errors.BadInput):
        pair.planning.list_runs(request)


def test_a_filter_lists_what_matches_alone(pair: Pair) -> None:
    version = pair.ingest.ingest_runs([_run()], namespace=pair.namespace).data_version
    for engine, count in (("vllm", 1), ("sglang", 0)):
        request = messages.ListRunsRequest(
            namespace=pair.namespace, min_data_version=version, filter=messages.Configuration(engine=engine)
        )
        assert pair.planning.list_runs(request).total_count == count


def test_configurations_are_counted(pair: Pair) -> None:
    version = max(pair.ingest.ingest_runs([_run(sweep)], namespace=pair.namespace).data_version for sweep in ("a", "b"))
    request = messages.ListConfigurationsRequest(namespace=pair.namespace, min_data_version=version)
    (found,) = pair.planning.configurations(request)
    assert (found.run_count, found.level_count) == (2, 6)
    assert found.configuration.accelerator == "h100-sxm-80gb"
    assert list(found.missing_for_plan) == []


def test_a_retracted_run_leaves_the_lists_and_is_kept_aside(pair: Pair) -> None:
    name = pair.ingest.ingest_runs([_run()], namespace=pair.namespace).runs[0].run
    answer = pair.ingest.retract_runs(messages.RetractRunsRequest(runs=[name], reason="wrong card"))
    assert list(answer.already_retracted) == []
    assert _listed(pair, answer.data_version) == []
    assert [item.name for item in _listed(pair, answer.data_version, retired=True)] == [name]
    assert pair.planning.get_run(messages.GetRunRequest(name=name)).retired == "RETRACTED"
    again = pair.ingest.retract_runs(messages.RetractRunsRequest(runs=[name], reason="wrong card"))
    assert (list(again.already_retracted), again.data_version) == ([name], answer.data_version)


def test_a_retraction_needs_a_reason_and_known_runs(pair: Pair) -> None:
    name = f"namespaces/{pair.namespace}/runs/{uuid.uuid4()}"
    with pytest.raises(errors.BadInput) as caught:
        pair.ingest.retract_runs(messages.RetractRunsRequest(runs=[name]))
    assert caught.value.violations[0].field == "reason"
    with pytest.raises(errors.NotFound) as missing:
        pair.ingest.retract_runs(messages.RetractRunsRequest(runs=[name], reason="r"))
    assert missing.value.reason == "NOT_STORED"


def test_a_request_id_repeats_its_answer_and_refuses_another_body(pair: Pair) -> None:
    request_id = uuid.uuid4().hex
    first = pair.ingest.ingest_runs([_run()], namespace=pair.namespace, request_id=request_id)
    again = pair.ingest.ingest_runs([_run()], namespace=pair.namespace, request_id=request_id)
    assert [item.run for item in again.runs] == [item.run for item in first.runs]
    assert again.data_version == first.data_version
    with pytest.raises(errors.Conflict) as caught:
        pair.ingest.ingest_runs([_run("other")], namespace=pair.namespace, request_id=request_id)
    assert caught.value.reason == "REQUEST_ID_REUSED"


def test_what_became_of_a_request_can_be_asked(pair: Pair) -> None:
    request_id = uuid.uuid4().hex
    stored = pair.ingest.ingest_runs([_run()], namespace=pair.namespace, request_id=request_id)
    request = messages.GetIngestionRequest(namespace=pair.namespace, request_id=request_id)
    assert [item.run for item in pair.ingest.get_ingestion(request).runs] == [stored.runs[0].run]
    with pytest.raises(errors.NotFound):
        pair.ingest.get_ingestion(messages.GetIngestionRequest(namespace=pair.namespace, report_id="ab" * 32))


def test_a_plan_is_kept_once_and_found_by_its_id(pair: Pair) -> None:
    plan = messages.Plan(plan_id="ab" * 16, release="0.1.0", summary="2 servers")
    plan.request.namespace = "default"
    request = messages.RecordPlanRequest(plan=plan, recorded_by="ci")
    assert pair.ingest.record_plan(request).already_recorded is False
    assert pair.ingest.record_plan(request).already_recorded is True
    found = pair.ingest.get_recorded_plan(messages.GetRecordedPlanRequest(plan_id=plan.plan_id))
    assert (found.plan, found.recorded_by) == (plan, "ci")
    with pytest.raises(errors.NotFound):
        pair.ingest.get_recorded_plan(messages.GetRecordedPlanRequest(plan_id="no"))


def test_runs_without_a_tool_are_refused_by_field(pair: Pair) -> None:
    run = _run()
    run.tool = ""
    with pytest.raises(errors.BadInput) as caught:
        pair.ingest.ingest_runs([_run(), run], namespace=pair.namespace)
    assert caught.value.violations[0].field == "batch.runs[1].tool"


def test_a_file_nobody_recognises_is_refused(pair: Pair) -> None:
    with pytest.raises(errors.BadInput) as caught:
        pair.ingest.ingest_report(b"dear diary", filename="notes.txt", namespace=pair.namespace)
    assert caught.value.reason == "UNKNOWN_FORMAT"
    with pytest.raises(errors.BadInput):
        pair.ingest.convert_report(b"dear diary", filename="notes.txt")


def test_a_run_that_is_not_stored_is_not_found(pair: Pair) -> None:
    with pytest.raises(errors.NotFound) as caught:
        pair.planning.get_run(messages.GetRunRequest(name=f"namespaces/{pair.namespace}/runs/{uuid.uuid4()}"))
    assert caught.value.reason == "NOT_STORED"


def test_a_plan_without_a_model_is_refused_by_field(pair: Pair) -> None:
    with pytest.raises(errors.BadInput) as caught:
        pair.planning.plan_capacity(messages.PlanCapacityRequest(workload=messages.Workload()))
    assert "workload.model" in {item.field for item in caught.value.violations}


def test_data_that_is_not_there_yet_is_not_waited_for_beyond_the_deadline(pair: Pair) -> None:
    request = messages.ListRunsRequest(namespace=pair.namespace, min_data_version=1_000_000)
    with pytest.raises((errors.NotReady, errors.DeadlineExceeded)):
        pair.planning.list_runs(request, timeout_s=0.5)


def test_a_fake_says_what_a_test_put_in_and_keeps_the_requests() -> None:
    with FakeServers() as fake, PlanningClient(fake.target) as client:
        request = messages.FitVramRequest(question=messages.MemoryQuestion(model="m"))
        with pytest.raises(errors.NotAvailable, match=r"fake\.answer"):
            client.fit_vram(request)
        fake.answer("FitVram", messages.FitVramResponse(fit=messages.MemoryFit(verdict=messages.FIT_VERDICT_TIGHT)))
        assert client.fit_vram(request).fit.verdict == messages.FIT_VERDICT_TIGHT
        assert [(name, message) for name, message in fake.requests] == [("FitVram", request)] * 2


def test_a_fakes_reader_reads_files() -> None:
    with FakeServers() as fake, IngestClient(fake.target) as client:
        fake.reader = lambda head, data: [_run(data.decode())] if head.filename.endswith(".ok") else None
        first = client.ingest_report(b"sweep-7", filename="a.ok")
        assert [item.outcome for item in first.runs] == [messages.RUN_OUTCOME_STORED]
        assert client.convert_report(b"sweep-7", filename="a.ok").runs[0].sweep_id == "sweep-7"
        with pytest.raises(errors.BadInput):
            client.ingest_report(b"sweep-7", filename="a.no")

"""Cases from people who size serving, asked of the real processes: the right answers, and the named refusals."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
from builders_planning import a_reserve, text_work
from builders_processes import both_servers

from tonnage.client.errors import ClientError
from tonnage.v1 import (
    benchmark_service_pb2,
    ingest_service_pb2,
    plan_pb2,
    planning_service_pb2,
    run_pb2,
    workload_pb2,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from builders_processes import Servers

TABLE = (
    "model",
    "engine",
    "weight_precision",
    "accelerator",
    "accelerators_per_replica",
    "tensor_parallel",
    "replicas_under_test",
    "concurrency",
    "input_tokens_mean",
    "output_tokens_mean",
    "output_tokens_per_s",
    "ttft_mean_ms",
    "itl_mean_ms",
    "tpot_mean_ms",
    "e2e_mean_ms",
)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with both_servers(tmp_path_factory.mktemp("cases")) as found:
        yield found


@pytest.fixture(scope="module")
def cases(shared: Path) -> Path:
    return shared / "cases" / "files"


@pytest.fixture(scope="module")
def expected(cases: Path) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((cases / "expected.json").read_text())
    return answers


def near(answer: dict[str, Any]) -> Any:  # noqa: ANN401 -- pytest gives approx no type
    """Return what an expected answer accepts."""
    if "abs_tol" in answer:
        return pytest.approx(answer["value"], abs=answer["abs_tol"])
    return pytest.approx(answer["value"], rel=answer["rel_tol"])


def _table(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, TABLE, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def _ingested(servers: Servers, file: Path, **given: str) -> ingest_service_pb2.IngestReportResponse:
    return servers.ingest.ingest_report(file, given=given)


def _a4(servers: Servers, cases: Path, tmp_path: Path) -> int:
    with (cases / "s_a4_llama33_70b_2xh100_5000_500.csv").open() as file:
        rows = [
            {
                "model": "meta-llama/Llama-3.3-70B-Instruct",
                "engine": "nim",
                "weight_precision": "fp8",
                "accelerator": "h100-sxm-80gb",
                "accelerators_per_replica": 2,
                "tensor_parallel": 2,
                "replicas_under_test": 1,
                "concurrency": row["concurrency"],
                "input_tokens_mean": 5000,
                "output_tokens_mean": 500,
                "output_tokens_per_s": row["output_tokens_per_s"],
                "ttft_mean_ms": row["ttft_ms_mean"],
                "itl_mean_ms": row["itl_ms_mean"],
            }
            for row in csv.DictReader(file)
        ]
    return _ingested(servers, _table(tmp_path / "s_a4.csv", rows)).data_version


def _plan(
    servers: Servers,
    version: int,
    workload: workload_pb2.Workload,
    **changes: Any,  # noqa: ANN401 -- request fields
) -> plan_pb2.Plan:
    request = planning_service_pb2.PlanCapacityRequest(
        workload=workload, as_of_date="2026-11-30", min_data_version=version, **changes
    )
    return servers.planning.PlanCapacity(request, timeout=10).plan


def _limit(metric: str, statistic: str, max_ms: float) -> workload_pb2.Slo:
    return workload_pb2.Slo(
        latency_limits=[
            workload_pb2.LatencyLimit(
                metric=workload_pb2.LatencyMetric.Value(f"LATENCY_METRIC_{metric}"),
                statistic=workload_pb2.Statistic.Value(f"STATISTIC_{statistic}"),
                max_ms=max_ms,
            )
        ]
    )


def _workload(
    model: str, peak: float, lengths: tuple[float, float], slo: workload_pb2.Slo, reserve: float = 0.2
) -> workload_pb2.Workload:
    return workload_pb2.Workload(
        model=model,
        demand=workload_pb2.Demand(peak_rate=workload_pb2.PeakRate(peak_requests_per_s=peak)),
        buckets=[workload_pb2.DemandBucket(work=text_work(*lengths), share=1)],
        slo=slo,
        reserve=a_reserve(reserve),
    )


def test_s_a4_units_come_from_the_best_row_inside_the_limit(
    servers: Servers, cases: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    version = _a4(servers, cases, tmp_path)
    right = expected["S-A4"]

    def plan(statistic: str, max_ms: float, **changes: Any) -> plan_pb2.Plan:  # noqa: ANN401 -- request fields
        slo = _limit("TTFT", statistic, max_ms)
        return _plan(servers, version, _workload("Llama-3.3-70B-Instruct", 10, (5000, 500), slo), **changes)

    (best,) = plan("MEAN", 1000).candidates
    capacity = best.buckets[0].capacity
    assert capacity.q_slo_requests_per_s == near(right["q_slo_rps_ttft_1000"])
    assert capacity.offered_load == 50
    assert best.count.replica_count == right["units_ttft_1000"]["equals"]
    assert best.count.accelerator_count == right["gpus_ttft_1000"]["equals"]
    for limit, units in ((700, "units_ttft_700"), (500, "units_ttft_500")):
        (best,) = plan("MEAN", limit).candidates
        assert best.count.replica_count == right[units]["equals"]
        assert best.origin != plan_pb2.Candidate().origin
        assert best.count.accelerator_count == 2 * right[units]["equals"]
    refused = plan("P95", 1000)
    assert not refused.candidates
    assert refused.verdict == plan_pb2.PLAN_VERDICT_NOT_KNOWN
    assert [rejection.code for rejection in refused.rejections] == ["STATISTIC_NOT_MEASURED"]
    (between,) = plan("MEAN", 500, policy=plan_pb2.CAPACITY_POLICY_INTERPOLATED).candidates
    assert between.origin == 3, "what lies between two loads says so"


def test_s_a5_the_fastest_row_inside_the_limit_is_not_the_last(
    servers: Servers, cases: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    right = expected["S-A5"]
    with (cases / "s_a5_tp8_1k_8k.csv").open() as file:
        rows = [
            {
                "model": "example/tp8-model",
                "engine": "sglang",
                "weight_precision": "fp8",
                "accelerator": "h200-sxm-141gb",
                "accelerators_per_replica": row["gpus"],
                "tensor_parallel": row["gpus"],
                "replicas_under_test": 1,
                "concurrency": row["concurrency"],
                "input_tokens_mean": 1024,
                "output_tokens_mean": 8192,
                "output_tokens_per_s": float(row["output_tokens_per_s_per_gpu"]) * int(row["gpus"]),
                "tpot_mean_ms": row["tpot_ms"],
                "e2e_mean_ms": float(row["e2e_s"]) * 1000,
            }
            for row in csv.DictReader(file)
        ]
    version = _ingested(servers, _table(tmp_path / "s_a5.csv", rows)).data_version
    workload = _workload("example/tp8-model", 2, (1024, 8192), _limit("TPOT", "MEAN", 10))
    (best,) = _plan(servers, version, workload).candidates
    capacity = best.buckets[0].capacity
    assert capacity.q_slo_requests_per_s == near(right["q_slo_rps"])
    assert capacity.offered_load == right["row_concurrency"]["equals"]
    assert best.count.replica_count == right["units"]["equals"]
    assert best.count.accelerator_count == right["gpus"]["equals"]
    assert any(finding.code == "SATURATED" for finding in (*best.findings, *capacity.findings))


def _levels(servers: Servers, answer: ingest_service_pb2.IngestReportResponse) -> list[run_pb2.Level]:
    runs = [
        servers.benchmark.GetRun(
            benchmark_service_pb2.GetRunRequest(name=receipt.run, min_data_version=answer.data_version), timeout=10
        ).run
        for receipt in answer.runs
    ]
    return [level for run in runs for level in run.levels]


def _complete(servers: Servers, file: Path, model: str) -> ingest_service_pb2.IngestReportResponse:
    """Upload with what the file does not say, so that only what it measured stands in a plan's way."""
    return _ingested(
        servers,
        file,
        model=model,
        engine="vllm",
        weight_precision="bf16",
        accelerator="h100-sxm-80gb",
        tensor_parallel="1",
        replicas_under_test="1",
    )


def _under_tpot(servers: Servers, version: int, model: str, lengths: tuple[float, float]) -> plan_pb2.Plan:
    return _plan(servers, version, _workload(model, 1, lengths, _limit("TPOT", "MEAN", 1e6)))


def test_s_c1_an_impossible_tpot_is_missing_and_never_satisfies_a_limit(
    servers: Servers, cases: Path, expected: dict[str, Any]
) -> None:
    right = expected["S-C1"]
    answer = _complete(servers, cases / "s_c1_nan_negative_tpot.json", "example/omni-30b")
    (level,) = _levels(servers, answer)
    assert level.ttft.mean_ms == near(right["ttft_mean_ms"])
    assert level.e2e.mean_ms == near(right["e2e_mean_ms"])
    assert level.requests_per_s == near(right["rps"])
    for latency in (level.tpot, level.itl):
        assert not [field.name for field, _ in latency.ListFields()]
    refused = _under_tpot(servers, answer.data_version, "example/omni-30b", (1655, 124))
    assert not refused.candidates
    assert refused.rejections[0].code in {"STATISTIC_NOT_MEASURED", "IMPOSSIBLE_STATISTIC"}


def test_s_c2_two_lines_are_two_runs_of_the_lengths_that_ran(
    servers: Servers, cases: Path, expected: dict[str, Any]
) -> None:
    right = expected["S-C2"]
    answer = _ingested(servers, cases / "s_c2_results.json", model="example/long", accelerator="h100-sxm-80gb")
    levels = _levels(servers, answer)
    assert len(levels) == right["runs"]["equals"]
    for place, level in enumerate(levels):
        assert level.work.text.input_tokens_mean == near(right["input_mean"][place])
        assert level.work.text.output_tokens_mean == near(right["output_mean"][place])
        assert not level.HasField("offered_requests_per_s")
    assert levels[0].concurrency == 8
    total = levels[0].completed_count + levels[0].failed_count
    assert levels[0].failed_count / total == near(right["failure_rate"][0])


def test_s_c3_one_output_token_has_no_tpot(servers: Servers, cases: Path, expected: dict[str, Any]) -> None:
    right = expected["S-C3"]
    answer = _complete(servers, cases / "s_c3_one_output_token.json", "example/llama-8b")
    (level,) = _levels(servers, answer)
    assert level.ttft.mean_ms == near(right["ttft_mean_ms"])
    assert level.requests_per_s == near(right["rps"])
    for latency in (level.tpot, level.itl):
        assert not [field.name for field, _ in latency.ListFields()]
    assert not level.HasField("concurrency")
    refused = _under_tpot(servers, answer.data_version, "example/llama-8b", (199.21, 1))
    assert not refused.candidates
    assert refused.rejections[0].code in {"STATISTIC_NOT_MEASURED", "IMPOSSIBLE_STATISTIC"}


def test_a_file_nobody_recognises_leaves_the_store_as_it_was(servers: Servers, tmp_path: Path) -> None:
    before = servers.benchmark.ListRuns(benchmark_service_pb2.ListRunsRequest(), timeout=10).data_version
    (tmp_path / "notes.txt").write_text("nothing of a load tool\n")
    with pytest.raises(ClientError):
        servers.ingest.ingest_report(tmp_path / "notes.txt")
    after = servers.benchmark.ListRuns(benchmark_service_pb2.ListRunsRequest(), timeout=10).data_version
    assert after == before

"""Real ingest and planning processes: from a load tool's files to a plan, and out of it again."""

from __future__ import annotations

import statistics
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from builders_planning import a_reserve, an_slo, text_work
from builders_processes import ServerProcess, both_servers, seconds_until
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tonnage.client import IngestClient
from tonnage.v1 import benchmark_service_pb2, ingest_service_pb2, plan_pb2, planning_service_pb2, run_pb2, workload_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from builders_processes import Servers

LABELS = {"accelerator": "a10g-24gb", "engine": "llama.cpp", "weight_precision": "q4_1", "tensor_parallel": "1"}
# TTFT limits no level of these files misses by far: 60 s.
WIDE_MS = 60_000
LENGTHS = {"vllm-bench-serve": (64, 32), "guidellm": (64, 32)}


@pytest.fixture(scope="module")
def files(shared: Path) -> list[Path]:
    found = sorted((shared / "samples" / "local-vllm-bench").glob("*.json"))
    return [*found, shared / "samples" / "local-guidellm" / "benchmarks.json"]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, files: list[Path]) -> Iterator[Servers]:
    with both_servers(tmp_path_factory.mktemp("planning")) as found:
        ingest_all(found, files)
        yield found


def ingest_all(servers: Servers, files: list[Path]) -> list[int]:
    """Upload each file under the labels of this test and return the data versions."""
    answers = [servers.ingest.ingest_report(file, given=LABELS, default_sweep_id=file.parent.name) for file in files]
    return [answer.data_version for answer in answers]


def measured(servers: Servers) -> list[benchmark_service_pb2.ConfigurationSummary]:
    """Return what is stored, at the newest data version."""
    request = benchmark_service_pb2.ListConfigurationsRequest(min_data_version=4)
    return list(servers.benchmark.ListConfigurations(request, timeout=10).configurations)


def asked(
    summary: benchmark_service_pb2.ConfigurationSummary, statistic: str, max_ms: float = WIDE_MS
) -> planning_service_pb2.PlanCapacityRequest:
    """Return a plan request of the lengths that were measured."""
    work = summary.measured_work[0]
    workload = workload_pb2.Workload(
        model=summary.configuration.model,
        demand=workload_pb2.Demand(
            base_and_peak=workload_pb2.BaseAndPeak(base_requests_per_s=4, peak_factor=2.5, peak_factor_source="a log")
        ),
        buckets=[workload_pb2.DemandBucket(work=work, share=1)],
        slo=an_slo(max_ms, statistic),
        reserve=a_reserve(),
    )
    selector = run_pb2.Configuration(fingerprint=summary.configuration.fingerprint)
    return planning_service_pb2.PlanCapacityRequest(workload=workload, configuration=selector, as_of_date="2026-11-30")


@pytest.mark.parametrize("statistic", ["STATISTIC_P50", "STATISTIC_P90"])
def test_a_plan_on_ttft_names_the_files_it_stands_on(servers: Servers, files: list[Path], statistic: str) -> None:
    named = set()
    for summary in measured(servers):
        plan = servers.planning.PlanCapacity(asked(summary, statistic), timeout=10).plan
        assert plan.verdict == plan_pb2.PLAN_VERDICT_FEASIBLE, plan
        (best,) = plan.candidates
        q_slo = best.buckets[0].capacity.q_slo_requests_per_s
        assert best.count.replica_count == -(-12 // q_slo)
        named |= {evidence.source for evidence in best.evidence}
        assert {run.name for run in plan.evidence_runs} >= {evidence.run for evidence in best.evidence}
    for summary in measured(servers):
        curve = benchmark_service_pb2.GetCurveRequest(
            configuration=run_pb2.Configuration(fingerprint=summary.configuration.fingerprint)
        )
        assert servers.benchmark.GetCurve(curve, timeout=10).points
    assert named <= {file.name for file in files}
    assert named & {"concurrency-4.json", "benchmarks.json"}


def test_a_p99_of_too_few_requests_is_refused_with_that_reason(servers: Servers) -> None:
    for summary in measured(servers):
        plan = servers.planning.PlanCapacity(asked(summary, "STATISTIC_P99"), timeout=10).plan
        assert plan.verdict == plan_pb2.PLAN_VERDICT_NOT_KNOWN, plan
        assert not plan.candidates
        (rejection,) = plan.rejections
        assert rejection.code in {"TOO_FEW_REQUESTS_FOR_STATISTIC", "STATISTIC_NOT_MEASURED"}
        assert "at least 100" in rejection.reason
        assert rejection.remedy
        assert rejection.evidence


def test_the_same_files_again_change_nothing(servers: Servers, files: list[Path]) -> None:
    (summary, *_) = measured(servers)
    request = asked(summary, "STATISTIC_P90")
    before = servers.planning.PlanCapacity(request, timeout=10)
    assert ingest_all(servers, files) == [1, 2, 3, 4]
    after = servers.planning.PlanCapacity(request, timeout=10)
    assert after.SerializeToString(deterministic=True) == before.SerializeToString(deterministic=True)
    assert after.plan.data_version == 4


def test_a_kept_plan_replays_to_the_same_answer(servers: Servers) -> None:
    for summary in measured(servers):
        plan = servers.planning.PlanCapacity(asked(summary, "STATISTIC_P90"), timeout=10).plan
        replayed = servers.planning.ReplayPlan(planning_service_pb2.ReplayPlanRequest(plan=plan), timeout=10)
        assert replayed.same_answer, replayed.differences
        assert replayed.plan == plan


def a_table(folder: Path, place: int) -> Path:
    """Write one operating point in our own columns, another for each place."""
    identity = "model,engine,weight_precision,accelerator,accelerators_per_replica,tensor_parallel"
    load = "replicas_under_test,concurrency,input_tokens_mean,output_tokens_mean"
    figures = "requests_per_s,ttft_mean_ms,completed_count,failed_count"
    file = folder / f"point-{place}.csv"
    row = f"example/tiny-{place},vllm,bf16,h100-sxm-80gb,1,1,1,4,1000,100,{place + 1},250,1000,0"
    file.write_text(f"{identity},{load},{figures}\n{row}\n")
    return file


def tiny_plan(servers: Servers, place: int) -> plan_pb2.Plan:
    """Plan on the point of one place."""
    workload = workload_pb2.Workload(
        model=f"example/tiny-{place}",
        demand=workload_pb2.Demand(peak_rate=workload_pb2.PeakRate(peak_requests_per_s=1)),
        buckets=[workload_pb2.DemandBucket(work=text_work(), share=1)],
        slo=an_slo(WIDE_MS, "STATISTIC_MEAN"),
        reserve=a_reserve(),
    )
    request = planning_service_pb2.PlanCapacityRequest(workload=workload, as_of_date="2026-11-30")
    return servers.planning.PlanCapacity(request, timeout=10).plan


def is_planned(servers: Servers, place: int) -> bool:
    """Tell whether a plan stands on the point of one place."""
    return bool(tiny_plan(servers, place).candidates)


def is_gone(servers: Servers, place: int) -> bool:
    """Tell whether nothing of the point of one place is in the plan."""
    return not tiny_plan(servers, place).evidence_runs


def test_points_come_into_plans_and_leave_them_within_a_second(tmp_path: Path) -> None:
    seen, gone = [], []
    with both_servers(tmp_path) as servers:
        for place in range(6):
            (receipt,) = servers.ingest.ingest_report(a_table(tmp_path, place)).runs
            seen.append(seconds_until(partial(is_planned, servers, place), within_s=20))
            retraction = ingest_service_pb2.RetractRunsRequest(runs=[receipt.run], reason="wrong card")
            servers.ingest.retract_runs(retraction)
            gone.append(seconds_until(partial(is_gone, servers, place), within_s=20))
            kept = servers.benchmark.GetRun(benchmark_service_pb2.GetRunRequest(name=receipt.run), timeout=10)
            assert kept.retired == "RETRACTED"
            plan = tiny_plan(servers, place)
            assert plan.verdict == plan_pb2.PLAN_VERDICT_NOT_KNOWN
            assert "NO_MEASURED_RUN" in [finding.code for finding in plan.findings]
        assert not servers.benchmark.ListRuns(benchmark_service_pb2.ListRunsRequest(), timeout=10).runs
        retired = benchmark_service_pb2.ListRunsRequest(include_retired=True)
        assert servers.benchmark.ListRuns(retired, timeout=10).total_count == 6
    # The medians: a machine that is busy otherwise may hold one poll up.
    assert statistics.median(seen) <= 1, seen
    assert statistics.median(gone) <= 1, gone


def test_planning_that_starts_first_waits_for_the_store(tmp_path: Path, files: list[Path]) -> None:
    planning = ServerProcess("planning", tmp_path / "store")
    ingest = None
    try:
        with grpc.insecure_channel(planning.address) as channel:
            health: Any = health_pb2_grpc.HealthStub(channel)  # the stubs do not know its methods
            check = health_pb2.HealthCheckRequest(service="tonnage.v1.PlanningService")
            assert health.Check(check, timeout=5).status == health_pb2.HealthCheckResponse.NOT_SERVING
            call = channel.unary_unary(
                "/tonnage.v1.BenchmarkService/ListRuns",
                request_serializer=benchmark_service_pb2.ListRunsRequest.SerializeToString,
                response_deserializer=benchmark_service_pb2.ListRunsResponse.FromString,
            )
            with pytest.raises(grpc.RpcError) as refused:
                call(benchmark_service_pb2.ListRunsRequest(), timeout=5)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
            ingest = ServerProcess("ingest", tmp_path / "store")
            seconds_until(
                lambda: health.Check(check, timeout=5).status == health_pb2.HealthCheckResponse.SERVING, within_s=20
            )
            with IngestClient(ingest.address) as client:
                version = client.ingest_report(files[-1], given=LABELS).data_version
            request = benchmark_service_pb2.ListRunsRequest(min_data_version=version)
            assert call(request, timeout=10).total_count == 1
    finally:
        planning.end()
        if ingest is not None:
            ingest.end()


def test_a_server_told_to_stop_ends_with_status_0(tmp_path: Path) -> None:
    planning = ServerProcess("planning", tmp_path / "store")
    assert planning.end() == 0


def test_a_work_of_another_size_than_measured_is_refused_or_marked(servers: Servers) -> None:
    (summary, *_) = measured(servers)
    request = asked(summary, "STATISTIC_P50")
    request.workload.buckets[0].work.CopyFrom(text_work(20_000, 2_000))
    plan = servers.planning.PlanCapacity(request, timeout=10).plan
    assert plan.verdict == plan_pb2.PLAN_VERDICT_NOT_KNOWN
    assert [rejection.code for rejection in plan.rejections] == ["LENGTHS_NOT_MEASURED"]

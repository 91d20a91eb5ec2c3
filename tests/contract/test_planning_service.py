"""PlanningService over a real channel."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from builders import a_configuration
from builders_planning import (
    MODEL,
    TODAY,
    a_ladder,
    a_plan_request,
    a_planning_server,
    a_reserve,
    a_workload,
    an_slo,
    refusal_of,
    stored,
    text_work,
)
from builders_rpc import Lines
from google.protobuf import descriptor_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tonnage.store.memory import MemoryStore
from tonnage.v1 import confidence_pb2, memory_pb2, plan_pb2, planning_service_pb2, run_pb2, workload_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from builders_planning import Stubs

INVALID = grpc.StatusCode.INVALID_ARGUMENT


@pytest.fixture
def store() -> MemoryStore:
    found = MemoryStore()
    stored(found, a_ladder())
    return found


@pytest.fixture
def stubs(store: MemoryStore) -> Iterator[Stubs]:
    with a_planning_server(store) as found:
        yield found


def plan_of(stubs: Stubs, **changes: object) -> plan_pb2.Plan:
    """Plan a request and return the plan."""
    return stubs.planning.PlanCapacity(a_plan_request(**changes), timeout=5).plan


def bytes_of(stubs: Stubs, request: planning_service_pb2.PlanCapacityRequest) -> bytes:
    """Return the answer as it came over the wire."""
    call: Any = stubs.channel.unary_unary("/tonnage.v1.PlanningService/PlanCapacity")
    answer: bytes = call(request.SerializeToString(), timeout=5)
    return answer


def refused(stubs: Stubs, **changes: object) -> tuple[str, ...]:
    """Plan a request that must be refused, and return the fields it names."""
    refusal = refusal_of(lambda: stubs.planning.PlanCapacity(a_plan_request(**changes), timeout=5))
    assert refusal.code is INVALID, refusal
    return refusal.fields


def test_the_plan_counts_servers_from_the_best_measured_load_inside_the_limit(stubs: Stubs) -> None:
    plan = plan_of(stubs)
    (best,) = plan.candidates
    capacity = best.buckets[0].capacity
    assert plan.verdict == plan_pb2.PLAN_VERDICT_FEASIBLE
    assert (capacity.q_slo_requests_per_s, capacity.offered_load) == (4, 4)
    assert (best.count.replica_count, best.count.accelerator_count) == (3, 3)
    assert [evidence.source for evidence in best.evidence] == ["ladder.json", "ladder.json"]
    assert plan.data_version == 1
    assert plan.release
    assert [run.filename for run in plan.evidence_runs] == ["ladder.json"]


def test_the_same_request_gets_the_same_bytes_until_the_data_changes(store: MemoryStore, stubs: Stubs) -> None:
    request = a_plan_request()
    first = bytes_of(stubs, request)
    assert bytes_of(stubs, request) == first
    stored(store, a_ladder(configuration=a_configuration(engine="sglang")))
    later = planning_service_pb2.PlanCapacityResponse.FromString(bytes_of(stubs, request)).plan
    assert later.data_version == 2
    assert len(later.candidates) == 2


def test_another_server_gives_the_same_bytes_whatever_the_order_of_uploads() -> None:
    runs = [a_ladder(configuration=a_configuration(engine=engine)) for engine in ("vllm", "sglang", "tgi")]
    now = datetime(2026, 11, 30, tzinfo=UTC)
    answers = []
    for order in (runs, runs[::-1]):
        store = MemoryStore(now=lambda: now)
        stored(store, *order)
        with a_planning_server(store) as stubs:
            answers.append(bytes_of(stubs, a_plan_request()))
    assert answers[0] == answers[1]


def test_the_order_of_buckets_and_limits_never_matters(stubs: Stubs) -> None:
    buckets = [
        workload_pb2.DemandBucket(work=text_work(1000, 100), share=0.25),
        workload_pb2.DemandBucket(work=text_work(1050, 105), share=0.75),
    ]
    limits = [*an_slo(600).latency_limits, *an_slo(500, "STATISTIC_P50").latency_limits]
    one = a_workload(buckets=buckets, slo=workload_pb2.Slo(latency_limits=limits))
    other = a_workload(buckets=buckets[::-1], slo=workload_pb2.Slo(latency_limits=limits[::-1]))
    assert plan_of(stubs, workload=one) == plan_of(stubs, workload=other)


def test_validation_returns_the_normalized_request_and_no_plan(stubs: Stubs) -> None:
    plan = plan_of(stubs, workload=a_workload(model="llama-3.1-8b-instruct"), validate_only=True, as_of_date="")
    assert not plan.plan_id
    assert not plan.candidates
    assert plan.request.workload.model == MODEL
    assert plan.request.as_of_date == TODAY
    assert plan.request.policy == plan_pb2.CAPACITY_POLICY_MEASURED
    assert refused(stubs, workload=a_workload(model=""), validate_only=True) == ("workload.model",)


def test_a_peak_factor_is_never_defaulted(stubs: Stubs) -> None:
    def with_base(**base: Any) -> workload_pb2.Workload:  # noqa: ANN401 -- fields of the message
        return a_workload(demand=workload_pb2.Demand(base_and_peak=workload_pb2.BaseAndPeak(**base)))

    without_factor = with_base(base_requests_per_s=5, peak_factor_source="a log")
    without_source = with_base(base_requests_per_s=5, peak_factor=2)
    path = "workload.demand.base_and_peak"
    assert refused(stubs, workload=without_factor) == (f"{path}.peak_factor",)
    assert refused(stubs, workload=without_source) == (f"{path}.peak_factor_source",)
    assert refused(stubs, workload=a_workload(demand=None)) == ("workload.demand",)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"reserve": None}, "workload.reserve"),
        ({"reserve": a_reserve(-0.1)}, "workload.reserve.whole.ratio"),
        ({"buckets": []}, "workload.buckets"),
        ({"buckets": [workload_pb2.DemandBucket(work=text_work())]}, "workload.buckets[0].share"),
        ({"buckets": [workload_pb2.DemandBucket(share=1)]}, "workload.buckets[0].work"),
        ({"slo": an_slo(float("nan"))}, "workload.slo.latency_limits[0].max_ms"),
        ({"slo": an_slo(0)}, "workload.slo.latency_limits[0].max_ms"),
        ({"slo": an_slo(600, "STATISTIC_UNSPECIFIED")}, "workload.slo.latency_limits[0].statistic"),
        ({"model": ""}, "workload.model"),
    ],
)
def test_what_is_missing_or_impossible_is_named(stubs: Stubs, changes: dict[str, Any], path: str) -> None:
    assert refused(stubs, workload=a_workload(**changes)) == (path,)


def test_depth_confidence_says_how_sure_every_candidate_is_and_the_same_each_time(stubs: Stubs) -> None:
    unsure = confidence_pb2.ConfidenceOptions(
        peak_requests_per_s=confidence_pb2.LikelyRange(low=8, high=14), current_server_count=4
    )
    request = a_plan_request(depth=plan_pb2.DEPTH_CONFIDENCE, confidence=unsure)
    plan = stubs.planning.PlanCapacity(request, timeout=5).plan
    assert plan.request.confidence == unsure
    for candidate in plan.candidates:
        found = candidate.confidence
        counts = [item.replica_count for item in found.counts]
        assert counts == sorted(counts)
        assert sum(item.probability for item in found.distribution) + found.unserved_probability == pytest.approx(1)
        assert found.HasField("current")
    assert stubs.planning.PlanCapacity(request, timeout=5).plan == plan
    again = stubs.planning.ReplayPlan(planning_service_pb2.ReplayPlanRequest(plan=plan), timeout=5)
    assert again.same_answer


def test_a_range_that_does_not_hold_its_figure_is_refused(stubs: Stubs) -> None:
    unsure = confidence_pb2.ConfidenceOptions(peak_requests_per_s=confidence_pb2.LikelyRange(low=20, high=30))
    assert refused(stubs, depth=plan_pb2.DEPTH_CONFIDENCE, confidence=unsure) == ("confidence.peak_requests_per_s",)


def test_a_day_that_is_none_is_refused(stubs: Stubs) -> None:
    for text in ("2026-02-30", "20261130", "today", "2026-11-30T00:00"):
        assert refused(stubs, as_of_date=text) == ("as_of_date",)


def test_names_meet_what_was_stored_and_a_name_of_several_cards_is_asked_back(stubs: Stubs) -> None:
    alias = run_pb2.Configuration(accelerator="NVIDIA H100 80GB HBM3", engine="vLLM", weight_precision="bfloat16")
    plan = plan_of(stubs, workload=a_workload(model="llama-3.1-8b-instruct"), configuration=alias)
    assert plan.candidates
    assert plan.request.configuration.accelerator == "h100-sxm-80gb"
    several = a_plan_request(configuration=run_pb2.Configuration(accelerator="H100"))
    refusal = refusal_of(lambda: stubs.planning.PlanCapacity(several, timeout=5))
    assert (refusal.code, refusal.reason) == (INVALID, "AMBIGUOUS_NAME")
    assert refusal.fields == ("configuration.accelerator",)
    assert "h100-pcie" in refusal.context["candidates"]


def test_what_nobody_measured_is_an_answer_and_says_what_to_measure(stubs: Stubs) -> None:
    for changes, code in (
        ({"workload": a_workload(model="example/unknown")}, "NO_MEASURED_RUN"),
        ({"configuration": run_pb2.Configuration(engine="sglang")}, "CONFIGURATION_NOT_MEASURED"),
        ({"namespace": "another"}, "NO_MEASURED_RUN"),
    ):
        plan = plan_of(stubs, **changes)
        assert plan.verdict == plan_pb2.PLAN_VERDICT_NOT_KNOWN
        assert code in [finding.code for finding in plan.findings]
        assert all(finding.remedy for finding in plan.findings if finding.code == code)


def test_limits_that_contradict_each_other_get_no_count(stubs: Stubs) -> None:
    limits = [
        workload_pb2.LatencyLimit(metric=metric, statistic=workload_pb2.STATISTIC_MEAN, max_ms=max_ms)
        for metric, max_ms in (
            (workload_pb2.LATENCY_METRIC_TTFT, 600),
            (workload_pb2.LATENCY_METRIC_TPOT, 40),
            (workload_pb2.LATENCY_METRIC_E2E, 4000),
        )
    ]
    buckets = [workload_pb2.DemandBucket(work=text_work(500, 200), share=1)]
    plan = plan_of(stubs, workload=a_workload(slo=workload_pb2.Slo(latency_limits=limits), buckets=buckets))
    assert plan.verdict == plan_pb2.PLAN_VERDICT_CONTRADICTION
    assert not plan.candidates


def test_a_caller_waits_for_the_version_it_names(store: MemoryStore, stubs: Stubs) -> None:
    later = threading.Timer(0.3, lambda: stored(store, a_ladder(configuration=a_configuration(engine="sglang"))))
    later.start()
    plan = plan_of(stubs, min_data_version=2)
    later.join()
    assert plan.data_version == 2
    assert len(plan.candidates) == 2


def test_a_version_that_does_not_come_is_told_before_the_deadline(stubs: Stubs) -> None:
    begun = time.monotonic()
    request = a_plan_request(min_data_version=9)
    refusal = refusal_of(lambda: stubs.planning.PlanCapacity(request, timeout=1))
    assert time.monotonic() - begun < 1
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "DATA_VERSION_NOT_REACHED")
    assert (refusal.context["asked"], refusal.context["have"]) == ("9", "1")


def test_bytes_that_are_no_message_are_refused(stubs: Stubs) -> None:
    call: Any = stubs.channel.unary_unary("/tonnage.v1.PlanningService/PlanCapacity")
    assert refusal_of(lambda: call(b"\xff\xff\xff", timeout=5)).code is INVALID


def tenant(name: str, peak: float, q_slo: float | None = None, **changes: object) -> workload_pb2.Tenant:
    """Return a tenant whose Q is stated, or looked up from the ladder."""
    looked_up: dict[str, object] = {
        "configuration": run_pb2.Configuration(model=MODEL),
        "work": text_work(),
        "slo": an_slo(),
    }
    stated: dict[str, object] = looked_up if q_slo is None else {"q_slo_requests_per_s": q_slo}
    return workload_pb2.Tenant(name=name, peak_requests_per_s=peak, **{**stated, **changes})  # type: ignore[arg-type]


def utilization(
    stubs: Stubs, *tenants: workload_pb2.Tenant, reserve: workload_pb2.Reserve | None = None
) -> planning_service_pb2.ComputeUtilizationResponse:
    """Ask for U_total of one replica."""
    request = planning_service_pb2.ComputeUtilizationRequest(
        tenants=tenants, reserve=reserve or a_reserve(0.25), replica_count=1, effective_capacity_ratio=1
    )
    return stubs.planning.ComputeUtilization(request, timeout=5)


def test_the_load_of_two_models_on_one_card_is_over_its_limit(stubs: Stubs) -> None:
    answer = utilization(stubs, tenant("72b", 0.9, 1.5), tenant("14b", 3, 8))
    assert answer.total_utilization_ratio == pytest.approx(0.975)
    assert answer.limit_ratio == pytest.approx(0.8)
    assert answer.within_limit is False
    assert answer.first_to_breach == "72b"
    assert [item.tenant for item in answer.tenants] == ["14b", "72b"]
    assert "PLANNING_APPROXIMATION" in [finding.code for finding in answer.findings]


def test_a_rate_that_is_not_stated_is_looked_up(stubs: Stubs) -> None:
    answer = utilization(stubs, tenant("chat", 1), tenant("batch", 1, 4))
    assert answer.total_utilization_ratio == pytest.approx(0.5)
    (chat,) = (item for item in answer.tenants if item.tenant == "chat")
    assert chat.q_slo_requests_per_s == 4
    assert chat.capacity.measured_at.source == "ladder.json"


def test_a_tenant_nothing_measured_serves_leaves_no_total(stubs: Stubs) -> None:
    answer = utilization(stubs, tenant("chat", 1, slo=an_slo(1)), tenant("batch", 1, 4))
    assert not answer.HasField("total_utilization_ratio")
    assert answer.within_limit is False
    by_name = {item.tenant: item for item in answer.tenants}
    assert not by_name["chat"].HasField("q_slo_requests_per_s")
    assert by_name["chat"].capacity.reason
    assert by_name["batch"].utilization_ratio == pytest.approx(0.25)
    assert "TENANT_CAPACITY_NOT_KNOWN" in [finding.code for finding in answer.findings]


def test_a_tenant_named_twice_is_refused(stubs: Stubs) -> None:
    refusal = refusal_of(lambda: utilization(stubs, tenant("a", 1, 4), tenant("a", 1, 4)))
    assert (refusal.code, refusal.fields) == (INVALID, ("tenants[1].name",))


def test_a_tenant_that_leaves_several_configurations_is_asked_for_more(store: MemoryStore, stubs: Stubs) -> None:
    stored(store, a_ladder(configuration=a_configuration(engine="sglang")))
    refusal = refusal_of(lambda: utilization(stubs, tenant("chat", 1)))
    assert (refusal.code, refusal.fields) == (INVALID, ("tenants[0].configuration",))
    assert "engine" in refusal.message


def test_stated_rates_need_no_store(stubs: Stubs) -> None:
    assert utilization(stubs, tenant("a", 1, 4)).data_version == 1


def test_a_card_or_model_nobody_knows_is_not_found(stubs: Stubs) -> None:
    for changes in ({"accelerator": "CMP 170HX"}, {"model": "lama-3"}):
        stated: dict[str, Any] = {"model": MODEL, "engine": "vllm", "accelerator": "h100-sxm-80gb", **changes}
        request = planning_service_pb2.FitVramRequest(question=memory_pb2.MemoryQuestion(**stated))
        refusal = refusal_of(lambda asked=request: stubs.planning.FitVram(asked, timeout=5))  # type: ignore[misc]
        assert (refusal.code, refusal.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_NAME")


def axis(field: int, *values: float, **more: Any) -> planning_service_pb2.ExploreAxis:  # noqa: ANN401 -- axis fields
    """Return an axis of values written out."""
    values_message = planning_service_pb2.ExploreValues(values=values)
    return planning_service_pb2.ExploreAxis(field=field, values=values_message, **more)  # type: ignore[arg-type]


PEAK = planning_service_pb2.EXPLORE_FIELD_PEAK_REQUESTS_PER_S
RESERVE = planning_service_pb2.EXPLORE_FIELD_RESERVE_RATIO
LIMIT = planning_service_pb2.EXPLORE_FIELD_LATENCY_LIMIT_MS


def explore(stubs: Stubs, *axes: planning_service_pb2.ExploreAxis) -> list[planning_service_pb2.ExplorePlansResponse]:
    """Return every point of an exploration."""
    request = planning_service_pb2.ExplorePlansRequest(base=a_plan_request(), axes=axes)
    return list(stubs.planning.ExplorePlans(request, timeout=20))


def test_an_exploration_plans_each_point_as_planning_it_alone_would(stubs: Stubs) -> None:
    limit = {"metric": workload_pb2.LATENCY_METRIC_TTFT, "statistic": workload_pb2.STATISTIC_P90}
    points = explore(stubs, axis(PEAK, 10, 40), axis(LIMIT, 100, 300, 600, **limit))
    assert [point.index for point in points] == list(range(6))
    assert {point.total_count for point in points} == {6}
    assert [tuple(point.values) for point in points][:4] == [(10, 100), (10, 300), (10, 600), (40, 100)]
    assert [point.best.count.replica_count for point in points] == [0, 6, 3, 0, 24, 12]
    assert [bool(point.reason) for point in points] == [True, False, False, True, False, False]
    alone = plan_of(stubs, workload=a_workload(peak=40, slo=an_slo(300)))
    assert points[4].plan_id == alone.plan_id
    assert points[4].best == alone.candidates[0]


def test_a_span_is_even_with_both_ends(stubs: Stubs) -> None:
    span = planning_service_pb2.ExploreSpan(low=1, high=100, count=3, geometric=True)
    points = explore(stubs, planning_service_pb2.ExploreAxis(field=PEAK, span=span))
    assert [point.values[0] for point in points] == [1, 10, 100]


def test_axes_that_cannot_be_are_refused_before_the_first_point(stubs: Stubs) -> None:
    for axes, path in (
        ((), "axes"),
        ((axis(PEAK, 1), axis(PEAK, 2)), "axes[1].field"),
        ((axis(PEAK, 1, -1),), "axes[0].values"),
        ((axis(LIMIT, 100),), "axes[0].metric"),
        ((axis(planning_service_pb2.EXPLORE_FIELD_LOST_REPLICA_COUNT, 0.5),), "axes[0].values"),
        ((axis(planning_service_pb2.EXPLORE_FIELD_PEAK_FACTOR, 2),), "axes[0].values"),
    ):
        refusal = refusal_of(lambda asked=axes: explore(stubs, *asked))  # type: ignore[misc]
        assert refusal.code is INVALID
        assert refusal.fields[0] == path


def test_a_caller_that_goes_away_stops_the_exploration(store: MemoryStore) -> None:
    log = Lines()
    values = [float(value) for value in range(1, 4097)]
    request = planning_service_pb2.ExplorePlansRequest(base=a_plan_request(), axes=[axis(PEAK, *values)])
    with a_planning_server(store, log=log) as stubs:
        stream: Any = stubs.planning.ExplorePlans(request, timeout=60)
        assert next(stream).index == 0
        stream.cancel()
        until = time.monotonic() + 20
        while not log.lines and time.monotonic() < until:
            time.sleep(0.01)
        (line,) = log.lines
    assert line["code"] == "CANCELLED"
    assert int(str(line["response_count"])) < len(values) // 2


def test_health_answers_while_plans_are_explored(stubs: Stubs) -> None:
    values = [float(value) for value in range(1, 1025)]
    request = planning_service_pb2.ExplorePlansRequest(base=a_plan_request(), axes=[axis(PEAK, *values)])
    stream: Any = stubs.planning.ExplorePlans(request, timeout=60)
    next(stream)
    health: Any = health_pb2_grpc.HealthStub(stubs.channel)
    for _ in range(5):
        answer = health.Check(health_pb2.HealthCheckRequest(), timeout=2)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    stream.cancel()


def test_a_comparison_tells_what_was_asked_from_what_was_answered(stubs: Stubs) -> None:
    before = plan_of(stubs)
    request = planning_service_pb2.ComparePlansRequest(
        before_plan=before, after_request=a_plan_request(workload=a_workload(peak=30))
    )
    answer = stubs.planning.ComparePlans(request, timeout=5)
    assert answer.same_answer is False
    assert (answer.change.replica_count, answer.change.accelerator_count) == (6, 6)
    by_path = {item.path: item for item in answer.differences}
    asked = by_path["request.workload.demand.peak_rate.peak_requests_per_s"]
    assert asked.kind == planning_service_pb2.DIFFERENCE_KIND_REQUEST
    assert (asked.before, asked.after) == ("10.0", "30.0")
    fingerprint = before.candidates[0].configuration.fingerprint
    counted = by_path[f'candidates["{fingerprint}"].count.replica_count']
    assert counted.kind == planning_service_pb2.DIFFERENCE_KIND_ANSWER
    assert answer.after.plan_id
    assert not answer.HasField("before")


def test_a_plan_compared_with_itself_does_not_differ(stubs: Stubs) -> None:
    request = planning_service_pb2.ComparePlansRequest(before_plan=plan_of(stubs), after_request=a_plan_request())
    answer = stubs.planning.ComparePlans(request, timeout=5)
    assert answer.same_answer is True
    assert not answer.differences
    assert answer.change.replica_count == 0


def replayed(stubs: Stubs, plan: plan_pb2.Plan) -> planning_service_pb2.ReplayPlanResponse:
    """Replay a plan."""
    return stubs.planning.ReplayPlan(planning_service_pb2.ReplayPlanRequest(plan=plan), timeout=5)


def test_a_plan_replays_from_what_it_holds_after_the_store_moved_on(store: MemoryStore, stubs: Stubs) -> None:
    plans = [
        plan_of(stubs),
        plan_of(stubs, workload=a_workload(slo=an_slo(1))),
        plan_of(stubs, configuration=run_pb2.Configuration(engine="sglang")),
        plan_of(stubs, workload=a_workload(model="example/unknown")),
    ]
    stored(store, a_ladder(configuration=a_configuration(engine="sglang")))
    for plan in plans:
        answer = replayed(stubs, plan)
        assert answer.same_answer, answer.differences
        assert answer.plan == plan
        assert not answer.findings


def test_an_altered_plan_is_told_from_another_release(stubs: Stubs) -> None:
    plan = plan_of(stubs)
    plan.candidates[0].count.replica_count = 1
    answer = replayed(stubs, plan)
    assert answer.same_answer is False
    assert [finding.code for finding in answer.findings] == ["PLAN_ALTERED"]
    plan.release = "0.0.9"
    codes = [finding.code for finding in replayed(stubs, plan).findings]
    assert "ENGINE_CHANGED" in codes
    assert "PLAN_ALTERED" not in codes


def test_half_a_plan_does_not_replay(stubs: Stubs) -> None:
    plan = plan_of(stubs)
    plan.ClearField("request")
    refusal = refusal_of(lambda: replayed(stubs, plan))
    assert (refusal.code, refusal.fields) == (INVALID, ("plan",))


def test_reflection_describes_all_three_services(stubs: Stubs) -> None:
    reflected: Any = reflection_pb2_grpc.ServerReflectionStub(stubs.channel)
    names = [f"tonnage.v1.{name}" for name in ("PlanningService", "BenchmarkService", "CatalogService")]
    asked = [reflection_pb2.ServerReflectionRequest(list_services="")]
    asked += [reflection_pb2.ServerReflectionRequest(file_containing_symbol=name) for name in names]
    (listed, *described) = list(reflected.ServerReflectionInfo(iter(asked), timeout=5))
    assert set(names) <= {service.name for service in listed.list_services_response.service}
    for name, answer in zip(names, described, strict=True):
        files = [
            descriptor_pb2.FileDescriptorProto.FromString(data)
            for data in answer.file_descriptor_response.file_descriptor_proto
        ]
        assert name in {f"{file.package}.{service.name}" for file in files for service in file.service}

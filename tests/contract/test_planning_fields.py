"""Every field of every planning request, spoilt in every way: a named refusal or a true answer, never a fault."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from builders_planning import (
    MODEL,
    TODAY,
    a_ladder,
    a_plan_request,
    a_planning_server,
    a_reserve,
    a_workload,
    an_slo,
    stored,
    text_work,
)
from field_walk import paths, walk
from google.protobuf import json_format
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from tonnage.store.memory import MemoryStore
from tonnage.v1 import (
    benchmark_service_pb2,
    catalog_service_pb2,
    confidence_pb2,
    memory_pb2,
    plan_pb2,
    planning_service_pb2,
    run_pb2,
    simulation_pb2,
    workload_pb2,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from builders_planning import Stubs
    from field_walk import Spoilt
    from google.protobuf.message import Message

_REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.FAILED_PRECONDITION,
}
_HOLDS_PLANS = {"ComparePlans", "ReplayPlan"}
_RUN_ID = "00000000-0000-0000-0000-000000000009"


@pytest.fixture(scope="module")
def stubs() -> Iterator[Stubs]:
    store = MemoryStore()
    stored(store, a_ladder())
    with a_planning_server(store) as found:
        yield found


def _full_plan_request() -> planning_service_pb2.PlanCapacityRequest:
    money = workload_pb2.Money(currency="USD", amount=4, source="price list", as_of_date="2026-11-01")
    workload = a_workload(
        failover=workload_pb2.Failover(lost_replica_count=1),
        server=workload_pb2.ServerShape(accelerators_per_server=8, price_per_hour=money),
    )
    return a_plan_request(workload=workload, configuration=run_pb2.Configuration(engine="vllm"))


def _unsure_request() -> planning_service_pb2.PlanCapacityRequest:
    price = workload_pb2.Money(currency="USD", amount=4, source="price list", as_of_date="2026-11-01")
    unsure = confidence_pb2.ConfidenceOptions(
        peak_requests_per_s=confidence_pb2.LikelyRange(low=8, high=14),
        whole=confidence_pb2.LikelyRange(low=0.1, high=0.4),
        share_sample_count=100,
        server_too_many_per_hour=price,
        slo_broken_per_hour=price,
        current_server_count=4,
        not_worth_server_count=1,
        planned_engine_version="0.11",
    )
    return planning_service_pb2.PlanCapacityRequest(
        workload=a_workload(), as_of_date=TODAY, depth=plan_pb2.DEPTH_CONFIDENCE, confidence=unsure
    )


def _memory_question() -> memory_pb2.MemoryQuestion:
    return memory_pb2.MemoryQuestion(
        model=MODEL,
        engine="vllm",
        accelerator="h100-sxm-80gb",
        max_model_len=8192,
        request_tokens=4096,
        concurrency=4,
        foreign_bytes=1 << 30,
        draft_token_count=2,
        lora_slot_count=2,
        lora_rank=16,
        draft_weights_bytes=1 << 30,
        language_only=True,
        checkpoint_headers=[b'{"metadata": {"total_size": 16060522496}}'],
    )


def _shape_question() -> memory_pb2.MemoryQuestion:
    shape = memory_pb2.ModelShape(
        name="a model",
        total_parameter_count=8_030_261_248,
        layer_count=32,
        hidden_size=4096,
        attention_head_count=32,
        kv_head_count=8,
        head_dim=128,
        intermediate_size=14336,
        vocabulary_size=128256,
    )
    question = _memory_question()
    question.shape.CopyFrom(shape)
    question.declared_device.CopyFrom(memory_pb2.DeclaredDevice(name="a card", total_bytes=80 << 30))
    return question


def _tenants() -> planning_service_pb2.ComputeUtilizationRequest:
    looked_up = workload_pb2.Tenant(
        name="chat",
        peak_requests_per_s=1,
        configuration=run_pb2.Configuration(model=MODEL),
        work=text_work(),
        slo=an_slo(),
    )
    stated = workload_pb2.Tenant(name="batch", peak_requests_per_s=1, q_slo_requests_per_s=4)
    return planning_service_pb2.ComputeUtilizationRequest(tenants=[looked_up, stated], reserve=a_reserve())


def _axes() -> list[planning_service_pb2.ExploreAxis]:
    return [
        planning_service_pb2.ExploreAxis(
            field=planning_service_pb2.EXPLORE_FIELD_LATENCY_LIMIT_MS,
            metric=workload_pb2.LATENCY_METRIC_TTFT,
            statistic=workload_pb2.STATISTIC_P90,
            values=planning_service_pb2.ExploreValues(values=[600]),
        ),
        planning_service_pb2.ExploreAxis(
            field=planning_service_pb2.EXPLORE_FIELD_PEAK_REQUESTS_PER_S,
            span=planning_service_pb2.ExploreSpan(low=1, high=2, count=2),
        ),
    ]


def _demand(**kind: Any) -> planning_service_pb2.EstimateTokenDemandRequest:  # noqa: ANN401 -- any kind of demand
    return planning_service_pb2.EstimateTokenDemandRequest(
        demand=workload_pb2.Demand(**kind), buckets=[workload_pb2.DemandBucket(work=text_work(), share=1)]
    )


def _kept(stubs: Stubs) -> plan_pb2.Plan:
    return stubs.planning.PlanCapacity(_full_plan_request(), timeout=5).plan


def _simulated(stubs: Stubs) -> Callable[..., list[Message]]:
    return lambda request, timeout: list(stubs.planning.SimulatePlan(request, timeout=timeout))


def _a_simulation() -> dict[str, Any]:
    burst = simulation_pb2.BurstScenario(height_ratio=2, length_s=1, allowed_recovery_s=5)
    scenarios = [
        simulation_pb2.SimulationScenario(burst=burst),
        simulation_pb2.SimulationScenario(
            lost_server=simulation_pb2.LostServerScenario(lost_server_count=1, outage_s=1)
        ),
        simulation_pb2.SimulationScenario(
            cold_start=simulation_pb2.ColdStartScenario(cold_start_s=1, added_replica_count=1)
        ),
        simulation_pb2.SimulationScenario(steady_peak=simulation_pb2.SteadyPeakScenario()),
    ]
    return {"scenarios": scenarios, "seed": 1, "duration_s": 5, "arrival_cv": 1, "work_cv": 0.5}


_PLANNING: dict[str, Callable[[Stubs], tuple[Any, Message]]] = {
    "PlanCapacity": lambda stubs: (stubs.planning.PlanCapacity, _full_plan_request()),
    "PlanCapacity with confidence": lambda stubs: (stubs.planning.PlanCapacity, _unsure_request()),
    "FitVram of a catalog model": lambda stubs: (
        stubs.planning.FitVram,
        planning_service_pb2.FitVramRequest(
            question=_memory_question(),
            map=memory_pb2.MemoryMapAxes(request_tokens=[1024, 4096], concurrencies=[1, 8]),
        ),
    ),
    "FitVram of a shape": lambda stubs: (
        stubs.planning.FitVram,
        planning_service_pb2.FitVramRequest(question=_shape_question()),
    ),
    "EstimateTokenDemand of a base": lambda stubs: (
        stubs.planning.EstimateTokenDemand,
        _demand(
            base_and_peak=workload_pb2.BaseAndPeak(base_requests_per_s=5, peak_factor=2, peak_factor_source="a log")
        ),
    ),
    "EstimateTokenDemand of users": lambda stubs: (
        stubs.planning.EstimateTokenDemand,
        _demand(
            daily_users=workload_pb2.DailyUsers(
                daily_active_users=1000, requests_per_user_per_day=5, peak_hour_share=0.1, source="a log"
            )
        ),
    ),
    "EstimateTokenDemand of sessions": lambda stubs: (
        stubs.planning.EstimateTokenDemand,
        _demand(
            sessions=workload_pb2.Sessions(executing_sessions=5, output_tokens_per_s_per_session=20, source="a log")
        ),
    ),
    "ComputeUtilization": lambda stubs: (stubs.planning.ComputeUtilization, _tenants()),
    "EstimateServerCount": lambda stubs: (
        stubs.planning.EstimateServerCount,
        planning_service_pb2.EstimateServerCountRequest(
            buckets=[planning_service_pb2.DemandAgainstCapacity(peak_requests_per_s=10, q_slo_requests_per_s=2)],
            reserve=a_reserve(),
            failover=workload_pb2.Failover(zones=workload_pb2.ZoneLoss(zone_count=3, lost_zone_count=1)),
            accelerators_per_replica=2,
            accelerators_per_server=8,
        ),
    ),
    "ExplorePlans": lambda stubs: (
        lambda request, timeout: list(stubs.planning.ExplorePlans(request, timeout=timeout)),
        planning_service_pb2.ExplorePlansRequest(base=a_plan_request(), axes=_axes()),
    ),
    "SimulatePlan of a request": lambda stubs: (
        _simulated(stubs),
        planning_service_pb2.SimulatePlanRequest(request=a_plan_request(), **_a_simulation()),
    ),
    "SimulatePlan of a plan": lambda stubs: (
        _simulated(stubs),
        planning_service_pb2.SimulatePlanRequest(plan=_kept(stubs), **_a_simulation()),
    ),
    "ComparePlans": lambda stubs: (
        stubs.planning.ComparePlans,
        planning_service_pb2.ComparePlansRequest(before_plan=_kept(stubs), after_request=a_plan_request()),
    ),
    "ReplayPlan": lambda stubs: (
        stubs.planning.ReplayPlan,
        planning_service_pb2.ReplayPlanRequest(plan=_kept(stubs)),
    ),
    "ListConfigurations": lambda stubs: (
        stubs.benchmark.ListConfigurations,
        benchmark_service_pb2.ListConfigurationsRequest(filter=run_pb2.Configuration(model=MODEL)),
    ),
    "ListRuns": lambda stubs: (
        stubs.benchmark.ListRuns,
        benchmark_service_pb2.ListRunsRequest(filter=run_pb2.Configuration(model=MODEL)),
    ),
    "GetRun": lambda stubs: (
        stubs.benchmark.GetRun,
        benchmark_service_pb2.GetRunRequest(name=f"namespaces/default/runs/{_RUN_ID}"),
    ),
    "GetCurve": lambda stubs: (
        stubs.benchmark.GetCurve,
        benchmark_service_pb2.GetCurveRequest(
            configuration=run_pb2.Configuration(model=MODEL), work=text_work(), slo=an_slo()
        ),
    ),
    "CheckRetest": lambda stubs: (
        stubs.benchmark.CheckRetest,
        benchmark_service_pb2.CheckRetestRequest(planned=run_pb2.Configuration(model=MODEL), as_of_date=TODAY),
    ),
    "ListModels": lambda stubs: (stubs.catalog.ListModels, catalog_service_pb2.ListModelsRequest(query="llama")),
    "GetModel": lambda stubs: (stubs.catalog.GetModel, catalog_service_pb2.GetModelRequest(id=MODEL)),
    "ListAccelerators": lambda stubs: (
        stubs.catalog.ListAccelerators,
        catalog_service_pb2.ListAcceleratorsRequest(query="h100"),
    ),
}


@pytest.mark.parametrize("name", _PLANNING)
def test_a_spoilt_field_is_refused_by_name_or_answered(name: str, stubs: Stubs) -> None:
    call, valid = _PLANNING[name](stubs)
    faults = []
    for spoilt in _thinned(name, walk(valid)):
        try:
            reply = call(spoilt.message, timeout=2)
        except grpc.RpcError as error:
            problem = _problem(error)
            if problem:
                faults.append(f"{spoilt}: {problem}")
        else:
            replies = reply if isinstance(reply, list) else [reply]
            if any(_holds_non_finite(message) for message in replies):
                faults.append(f"{spoilt}: the answer holds a number that is not finite")
    assert not faults, "\n".join(faults[:20])


def _thinned(name: str, found: Iterator[Spoilt]) -> Iterator[Spoilt]:
    """Yield all, or of a request that holds whole plans one value a field, the kinds taken in turn.

    Both sides of a comparison are read by the same code, so one side is walked.
    What is simulated is read as PlanCapacity and ReplayPlan read it, and walked there.
    """
    if name.startswith("SimulatePlan"):
        yield from (spoilt for spoilt in found if not spoilt.path.startswith(("request.", "plan.")))
        return
    if name not in _HOLDS_PLANS:
        yield from found
        return
    for turn, (path, same) in enumerate(groupby(found, key=lambda spoilt: spoilt.path)):
        if not path.startswith(("after_plan.", "after_request.")):
            values = list(same)
            yield values[turn % len(values)]


def _problem(error: Any) -> str:  # noqa: ANN401 -- an RpcError that is a Call, too
    """Return what is wrong with a refusal, empty when it names its reason and, of an argument, the field."""
    if error.code() not in _REFUSALS:
        return f"{error.code()}: {error.details()}"
    status = rpc_status.from_call(error)
    info, fields = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    reasons = [info.reason for detail in status.details if detail.Unpack(info)]
    if not reasons or reasons == ["INTERNAL"]:
        return f"no reason: {error.details()}"
    if error.code() is not grpc.StatusCode.INVALID_ARGUMENT:
        return ""
    named = [item.field for detail in status.details if detail.Unpack(fields) for item in fields.field_violations]
    return "" if named else f"no field is named: {error.details()}"


def _holds_non_finite(message: Message) -> bool:
    values: list[Any] = [json_format.MessageToDict(message)]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values.extend(value.values())
        elif isinstance(value, list):
            values.extend(value)
        elif (isinstance(value, float) and not math.isfinite(value)) or value in {"NaN", "Infinity", "-Infinity"}:
            return True
    return False


def test_the_walk_visits_each_field_of_each_planning_request(stubs: Stubs) -> None:
    requests = {name.split(" ")[0]: type(pair(stubs)[1]).DESCRIPTOR for name, pair in _PLANNING.items()}
    services = [
        file.DESCRIPTOR.services_by_name[service]
        for file, service in (
            (planning_service_pb2, "PlanningService"),
            (benchmark_service_pb2, "BenchmarkService"),
            (catalog_service_pb2, "CatalogService"),
        )
    ]
    served = {method.name: method.input_type for service in services for method in service.methods}
    assert requests == served
    for name, pair in _PLANNING.items():
        walked = {path.split(".")[0].split("[")[0] for path in paths(pair(stubs)[1])}
        assert walked == {field.name for field in served[name.split(" ")[0]].fields}, name

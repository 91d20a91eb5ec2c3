"""Simulations: what is asked of one, and what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.domain.simulation import (
    Burst,
    ColdStart,
    LostServer,
    SimulationRequest,
    SimulationVerdict,
    SteadyPeak,
)
from tonnage.errors import InvalidInput, at
from tonnage.planning.codec import enums
from tonnage.planning.codec.presence import LARGEST_LENGTH, LARGEST_RATIO, at_most, chosen, needed, optional
from tonnage.rpc.codec.configuration import encode_configuration
from tonnage.rpc.codec.finding import encode_findings
from tonnage.rpc.codec.level import encode_latency
from tonnage.v1 import planning_service_pb2, simulation_pb2

if TYPE_CHECKING:
    from tonnage.domain.simulation import (
        LimitOutcome,
        RunOutcome,
        Scenario,
        ScenarioOutcome,
        SeriesPoint,
        Simulation,
        WaitingTail,
    )
    from tonnage.planning.usecase.simulate import Subject

_MOST_SCENARIOS: Final = 16
_VERDICT: Final = {
    SimulationVerdict.CONFIRMED: simulation_pb2.SIMULATION_VERDICT_CONFIRMED,
    SimulationVerdict.FEWER_WOULD_DO: simulation_pb2.SIMULATION_VERDICT_FEWER_WOULD_DO,
    SimulationVerdict.NOT_HELD: simulation_pb2.SIMULATION_VERDICT_NOT_HELD,
    SimulationVerdict.NOT_SIMULATED: simulation_pb2.SIMULATION_VERDICT_NOT_SIMULATED,
}
_METRIC: Final = {value: number for number, value in enums.METRIC.items()}
_STATISTIC: Final = {value: number for number, value in enums.STATISTIC.items()}


def decode_simulation(message: planning_service_pb2.SimulatePlanRequest) -> SimulationRequest:
    """Return what is simulated, defaults filled in; raise ``InvalidInput``."""
    if len(message.scenarios) > _MOST_SCENARIOS:
        raise InvalidInput.field("scenarios", len(message.scenarios), "are too many", f"give at most {_MOST_SCENARIOS}")
    if message.request.validate_only:
        raise InvalidInput.field("request.validate_only", True, "means nothing in a simulation", "leave it out")  # noqa: FBT003 -- the value found
    at_most("duration_s", optional(message, "duration_s"), LARGEST_LENGTH)
    return SimulationRequest(
        scenarios=tuple(_scenario(place, item) for place, item in enumerate(message.scenarios)) or (SteadyPeak(),),
        seed=message.seed,
        duration_s=optional(message, "duration_s"),
        arrival_cv=message.arrival_cv if message.HasField("arrival_cv") else 1.0,
        work_cv=optional(message, "work_cv"),
    )


def _scenario(place: int, message: simulation_pb2.SimulationScenario) -> Scenario:
    with at(f"scenarios[{place}]"):
        kind = chosen(message, "kind", "", "state steady_peak, burst, lost_server or cold_start")
        with at(kind):
            return _of_kind(kind, message)


def _of_kind(kind: str, message: simulation_pb2.SimulationScenario) -> Scenario:
    if kind == "burst":
        found = message.burst
        at_most("height_ratio", optional(found, "height_ratio"), LARGEST_RATIO)
        at_most("length_s", optional(found, "length_s"), LARGEST_LENGTH)
        at_most("allowed_recovery_s", optional(found, "allowed_recovery_s"), LARGEST_LENGTH)
        return Burst(
            height_ratio=needed(found, "height_ratio"),
            length_s=needed(found, "length_s"),
            allowed_recovery_s=optional(found, "allowed_recovery_s"),
        )
    if kind == "lost_server":
        lost = message.lost_server
        at_most("outage_s", optional(lost, "outage_s"), LARGEST_LENGTH)
        return LostServer(lost_server_count=optional(lost, "lost_server_count"), outage_s=optional(lost, "outage_s"))
    if kind == "cold_start":
        start = message.cold_start
        at_most("cold_start_s", optional(start, "cold_start_s"), LARGEST_LENGTH)
        added = optional(start, "added_replica_count")
        return ColdStart(cold_start_s=needed(start, "cold_start_s"), added_replica_count=1 if added is None else added)
    return SteadyPeak()


def encode_result(subject: Subject, found: Simulation | None) -> planning_service_pb2.SimulatePlanResponse:
    """Return the last message of a simulation."""
    plan = subject.plan
    result = planning_service_pb2.SimulatePlanResult(
        simulation=encode_simulation(found),
        configuration=None if subject.candidate is None else encode_configuration(subject.candidate.configuration),
        plan_id=plan.plan_id,
        data_version=plan.data_version,
        findings=encode_findings(plan.findings),
    )
    return planning_service_pb2.SimulatePlanResponse(result=result)


def encode_progress(ratio: float) -> planning_service_pb2.SimulatePlanResponse:
    """Return the share done as a message."""
    return planning_service_pb2.SimulatePlanResponse(progress_ratio=ratio)


def encode_simulation(found: Simulation | None) -> simulation_pb2.Simulation | None:
    """Return what a simulation finds as a message, None for None."""
    if found is None:
        return None
    return simulation_pb2.Simulation(
        verdict=_VERDICT[found.verdict],
        summary=found.summary,
        seed=found.seed,
        replica_count=found.replica_count,
        load_requests_per_s=found.load_requests_per_s,
        one_fewer_count=found.one_fewer_count,
        arrival_cv=found.arrival_cv,
        work_cv=found.work_cv,
        scenarios=[_encode_outcome(item) for item in found.scenarios],
        tails=[_tail(item) for item in found.tails],
        findings=encode_findings(found.findings),
    )


def _encode_outcome(row: ScenarioOutcome) -> simulation_pb2.SimulatedScenario:
    return simulation_pb2.SimulatedScenario(
        scenario=encode_scenario(row.scenario),
        planned=_run(row.planned),
        one_fewer=None if row.one_fewer is None else _run(row.one_fewer),
        holds=row.holds,
        fluid_backlog_count=row.fluid_backlog_count,
        fluid_recovery_s=row.fluid_recovery_s,
    )


def encode_scenario(scenario: Scenario) -> simulation_pb2.SimulationScenario:
    """Return a scenario as a message."""
    stated = {name: getattr(scenario, name) for name in scenario.__dataclass_fields__}
    made: dict[str, object]
    if isinstance(scenario, Burst):
        made = {"burst": simulation_pb2.BurstScenario(**stated)}
    elif isinstance(scenario, LostServer):
        made = {"lost_server": simulation_pb2.LostServerScenario(**stated)}
    elif isinstance(scenario, ColdStart):
        made = {"cold_start": simulation_pb2.ColdStartScenario(**stated)}
    else:
        made = {"steady_peak": simulation_pb2.SteadyPeakScenario()}
    return simulation_pb2.SimulationScenario(**made)  # type: ignore[arg-type]  # one of the kinds


def _run(run: RunOutcome) -> simulation_pb2.SimulatedRun:
    return simulation_pb2.SimulatedRun(
        replica_count=run.replica_count,
        request_count=run.request_count,
        event_count=run.event_count,
        simulated_s=run.simulated_s,
        queue=encode_latency(run.queue),
        ttft=encode_latency(run.ttft),
        tpot=encode_latency(run.tpot),
        e2e=encode_latency(run.e2e),
        waited_ratio=run.waited_ratio,
        inside_ratio=run.inside_ratio,
        most_waiting_count=run.most_waiting_count,
        limits=[_limit(item) for item in run.limits],
        holds=run.holds,
        recovery_s=run.recovery_s,
        series=[_point(item) for item in run.series],
    )


def _limit(item: LimitOutcome) -> simulation_pb2.SimulatedLimit:
    return simulation_pb2.SimulatedLimit(
        metric=_METRIC[item.metric],
        statistic=_STATISTIC[item.statistic],
        max_ms=item.max_ms,
        value_ms=item.value_ms,
        low_ms=item.low_ms,
        high_ms=item.high_ms,
        holds=item.holds,
    )


def _point(item: SeriesPoint) -> simulation_pb2.SimulatedPoint:
    return simulation_pb2.SimulatedPoint(**{name: getattr(item, name) for name in item.__dataclass_fields__})


def _tail(item: WaitingTail) -> simulation_pb2.WaitingTail:
    checks.finite("load_ratio", item.load_ratio)
    return simulation_pb2.WaitingTail(
        replica_count=item.replica_count,
        stable=item.stable,
        load_ratio=item.load_ratio,
        wait_probability=item.wait_probability,
        erlang_c=encode_latency(item.erlang_c),
        allen_cunneen=encode_latency(item.allen_cunneen),
    )

"""SimulatePlan over a real channel: progress, result, refusals, a caller that goes away."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from builders_planning import a_ladder, a_plan_request, a_planning_server, a_workload, an_slo, refusal_of, stored
from builders_rpc import Lines

from tonnage.planning.usecase.simulate import MOST_AT_ONCE
from tonnage.store.memory import MemoryStore
from tonnage.v1 import plan_pb2, planning_service_pb2, simulation_pb2, workload_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from builders_planning import Stubs

SimulatePlanRequest = planning_service_pb2.SimulatePlanRequest
STEADY = simulation_pb2.SimulationScenario(steady_peak=simulation_pb2.SteadyPeakScenario())
CONFIRMED = simulation_pb2.SIMULATION_VERDICT_CONFIRMED


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    found = MemoryStore()
    stored(found, a_ladder())
    return found


@pytest.fixture(scope="module")
def stubs(store: MemoryStore) -> Iterator[Stubs]:
    with a_planning_server(store) as found:
        yield found


def simulated(stubs: Stubs, request: SimulatePlanRequest) -> planning_service_pb2.SimulatePlanResult:
    """Return the result of a simulation."""
    (*progress, last) = stubs.planning.SimulatePlan(request, timeout=30)
    shares = [item.progress_ratio for item in progress]
    assert shares == sorted(shares)
    assert all(item.WhichOneof("event") == "progress_ratio" for item in progress)
    return last.result


def test_a_request_is_simulated_with_progress(stubs: Stubs) -> None:
    result = simulated(stubs, SimulatePlanRequest(request=a_plan_request(), work_cv=0.5))
    found = result.simulation
    assert found.verdict != simulation_pb2.SIMULATION_VERDICT_UNSPECIFIED
    assert found.replica_count == 3
    assert found.load_requests_per_s == pytest.approx(12)
    (steady,) = found.scenarios
    assert steady.one_fewer.holds is False
    assert len(steady.planned.series) > 50
    assert result.configuration.fingerprint


def test_a_kept_plan_is_simulated_as_its_request_is_and_the_same_seed_gives_the_same_bytes(stubs: Stubs) -> None:
    plan = stubs.planning.PlanCapacity(a_plan_request(), timeout=5).plan
    whole = simulated(stubs, SimulatePlanRequest(plan=plan, seed=7, work_cv=0.5))
    again = simulated(stubs, SimulatePlanRequest(request=a_plan_request(), seed=7, work_cv=0.5))
    other = simulated(stubs, SimulatePlanRequest(request=a_plan_request(), seed=8, work_cv=0.5))
    assert whole.SerializeToString(deterministic=True) == again.SerializeToString(deterministic=True)
    assert whole.simulation != other.simulation


def test_a_workload_that_nothing_serves_has_no_simulation_and_says_why(stubs: Stubs) -> None:
    asked = SimulatePlanRequest(request=a_plan_request(workload=a_workload(model="unheard-of/model")))
    result = simulated(stubs, asked)
    assert not result.HasField("simulation")
    assert [item.code for item in result.findings] == ["NO_MEASURED_RUN"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"scenarios": [simulation_pb2.SimulationScenario()]}, "scenarios[0]"),
        (
            {"scenarios": [STEADY, simulation_pb2.SimulationScenario(burst=simulation_pb2.BurstScenario())]},
            "scenarios[1].burst.height_ratio",
        ),
        ({"scenarios": [STEADY] * 17}, "scenarios"),
        ({"seed": -1}, "seed"),
        ({"duration_s": 0}, "duration_s"),
        ({"duration_s": 1e7}, "scenarios[0]"),
        ({"arrival_cv": 11}, "arrival_cv"),
        ({"work_cv": float("nan")}, "work_cv"),
        ({"fingerprint": "0" * 64}, "fingerprint"),
    ],
)
def test_what_cannot_be_simulated_is_named(stubs: Stubs, changes: dict[str, Any], field: str) -> None:
    request = SimulatePlanRequest(request=a_plan_request(), **changes)
    refusal = refusal_of(lambda: list(stubs.planning.SimulatePlan(request, timeout=10)))
    assert (refusal.code, refusal.fields) == (grpc.StatusCode.INVALID_ARGUMENT, (field,))


def test_a_subject_is_needed(stubs: Stubs) -> None:
    refusal = refusal_of(lambda: list(stubs.planning.SimulatePlan(SimulatePlanRequest(), timeout=10)))
    assert refusal.fields == ("request",)


def _long() -> SimulatePlanRequest:
    return SimulatePlanRequest(request=a_plan_request(), duration_s=60_000, scenarios=[STEADY] * 16, work_cv=0.5)


def test_a_caller_that_goes_away_stops_the_simulation_within_a_tenth_of_a_second(store: MemoryStore) -> None:
    log = Lines()
    with a_planning_server(store, log=log) as stubs:
        stream: Any = stubs.planning.SimulatePlan(_long(), timeout=60)
        next(stream)
        begun = time.monotonic()
        stream.cancel()
        while not log.lines and time.monotonic() < begun + 20:
            time.sleep(0.002)
        stopped_s = time.monotonic() - begun
        (line,) = log.lines
    assert line["code"] == "CANCELLED"
    assert stopped_s < 0.1


def test_one_simulation_too_many_is_refused_with_a_hint_and_a_seat_comes_back(store: MemoryStore) -> None:
    with a_planning_server(store) as stubs:
        running: list[Any] = [stubs.planning.SimulatePlan(_long(), timeout=60) for _ in range(MOST_AT_ONCE)]
        for stream in running:
            next(stream)
        refusal = refusal_of(lambda: list(stubs.planning.SimulatePlan(_long(), timeout=10)))
        assert (refusal.code, refusal.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
        assert refusal.context["retry_after_ms"] == "2000"
        for stream in running:
            stream.cancel()
        until = time.monotonic() + 10
        while time.monotonic() < until:
            try:
                next(stubs.planning.SimulatePlan(_long(), timeout=10))
            except grpc.RpcError:
                time.sleep(0.02)
            else:
                break
        assert time.monotonic() < until


def test_depth_checked_carries_confidence_and_simulation(stubs: Stubs) -> None:
    limited = a_workload(slo=an_slo(), failover=workload_pb2.Failover(lost_replica_count=1))
    request = a_plan_request(workload=limited, depth=plan_pb2.DEPTH_CHECKED)
    first = stubs.planning.PlanCapacity(request, timeout=20).plan
    (candidate,) = first.candidates
    assert candidate.HasField("confidence")
    kinds = [row.scenario.WhichOneof("kind") for row in candidate.simulation.scenarios]
    assert kinds == ["steady_peak", "lost_server"]
    again = stubs.planning.ReplayPlan(planning_service_pb2.ReplayPlanRequest(plan=first), timeout=20)
    assert again.same_answer

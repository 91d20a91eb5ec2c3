"""A candidate simulated whole: verdicts, scenarios, what is said where nothing can be told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import a_run
from builders_capacity import a_candidate, a_curve, a_request, an_open_run, an_slo, codes, levels, whole
from builders_simulation import simulated

from tonnage.capacity import planner
from tonnage.capacity.curves import Curve, curve_of
from tonnage.capacity.simulation.replica import replica_of
from tonnage.domain.measurement import NOT_MEASURED, Latency
from tonnage.domain.plan import Depth
from tonnage.domain.simulation import (
    Burst,
    ColdStart,
    LostServer,
    SimulationRequest,
    SimulationVerdict,
    SteadyPeak,
)
from tonnage.domain.workload import Failover, PeakRate
from tonnage.errors import InvalidInput


def _ask(*scenarios: object, **more: object) -> SimulationRequest:
    return SimulationRequest(scenarios=scenarios, work_cv=0.5, **more)  # type: ignore[arg-type]


def test_a_count_that_one_fewer_would_break_is_confirmed() -> None:
    found = simulated()
    assert found.verdict is SimulationVerdict.CONFIRMED
    (steady,) = found.scenarios
    assert steady.planned.replica_count == 2
    assert steady.one_fewer is not None
    assert steady.one_fewer.replica_count == 1
    assert steady.one_fewer.holds is False
    assert found.load_requests_per_s == pytest.approx(12)
    assert [tail.stable for tail in found.tails] == [True, False]


def test_a_count_at_the_edge_of_what_was_measured_does_not_hold_and_disagrees() -> None:
    found = simulated(demand=PeakRate(peak_requests_per_s=9.0), reserve=whole(0), curve=_edge())
    assert found.replica_count == 1
    assert found.verdict is SimulationVerdict.NOT_HELD
    assert "SIMULATION_DISAGREES" in codes(found.findings)


def _edge() -> Curve:
    """Return a curve that ends at its capacity."""
    return a_curve((1, 1.0, 50.0), (8, 6.0, 120.0), (16, 9.0, 490.0))


def test_a_generous_count_says_that_fewer_would_do() -> None:
    curve = a_curve((1, 1.0, 50.0), (2, 1.9, 400.0), (4, 3.5, 600.0), (32, 20.0, 650.0))
    found = simulated(curve=curve, slo=an_slo(ttft_p95=590.0))
    assert found.replica_count == 7
    assert found.verdict in {SimulationVerdict.FEWER_WOULD_DO, SimulationVerdict.CONFIRMED}
    assert found.scenarios[0].planned.holds


def test_a_burst_piles_up_and_recovers_as_the_liquid_does() -> None:
    burst = Burst(height_ratio=3, length_s=60, allowed_recovery_s=30)
    found = simulated(_ask(burst))
    (row,) = found.scenarios
    assert row.fluid_recovery_s == pytest.approx(60)
    assert row.planned.recovery_s == pytest.approx(60, rel=0.6)
    assert row.holds is False
    assert "BURST_NOT_RECOVERED" in codes(found.findings)
    assert simulated(_ask(replace(burst, allowed_recovery_s=200))).scenarios[0].holds is True
    line = [point.waiting_count for point in row.planned.series]
    assert max(line) == row.planned.most_waiting_count > 300
    assert line[0] < 50
    assert line[-1] < 50


def test_a_planned_loss_is_held_and_an_unplanned_one_is_only_shown() -> None:
    planned = simulated(_ask(LostServer()), failover=Failover(lost_replica_count=1))
    assert planned.scenarios[0].holds is True
    unplanned = simulated(_ask(LostServer()))
    assert unplanned.scenarios[0].holds is None
    assert unplanned.scenarios[0].planned.holds is False
    back = simulated(_ask(LostServer(outage_s=30)))
    assert back.scenarios[0].planned.recovery_s is not None


def test_a_loss_of_everything_serves_nobody_and_invents_no_figure() -> None:
    (row,) = simulated(_ask(LostServer(lost_server_count=100), duration_s=60)).scenarios
    assert row.planned.e2e.mean_ms is None
    assert row.planned.inside_ratio == 0
    assert row.planned.recovery_s is None


def test_a_cold_start_is_worked_off_once_the_replica_is_there() -> None:
    (row,) = simulated(_ask(ColdStart(cold_start_s=60))).scenarios
    assert row.planned.recovery_s is not None
    assert row.planned.recovery_s > 0
    assert row.holds is None


def test_a_steady_peak_alone_gives_a_verdict() -> None:
    assert simulated(_ask(ColdStart(cold_start_s=60))).verdict is SimulationVerdict.NOT_SIMULATED
    assert simulated(_ask(ColdStart(cold_start_s=60), SteadyPeak())).verdict is SimulationVerdict.CONFIRMED


def test_an_open_sweep_without_latencies_of_whole_requests_is_not_simulated() -> None:
    run = an_open_run((1, 1.0, 50.0), (8, 8.0, 120.0), (16, 15.5, 700.0))
    bare = tuple(replace(level, e2e=NOT_MEASURED, tpot=NOT_MEASURED) for level in run.levels)
    found = simulated(curve=curve_of([replace(run, levels=bare)]))
    assert found.verdict is SimulationVerdict.NOT_SIMULATED
    assert codes(found.findings) == ["SIMULATION_NOT_POSSIBLE"]


def test_no_demand_is_not_simulated() -> None:
    assert codes(simulated(demand=PeakRate(peak_requests_per_s=0.0)).findings) == ["NO_DEMAND_TO_SIMULATE"]


def test_more_requests_than_are_simulated_are_refused_with_the_scenario_named() -> None:
    with pytest.raises(InvalidInput) as refused:
        simulated(_ask(SteadyPeak(), Burst(height_ratio=100, length_s=1e6)))
    assert refused.value.violations[0].path == "scenarios[1]"


def test_more_replicas_than_fit_are_not_simulated() -> None:
    found = simulated(failover=Failover(lost_replica_count=2_000_000_000))
    assert found.verdict is SimulationVerdict.NOT_SIMULATED
    assert codes(found.findings) == ["SIMULATION_TOO_LARGE"]


def test_the_work_of_requests_is_read_from_measured_e2e_times() -> None:
    made = [replace(level, e2e=Latency(p50_ms=1000, p99_ms=1000)) for level in levels()]
    found = simulated(SimulationRequest(), curve=curve_of([a_run(*made)]))
    assert found.work_cv == 0
    assert "WORK_VARIATION_ASSUMED" not in codes(found.findings)
    assert "WORK_VARIATION_ASSUMED" in codes(simulated(SimulationRequest()).findings)


def test_nothing_is_served_beyond_the_last_load_measured() -> None:
    model = replica_of(a_curve())
    assert model is not None
    assert model.slots == 32
    assert model.service_s[-1] == pytest.approx(32 / 10.0)
    assert simulated().scenarios[0].one_fewer.most_waiting_count > 0  # type: ignore[union-attr]


def test_depth_checked_simulates_the_best_and_the_loss_it_must_survive() -> None:
    request = a_request(depth=Depth.CHECKED, failover=Failover(lost_replica_count=1))
    plan = planner.plan(request, [a_candidate(a_curve())], 1, "test")
    (candidate,) = plan.candidates
    assert candidate.confidence is not None
    assert candidate.simulation is not None
    assert [type(row.scenario) for row in candidate.simulation.scenarios] == [SteadyPeak, LostServer]
    assert all(not row.planned.series for row in candidate.simulation.scenarios)

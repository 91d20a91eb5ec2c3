"""Depth CHECKED: the best candidates of a plan, simulated at the steady peak and after the loss they must survive."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tonnage.capacity import notes
from tonnage.capacity.simulation.check import simulate
from tonnage.domain.simulation import LostServer, SimulationRequest, SteadyPeak

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from tonnage.capacity.sweeps import CandidateCurves
    from tonnage.domain.plan import Candidate, PlanRequest
    from tonnage.domain.simulation import RunOutcome, Simulation

MOST_CHECKED: Final = 3


def with_simulation(
    request: PlanRequest, candidates: Sequence[Candidate], curves: Mapping[str, CandidateCurves]
) -> tuple[Candidate, ...]:
    """Return the candidates, the best three with what a simulation finds; ``curves`` are by fingerprint."""
    scenarios = (SteadyPeak(),) if request.workload.failover is None else (SteadyPeak(), LostServer())
    asked = SimulationRequest(scenarios=scenarios)
    best = [_checked(asked, request, item, curves) for item in candidates[:MOST_CHECKED]]
    return (*best, *candidates[MOST_CHECKED:])


def _checked(
    asked: SimulationRequest, request: PlanRequest, candidate: Candidate, curves: Mapping[str, CandidateCurves]
) -> Candidate:
    found = last_of(simulate(asked, request, candidate, curves[candidate.configuration.fingerprint]))
    return replace(
        candidate, simulation=without_series(found), findings=notes.ordered((*candidate.findings, *found.findings))
    )


def last_of(steps: Generator[Any, None, Simulation]) -> Simulation:
    """Return what a simulation comes to, its progress unheard."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Simulation = end.value
            return found


def without_series(found: Simulation) -> Simulation:
    """Return a simulation as a plan keeps it."""
    rows = tuple(
        replace(row, planned=_bare(row.planned), one_fewer=None if row.one_fewer is None else _bare(row.one_fewer))
        for row in found.scenarios
    )
    return replace(found, scenarios=rows)


def _bare(run: RunOutcome) -> RunOutcome:
    return replace(run, series=())

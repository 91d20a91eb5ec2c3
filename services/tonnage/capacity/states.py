"""Which test states the runs of a configuration cover, by what they say or by what their levels show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.capacity.curves import evidence_of
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import ArrivalKind, TestState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.curves import Curve
    from tonnage.domain.finding import Evidence
    from tonnage.domain.measurement import Run

CHECKED_STATES: Final = (TestState.SINGLE, TestState.TYPICAL, TestState.PEAK, TestState.BURST, TestState.SOAK)
"""Low, typical, peak, burst, soak."""
SOAK_S: Final = 3600.0
"""A level that was held this long shows what a soak shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCoverage:
    """Whether a state was measured, how that is known, and the newest run that shows it."""

    state: TestState
    covered: bool
    origin: Origin | None = None
    evidence: Evidence | None = None


def coverage(sweeps: Sequence[tuple[Curve, Sequence[Run]]]) -> tuple[StateCoverage, ...]:
    """Return each of the five states, covered or not.

    A run that names its state covers that state, a stress run the peak.
    A ladder without a name covers the low state when its lowest load
    is one request in flight, the typical one by any usable level, the peak when its knee or its drop was reached,
    and the soak when a level was held for an hour. A burst is never guessed.
    """
    return tuple(_covered(state, sweeps) for state in CHECKED_STATES)


def _covered(state: TestState, sweeps: Sequence[tuple[Curve, Sequence[Run]]]) -> StateCoverage:
    names = (state, TestState.STRESS) if state is TestState.PEAK else (state,)
    named = [run for _, runs in sweeps for run in runs if run.state in names]
    if named:
        newest = max(named, key=recency)
        origin = newest.state_origin if newest.state_origin is not None else Origin.DECLARED
        return StateCoverage(state=state, covered=True, origin=origin, evidence=evidence_of(newest))
    shown = [run for curve, runs in sweeps if _shows(curve, state) for run in runs if run.name in curve.run_names]
    if shown:
        newest = max(shown, key=recency)
        return StateCoverage(state=state, covered=True, origin=Origin.DERIVED, evidence=evidence_of(newest))
    return StateCoverage(state=state, covered=False)


def recency(run: Run) -> tuple[str, str]:
    """Return what sorts runs by when they were measured, or else taken in."""
    moment = run.measured_at if run.measured_at is not None else run.ingested_at
    return ("" if moment is None else moment.isoformat(), run.run_id)


def _shows(curve: Curve, state: TestState) -> bool:
    levels = curve.levels
    if not levels:
        return False
    if state is TestState.SINGLE:
        return curve.arrival_kind is ArrivalKind.CLOSED and levels[0].offered_load <= 1
    if state is TestState.TYPICAL:
        return True
    if state is TestState.PEAK:
        return curve.knee_offered_load is not None or curve.shape.drops_at is not None
    return state is TestState.SOAK and any(_held(item.level.duration_s) for item in levels)


def _held(duration_s: float | None) -> bool:
    return duration_s is not None and duration_s >= SOAK_S

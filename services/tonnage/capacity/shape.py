"""The shape of a curve: knee, saturation, and the drop behind the peak."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tonnage.capacity import notes
from tonnage.capacity.exact import shown
from tonnage.capacity.scaling_law import ScalingLaw, scaling_law
from tonnage.domain.measurement import ArrivalKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.levels import CurveLevel
    from tonnage.domain.finding import Finding

KNEE_ELASTICITY: Final = 0.5
"""Gain of throughput over gain of load, in logs, under which more load buys mostly waiting."""
DROP_RATIO: Final = 0.95
"""Throughput under this part of the peak is a drop, above run-to-run noise."""
NEAR_PEAK_RATIO: Final = 0.9
_LEAST_FOR_CHORD: Final = 4
_CLEARLY_ABOVE: Final = 0.1
_KNEES_AGREE: Final = 2.5
"""Two knees within one step of the usual twofold ladders agree as well as they can."""
DELIVERED_RATIO: Final = 0.9
"""An open loop that completes less of its offered rate is overloaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Loads that mark a curve; None is not reached or not known. Rates are of one replica.

    ``knee_by_chord_offered_load`` is the second opinion on the knee; ``scaling`` the law fitted to a closed loop.
    """

    knee_offered_load: float | None = None
    knee_by_chord_offered_load: float | None = None
    scaling: ScalingLaw | None = None
    near_peak_offered_load: float | None = None
    peak_offered_load: float | None = None
    saturation_requests_per_s: float | None = None
    drops_at: float | None = None
    overloaded_from: float | None = None
    findings: tuple[Finding, ...] = ()


def shape_of(levels: Sequence[CurveLevel], kind: ArrivalKind | None) -> Shape:
    """Return the marks of an ordered curve."""
    if not levels:
        return Shape()
    peak = max(levels, key=lambda item: item.requests_per_s)
    drop = _drop(levels, peak)
    near = next(item for item in levels if item.requests_per_s >= NEAR_PEAK_RATIO * peak.requests_per_s)
    knee, by_chord = _knee(levels), _knee_by_chord(levels)
    closed = kind is ArrivalKind.CLOSED
    return Shape(
        knee_offered_load=knee,
        knee_by_chord_offered_load=by_chord,
        scaling=scaling_law(*zip(*((i.offered_load, i.requests_per_s) for i in levels), strict=True))
        if closed
        else None,
        near_peak_offered_load=near.offered_load,
        peak_offered_load=peak.offered_load,
        saturation_requests_per_s=peak.requests_per_s,
        drops_at=None if drop is None else drop.offered_load,
        overloaded_from=_overloaded(levels) if kind is ArrivalKind.OPEN else None,
        findings=(*(() if drop is None else (_dropped(peak, drop),)), *_apart(knee, by_chord)),
    )


def _knee(levels: Sequence[CurveLevel]) -> float | None:
    """Return the load before the first step whose elasticity d ln(rate) / d ln(load) is under one half."""
    for before, after in pairwise(levels):
        gain = math.log(after.requests_per_s / before.requests_per_s)
        if gain / math.log(after.offered_load / before.offered_load) < KNEE_ELASTICITY:
            return before.offered_load
    return None


def _knee_by_chord(levels: Sequence[CurveLevel]) -> float | None:
    """Return the load farthest above the chord from the first load to the peak, both axes scaled to 1 (Kneedle).

    None with fewer than four loads up to the peak, or where no load lies clearly above: such a curve has no bend.
    """
    place = max(range(len(levels)), key=lambda item: levels[item].requests_per_s)
    rising = levels[: place + 1]
    if len(rising) < _LEAST_FOR_CHORD:
        return None
    first, peak = rising[0], rising[-1]
    span, gain = peak.offered_load - first.offered_load, peak.requests_per_s - first.requests_per_s

    def above(item: CurveLevel) -> float:
        return (item.requests_per_s - first.requests_per_s) / gain - (item.offered_load - first.offered_load) / span

    knee = max(rising, key=above)
    return knee.offered_load if gain > 0 and above(knee) > _CLEARLY_ABOVE else None


def _apart(knee: float | None, by_chord: float | None) -> tuple[Finding, ...]:
    if knee is None or by_chord is None or max(knee, by_chord) <= _KNEES_AGREE * min(knee, by_chord):
        return ()
    return (
        notes.info(
            "KNEES_DISAGREE",
            f"the knee is at {shown(knee)} by the slope and at {shown(by_chord)} by the chord: the bend is drawn out, "
            "and no one load marks it",
            remedy="measure loads between the two, and take the lower one for triggers",
        ),
    )


def _drop(levels: Sequence[CurveLevel], peak: CurveLevel) -> CurveLevel | None:
    floor = DROP_RATIO * peak.requests_per_s
    behind = (item for item in levels if item.offered_load > peak.offered_load)
    return next((item for item in behind if item.requests_per_s < floor), None)


def _overloaded(levels: Sequence[CurveLevel]) -> float | None:
    return next((item.offered_load for item in levels if item.saturated), None)


def _dropped(peak: CurveLevel, drop: CurveLevel) -> Finding:
    return notes.warning(
        "SATURATED",
        f"throughput peaks at {shown(peak.requests_per_s)} requests/s ({peak.label}) and falls to "
        f"{shown(drop.requests_per_s)} at {drop.label}: more load than the peak's is lost",
        remedy="hold the load under the peak, and look for preemption or a full batch behind it",
        evidence=(*peak.evidence, *drop.evidence),
    )

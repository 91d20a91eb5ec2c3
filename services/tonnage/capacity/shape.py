"""The shape of a curve: knee, saturation, and the drop behind the peak."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tonnage.capacity import notes
from tonnage.capacity.exact import shown
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
DELIVERED_RATIO: Final = 0.9
"""An open loop that completes less of its offered rate is overloaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Loads that mark a curve; None is not reached or not known. Rates are of one replica."""

    knee_offered_load: float | None = None
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
    return Shape(
        knee_offered_load=_knee(levels),
        near_peak_offered_load=near.offered_load,
        peak_offered_load=peak.offered_load,
        saturation_requests_per_s=peak.requests_per_s,
        drops_at=None if drop is None else drop.offered_load,
        overloaded_from=_overloaded(levels) if kind is ArrivalKind.OPEN else None,
        findings=() if drop is None else (_dropped(peak, drop),),
    )


def _knee(levels: Sequence[CurveLevel]) -> float | None:
    """Return the load before the first step whose elasticity d ln(rate) / d ln(load) is under one half."""
    for before, after in pairwise(levels):
        gain = math.log(after.requests_per_s / before.requests_per_s)
        if gain / math.log(after.offered_load / before.offered_load) < KNEE_ELASTICITY:
            return before.offered_load
    return None


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

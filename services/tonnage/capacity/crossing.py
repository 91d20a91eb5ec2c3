"""Where a curve crosses its limit, between the last load inside the SLO and the first miss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tonnage.capacity.prediction.shapes import Bracket, load_where_latency_reaches, rate_at

if TYPE_CHECKING:
    from tonnage.capacity.levels import CurveLevel
    from tonnage.capacity.limits import Limit


def crossing_requests_per_s(
    inside: CurveLevel, miss: CurveLevel, limits: tuple[Limit, ...], max_failure_ratio: float | None
) -> float | None:
    """Return the throughput of one replica where the first limit is reached, or None when that cannot be told.

    Between the two levels latency and throughput run as ``prediction.shapes`` says, and the failure ratio straight
    in the log of the load. Each limited statistic must be known on both sides; otherwise the place of the crossing
    is not known.
    """
    load = miss.offered_load
    for limit in limits:
        reached = _latency_load(inside, miss, limit)
        if reached is None:
            return None
        load = min(load, reached)
    if max_failure_ratio is not None:
        reached = _failure_load(inside, miss, max_failure_ratio)
        if reached is None:
            return None
        load = min(load, reached)
    return rate_at(Bracket(inside.offered_load, inside.requests_per_s, miss.offered_load, miss.requests_per_s), load)


def _latency_load(inside: CurveLevel, miss: CurveLevel, limit: Limit) -> float | None:
    """Return the load between the two where the limit is reached."""
    for name in (limit.name, *limit.stand_ins):
        low, high = inside.qualified.values.get(name), miss.qualified.values.get(name)
        if low is None or high is None:
            continue
        if low > 0 and high > 0:
            bracket = Bracket(inside.offered_load, low, miss.offered_load, high)
            return load_where_latency_reaches(bracket, limit.max_ms)
        # A queue may be empty at one of the loads: none of the step is inside when it ends in a miss.
        return inside.offered_load if high > limit.max_ms else miss.offered_load
    return None


def _failure_load(inside: CurveLevel, miss: CurveLevel, max_failure_ratio: float) -> float | None:
    low, high = inside.level.failure_ratio, miss.level.failure_ratio
    if low is None or high is None:
        return None
    share = _share(max_failure_ratio - low, high - low)
    return inside.offered_load * math.pow(miss.offered_load / inside.offered_load, share)


def _share(wanted: float, whole: float) -> float:
    """Return ``wanted / whole`` within 0 and 1; a step that does not rise to its limit never reaches it."""
    if wanted >= whole:
        return 1.0
    return max(0.0, wanted / whole) if whole > 0 else 0.0

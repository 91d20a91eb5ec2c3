"""Where a curve crosses its limit, between the last load inside the SLO and the first miss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tonnage.capacity.levels import CurveLevel
    from tonnage.capacity.limits import Limit


def crossing_requests_per_s(
    inside: CurveLevel, miss: CurveLevel, limits: tuple[Limit, ...], max_failure_ratio: float | None
) -> float | None:
    """Return the throughput of one replica where the first limit is reached, or None when that cannot be told.

    Between the two levels the logs of latency and of throughput are taken as straight in the log of the load, and
    the failure ratio itself as straight in the log of the load. Each limited statistic must be known on both sides;
    otherwise the place of the crossing is not known.
    """
    share = 1.0
    for limit in limits:
        part = _latency_share(inside, miss, limit)
        if part is None:
            return None
        share = min(share, part)
    if max_failure_ratio is not None:
        part = _failure_share(inside, miss, max_failure_ratio)
        if part is None:
            return None
        share = min(share, part)
    gain = math.log(miss.requests_per_s / inside.requests_per_s)
    return inside.requests_per_s * math.exp(share * gain)


def _latency_share(inside: CurveLevel, miss: CurveLevel, limit: Limit) -> float | None:
    """Return how far along the step the limit is reached, 0 to 1 in the log of the load."""
    for name in (limit.name, *limit.stand_ins):
        low, high = inside.qualified.values.get(name), miss.qualified.values.get(name)
        if low is not None and high is not None:
            return _share(math.log(limit.max_ms / low), math.log(high / low)) if low > 0 < high else _zero(high, limit)
    return None


def _zero(high: float, limit: Limit) -> float:
    """Return the share where a side is 0 ms (a queue may be): none of the step when it ends in a miss."""
    return 0.0 if high > limit.max_ms else 1.0


def _failure_share(inside: CurveLevel, miss: CurveLevel, max_failure_ratio: float) -> float | None:
    low, high = inside.level.failure_ratio, miss.level.failure_ratio
    if low is None or high is None:
        return None
    return _share(max_failure_ratio - low, high - low)


def _share(wanted: float, whole: float) -> float:
    """Return ``wanted / whole`` within 0 and 1; a step that does not rise to its limit never reaches it."""
    if wanted >= whole:
        return 1.0
    return max(0.0, wanted / whole) if whole > 0 else 0.0

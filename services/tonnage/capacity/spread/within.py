"""How far the statistics of one level may be off because only so many requests ran."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from tonnage.capacity.qualified import LEAST_COMPLETED

if TYPE_CHECKING:
    from tonnage.capacity.levels import CurveLevel

_RANKS: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
_NORMAL: Final = NormalDist()
UNKNOWN_SHAPE: Final = 1.0
"""Deviation of the log of one request's latency where one statistic alone is known: an exponential has 1.28."""
MINUTE_DEVIATION: Final = 0.031
"""Throughput from minute to minute inside published soaks (AccelMark, 126 soaks, median)."""
_S_PER_MINUTE: Final = 60.0


def latency_error(level: CurveLevel, statistic: str) -> float:
    """Return the standard error of the log of one statistic of a level.

    Requests are taken as independent with logs spread normally by the gap between the level's own percentiles. A
    percentile p of n requests is then off by sqrt(p (1 - p) / n) / density(z_p) deviations (Bahadur), a mean by
    1 / sqrt(n). A count that is not stated is the least that the statistic needs.
    """
    metric, rank, _ = statistic.split("_")
    count = level.level.completed_count or LEAST_COMPLETED[rank]
    shape = _shape(level, metric)
    if rank == "mean":
        return shape / math.sqrt(count)
    share = _RANKS[rank]
    density = _NORMAL.pdf(_NORMAL.inv_cdf(share))
    return shape * math.sqrt(share * (1 - share) / count) / density


def _shape(level: CurveLevel, metric: str) -> float:
    """Return the deviation of the log of one request's latency, from the median and the highest percentile known."""
    values = level.qualified.values
    middle = values.get(f"{metric}_p50_ms")
    for rank in ("p99", "p95", "p90"):
        high = values.get(f"{metric}_{rank}_ms")
        if middle is not None and high is not None and high > middle > 0:
            return math.log(high / middle) / _NORMAL.inv_cdf(_RANKS[rank])
    return UNKNOWN_SHAPE


def throughput_error(level: CurveLevel) -> float:
    """Return the standard error of the log of a level's throughput: a published minute's deviation over its minutes."""
    duration = level.level.duration_s
    minutes = 1.0 if duration is None or duration <= 0 else max(1.0, duration / _S_PER_MINUTE)
    return MINUTE_DEVIATION / math.sqrt(minutes)

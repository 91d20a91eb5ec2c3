"""Whether a level held still while it was measured: throughput and TTFT of its halves, latencies of its start."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.formats.reading.notes import warning
from tonnage.formats.reading.statistics import overflow_is_infinite

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.formats.reading.timeline import Timeline

_SIGMAS: Final = 4.0
_DRIFT: Final = 0.20
# A closed loop completes in waves one service time long; a window of fewer waves than this tells nothing of drift.
_LEAST_WAVES: Final = 10.0
_START_SHARE: Final = 0.1
_LEAST_START_COUNT: Final = 10
_LEAST_REST_COUNT: Final = 20
_FAR_ABOVE: Final = 2.0


@overflow_is_infinite
def unsteady(timeline: Timeline) -> list[Finding]:
    """Return the finding of a level whose halves are unlike; nothing where no clock or too short a run tells.

    The window from the first to the last completion is halved in time. Of n completions of a steady (Poisson)
    stream, the halves differ by sqrt(n) in standard deviation; they are unlike beyond four of these and 20 %.
    TTFT drifted when the halves' medians differ by 20 % and the median test (Mood 1950) by four deviations.
    """
    end_s, ttft_ms, e2e_ms = timeline.columns()
    if end_s.size < 2 or not _is_long_enough(end_s, ttft_ms, e2e_ms):  # noqa: PLR2004 -- two ends make a window
        return []
    late = end_s > end_s[0] + (end_s[-1] - end_s[0]) / 2
    reasons = [*_throughput_drift(late, timeline.stride), *_ttft_drift(ttft_ms[~late], ttft_ms[late])]
    if not reasons:
        return []
    return [
        warning(
            "UNSTEADY_LEVEL",
            f"between the first and the second half of the level {' and '.join(reasons)}",
            remedy="warm up longer, keep the load constant, and leave ramp-up out of the measured window",
        )
    ]


def _is_long_enough(end_s: np.ndarray, ttft_ms: np.ndarray, e2e_ms: np.ndarray) -> bool:
    """Tell whether the window holds enough waves; waiting before the first token is no part of one."""
    window_s = float(end_s[-1] - end_s[0])
    served_ms = e2e_ms - np.where(np.isfinite(ttft_ms), ttft_ms, 0.0)
    served_ms = served_ms[np.isfinite(served_ms)]
    wave_s = float(np.median(served_ms)) / 1000 if served_ms.size else 0.0
    return math.isfinite(window_s) and window_s > 0 and window_s >= _LEAST_WAVES * wave_s


def _throughput_drift(late: np.ndarray, stride: int) -> list[str]:
    second = int(late.sum())
    first = late.size - second
    apart = abs(first - second)
    if apart <= _SIGMAS * math.sqrt(late.size) or apart <= _DRIFT * max(first, second):
        return []
    about = "" if stride == 1 else "about "
    return [f"completions went from {about}{first * stride} to {about}{second * stride}"]


def _ttft_drift(first_ms: np.ndarray, second_ms: np.ndarray) -> list[str]:
    first_ms, second_ms = (half[np.isfinite(half)] for half in (first_ms, second_ms))
    if not first_ms.size or not second_ms.size:
        return []
    before_ms, after_ms = float(np.median(first_ms)), float(np.median(second_ms))
    if abs(after_ms - before_ms) <= _DRIFT * max(before_ms, after_ms) or not _medians_differ(first_ms, second_ms):
        return []
    return [f"the median TTFT went from {before_ms:.4g} to {after_ms:.4g} ms"]


def _medians_differ(first: np.ndarray, second: np.ndarray) -> bool:
    """Test by the count above the common median, hypergeometric under one distribution."""
    pooled = np.concatenate((first, second))
    above = pooled > np.median(pooled)
    total, above_count = pooled.size, int(above.sum())
    expected = first.size * above_count / total
    variance = expected * (total - above_count) / total * second.size / (total - 1)
    return abs(int(above[: first.size].sum()) - expected) > _SIGMAS * math.sqrt(variance)


@overflow_is_infinite
def warm_up_inside(timeline: Timeline) -> list[Finding]:
    """Return the finding of a level whose first requests were far slower than the rest.

    The first tenth by start (at least 10, with 20 left) is far above when its median is twice the rest's and above
    the rest's p90; TTFT where known, else e2e.
    """
    end_s, ttft_ms, e2e_ms = timeline.columns()
    is_ttft = bool(np.isfinite(ttft_ms).any())
    taken_ms = ttft_ms if is_ttft else e2e_ms
    start_s = end_s - np.where(np.isfinite(e2e_ms), e2e_ms, 0.0) / 1000
    taken_ms = taken_ms[np.argsort(start_s, kind="stable")]
    taken_ms = taken_ms[np.isfinite(taken_ms)]
    count = max(_LEAST_START_COUNT, int(taken_ms.size * _START_SHARE))
    if taken_ms.size < count + _LEAST_REST_COUNT:
        return []
    start_ms, rest = float(np.median(taken_ms[:count])), taken_ms[count:]
    usual_ms, high_ms = (float(value) for value in np.percentile(rest, (50.0, 90.0)))
    if start_ms <= _FAR_ABOVE * usual_ms or start_ms <= high_ms:
        return []
    return [
        warning(
            "WARM_UP_INSIDE",
            f"the first tenth of the requests has a median {'TTFT' if is_ttft else 'e2e'} of {start_ms:.4g} ms, "
            f"the rest one of {usual_ms:.4g} ms: warm-up or cold caches are inside the statistics",
            remedy="warm the server up before the measured window, or leave the first requests out",
        )
    ]

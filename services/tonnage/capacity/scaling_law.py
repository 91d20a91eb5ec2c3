"""The universal scalability law fitted to a curve: contention, coherency, the load of the peak, and what it misses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_LOADS: Final = 4
"""Three constants met by three loads would leave no residual to judge them by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingLaw:
    """X(N) = a N / (1 + s (N - 1) + k N (N - 1)): rates X in requests/s at loads N (Gunther).

    ``contention_ratio`` is s, ``coherency_ratio`` k, both at least 0. ``peak_offered_load`` is sqrt((1 - s) / k),
    None where the law has no peak. ``residual_ratio`` is the root mean square of ln(fitted / measured).
    """

    single_requests_per_s: float
    contention_ratio: float
    coherency_ratio: float
    peak_offered_load: float | None
    residual_ratio: float

    def requests_per_s(self, load: float) -> float:
        """Return the law's rate at a load."""
        slowed = 1 + self.contention_ratio * (load - 1) + self.coherency_ratio * load * (load - 1)
        return self.single_requests_per_s * load / slowed


def scaling_law(loads: Sequence[float], rates: Sequence[float]) -> ScalingLaw | None:
    """Return the law of a closed-loop curve, None for fewer than four loads.

    N / X is linear in (1, N - 1, N (N - 1)); each row is weighted by X / N, so that errors are relative, and the
    constants are the best ones not below 0.
    """
    if len(loads) < LEAST_LOADS:
        return None
    count, rate = np.array(loads, dtype=np.float64), np.array(rates, dtype=np.float64)
    columns = np.column_stack((np.ones_like(count), count - 1, count * (count - 1))) * (rate / count)[:, None]
    found = _not_negative(columns)
    if found is None:
        return None
    base, contention, coherency = found
    s, k = contention / base, coherency / base
    fitted = count / (base * (1 + s * (count - 1) + k * count * (count - 1)))
    residual = float(np.sqrt(np.mean(np.log(fitted / rate) ** 2)))
    return ScalingLaw(
        single_requests_per_s=1 / base,
        contention_ratio=s,
        coherency_ratio=k,
        peak_offered_load=math.sqrt((1 - s) / k) if k > 0 and s < 1 else None,
        residual_ratio=residual,
    )


def _not_negative(columns: np.ndarray) -> tuple[float, float, float] | None:
    """Return the least-squares solution of columns x = 1 with x at least 0; the first has to be above 0.

    With three unknowns every set of free ones is tried, which finds the same as an active-set method.
    """
    best: tuple[float, tuple[float, float, float]] | None = None
    for size in (1, 2, 3):
        for free in combinations(range(3), size):
            part, *_ = np.linalg.lstsq(columns[:, free], np.ones(len(columns)), rcond=None)
            whole = [0.0, 0.0, 0.0]
            for place, value in zip(free, part.tolist(), strict=True):
                whole[place] = value
            if min(whole) < 0 or whole[0] <= 0:
                continue
            error = float(np.sum((columns @ np.array(whole) - 1) ** 2))
            if best is None or error < best[0]:
                best = (error, (whole[0], whole[1], whole[2]))
    return None if best is None else best[1]

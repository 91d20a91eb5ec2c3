"""Waiting time from formulas: the birth-death chain of the pool (Erlang C at constant speed) and Allen-Cunneen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.domain.measurement import Latency
from tonnage.domain.simulation import WaitingTail
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    import numpy.typing as npt

_SHARES: Final = {"p50_ms": 0.5, "p90_ms": 0.9, "p95_ms": 0.95, "p99_ms": 0.99}


def waiting_tail(
    rate_requests_per_s: float,
    service_requests_per_s: npt.NDArray[np.float64],
    arrival_cv: float,
    work_cv: float,
    replica_count: int,
) -> WaitingTail:
    """Return the waiting time for a slot; ``service_requests_per_s`` is the pool's rate at 1 to all slots in service.

    Poisson arrivals and exponential work make a birth-death chain: p_n = p_0 prod(lambda / mu_i), P(wait) the sum
    from the last slot on, and a wait beyond t has P(wait) exp(-(mu - lambda) t), mu at full slots. At constant speed
    this is Erlang C. Allen and Cunneen scale the mean wait by (ca^2 + cs^2) / 2; the tail keeps its shape.
    """
    full = float(service_requests_per_s[-1])
    load = rate_requests_per_s / full
    if load >= 1:
        return WaitingTail(replica_count=replica_count, stable=False, load_ratio=load)
    logs = np.concatenate([[0.0], np.cumsum(np.log(rate_requests_per_s / service_requests_per_s))])
    weights = np.exp(logs - logs.max())
    behind = weights[-1] / (1 - load)
    waits = float(behind / (weights[:-1].sum() + behind))
    spare = full - rate_requests_per_s
    scale = (arrival_cv**2 + work_cv**2) / 2
    return WaitingTail(
        replica_count=replica_count,
        stable=True,
        load_ratio=load,
        wait_probability=waits,
        erlang_c=_exponential(waits, 1 / spare),
        allen_cunneen=_exponential(waits, scale / spare),
    )


def _exponential(probability: float, mean_s: float) -> Latency:
    """Return the wait of which ``probability`` waits at all, exponentially with ``mean_s``; ms."""
    tail = {
        name: MS_PER_S * mean_s * max(0.0, math.log(probability / (1 - share))) if probability > 0 else 0.0
        for name, share in _SHARES.items()
    }
    return Latency(mean_ms=MS_PER_S * probability * mean_s, **tail)


def fluid_burst(
    base_requests_per_s: float, height_ratio: float, length_s: float, most_requests_per_s: float
) -> tuple[float, float | None]:
    """Return what a burst leaves waiting, and the seconds to work it off (None where the base alone is too much)."""
    backlog = max(0.0, base_requests_per_s * height_ratio - most_requests_per_s) * length_s
    spare = most_requests_per_s - base_requests_per_s
    return backlog, (backlog / spare if spare > 0 else None)

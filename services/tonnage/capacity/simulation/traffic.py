"""Seeded traffic: arrival times, work and luck of every request, the same whatever serves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests in order of arrival: time, bucket, work (mean 1 in each bucket), and two uniform draws of luck."""

    arrivals_s: Floats
    buckets: npt.NDArray[np.int64]
    work: Floats
    luck: Floats


def traffic(
    phases: Sequence[tuple[float, float]],
    arrival_cv: float,
    shares: Sequence[float],
    work_cvs: Sequence[float],
    seed: int,
) -> Traffic:
    """Return the requests of some phases of (length s, requests/s).

    A renewal stream with gamma gaps of the stated coefficient of variation is laid along the rate; a coefficient of 1
    is a Poisson stream. Work is gamma, too. Each kind of draw has a stream of its own under the seed.
    """
    gaps, classes, works, lucks = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4))
    ends = np.cumsum([0.0, *(length for length, _ in phases)])
    expected = np.cumsum([0.0, *(length * rate for length, rate in phases)])
    arrivals = np.interp(_renewals(gaps, float(expected[-1]), arrival_cv), expected, ends)
    count = len(arrivals)
    bucket = np.minimum(np.searchsorted(np.cumsum(shares), classes.random(count), side="right"), len(shares) - 1)
    work = np.ones(count)
    for place, cv in enumerate(work_cvs):
        drawn = works.gamma(1 / cv**2, cv**2, count) if cv > 0 else work
        work = np.where(bucket == place, drawn, work)
    return Traffic(arrivals, bucket, np.maximum(work, 1e-9), lucks.random((2, count)))


def _renewals(source: np.random.Generator, until: float, cv: float) -> Floats:
    """Return the times of a stream of rate 1 up to ``until``."""
    if cv == 0:
        return np.arange(0.5, until)
    found: list[Floats] = []
    reached = 0.0
    while reached < until:
        drawn = reached + np.cumsum(source.gamma(1 / cv**2, cv**2, int(until - reached) + 64))
        found.append(drawn)
        reached = float(drawn[-1])
    times = np.concatenate(found)
    return times[times < until]

"""Worlds: columns of standard normals, the same for every candidate and for every demand that one question may ask."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtri

from tonnage.capacity.canonical import canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tonnage.domain.plan import PlanRequest

COLUMNS: Final = (
    "demand.base",
    "demand.peak_factor",
    "demand.peak",
    "reserve.whole",
    "reserve.growth",
    "reserve.burst",
    "reserve.drift",
    "reserve.colocation",
    "curve",
    "model",
)
"""Shared columns by place; the tilt of each bucket's share follows them."""


_UNSHUFFLED: Final = COLUMNS.index("curve")
"""One column may keep its order, as all others are shuffled against it; a table is read faster in order."""


def seed_of(request: PlanRequest, data_version: int) -> int:
    """Return the seed of a request on one data version.

    It is hashed from what names the question and not from what is varied to explore it: demand, limits, reserve,
    failover, prices and their ranges are left out, so that two requests that differ in those meet the same worlds.
    """
    named = (
        request.namespace,
        request.workload.model,
        request.configuration,
        request.fingerprint or "",
        request.policy,
        request.as_of_date,
        data_version,
    )
    return int.from_bytes(hashlib.sha256(canonical(named).encode()).digest()[:8], "big")


@functools.lru_cache(maxsize=8)
def _ladder(count: int) -> NDArray[np.float64]:
    """Return one standard normal for each of ``count`` strata of equal probability."""
    return np.asarray(ndtri((np.arange(count) + 0.5) / count), dtype=np.float64)


class Worlds:
    """``count`` worlds of one seed; each column is a random order of the same strata (Latin hypercube)."""

    def __init__(self, seed: int, count: int) -> None:
        self.count = count
        self._seed = seed
        self._columns: dict[int, NDArray[np.float64]] = {}

    def column(self, name: str) -> NDArray[np.float64]:
        """Return the column of one shared input."""
        return self._at(COLUMNS.index(name))

    def tilt(self, place: int) -> NDArray[np.float64]:
        """Return the column of one bucket's share."""
        return self._at(len(COLUMNS) + place)

    def _at(self, place: int) -> NDArray[np.float64]:
        if place == _UNSHUFFLED:
            return _ladder(self.count)
        if place not in self._columns:
            made = np.random.default_rng([self._seed, self.count, place])
            self._columns[place] = made.permutation(_ladder(self.count))
        return self._columns[place]

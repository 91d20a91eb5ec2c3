"""From replicas before the ceiling to counts: N, servers, and the bars of their distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity.sizing import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tonnage.domain.workload import Failover

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

_ROUNDING: Final = 1e-9
"""A quotient this close above a whole number is that number: worlds are binary floats, plans exact."""
MOST_BARS: Final = 24
_MOST_COUNTED: Final = 1 << 14


@dataclass(frozen=True, slots=True)
class Bar:
    """Worlds that need at most so many replicas before failover, and more than the bar before."""

    needed: int
    replica_count: int
    server_count: int
    probability: float


@dataclass(frozen=True, slots=True)
class Counter:
    """Turns needed replicas into planned replicas and servers, as the plan does."""

    failover: Failover | None
    accelerators_per_replica: int | None
    accelerators_per_server: int | None

    def of(self, needed: int) -> tuple[int, int]:
        """Return replicas and servers, failover included."""
        return counted(needed, self.failover, self.accelerators_per_replica, self.accelerators_per_server)


@dataclass(frozen=True, slots=True)
class Needs:
    """Rising counts of needed replicas, and how many of ``world_count`` worlds need no more than each."""

    counts: Whole
    worlds_up_to: Whole
    world_count: int

    @classmethod
    def of(cls, replicas: Floats) -> Needs:
        """Return the needs of worlds from replicas before the ceiling; infinite ones are served by no count."""
        served = replicas[np.isfinite(replicas)] if replicas.max(initial=0.0) == np.inf else replicas
        whole = np.ceil(served * (1 - _ROUNDING)).astype(np.int64)
        if whole.size == 0:
            return cls(whole, whole, replicas.size)
        low = int(whole.min())
        if int(whole.max()) - low < _MOST_COUNTED:
            worlds = np.bincount(whole - low)
            counts = np.flatnonzero(worlds)
            return cls(counts + low, np.cumsum(worlds[counts]), replicas.size)
        counts, worlds = np.unique(whole, return_counts=True)
        return cls(counts, np.cumsum(worlds), replicas.size)

    def enough_in(self, share: float) -> int | None:
        """Return the smallest count that is enough in this share of the worlds, None where none is."""
        wanted = math.ceil(share * self.world_count - _ROUNDING)
        place = int(np.searchsorted(self.worlds_up_to, wanted))
        return int(self.counts[place]) if place < self.counts.size else None

    def share_served_by(self, needed: int) -> float:
        """Return the share of worlds that need no more than this."""
        place = int(np.searchsorted(self.counts, needed, side="right"))
        return float(self.worlds_up_to[place - 1]) / self.world_count if place else 0.0

    @property
    def unserved(self) -> float:
        """Return the share of worlds that no count serves."""
        return 1.0 - (float(self.worlds_up_to[-1]) / self.world_count if self.counts.size else 0.0)

    def bars(self, counter: Counter) -> tuple[Bar, ...]:
        """Return the distribution; neighbouring counts share a bar where there are many."""
        counts, ends = self.counts, self.worlds_up_to
        if counts.size > MOST_BARS:
            edges = np.unique(np.ceil(np.linspace(counts[0], counts[-1], MOST_BARS + 1)[1:]).astype(np.int64))
            ends = ends[np.searchsorted(counts, edges, side="right") - 1]
            counts = edges
        found, before = [], 0
        for count, end in zip(counts.tolist(), ends.tolist(), strict=True):
            if end > before:
                found.append(Bar(count, *counter.of(count), (end - before) / self.world_count))
                before = end
        return tuple(found)


def at_shares(values: Floats, shares: Sequence[float]) -> list[float]:
    """Return the smallest value not exceeded in each share of the values; ``values``, in any order, are not empty."""
    places = [max(0, math.ceil(share * values.size - _ROUNDING) - 1) for share in shares]
    found: list[float] = np.partition(values, places)[places].tolist()
    return found

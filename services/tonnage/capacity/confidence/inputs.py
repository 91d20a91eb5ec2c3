"""What is unsure of the request itself, in logs around the stated figure: demand, reserve and the mix of sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tonnage.capacity.spread.published import EDGE
from tonnage.domain.confidence import RESERVE_RANGES, ConfidenceOptions, LikelyRange
from tonnage.domain.workload import BaseAndPeak
from tonnage.errors import InvalidInput, at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from tonnage.capacity.confidence.draws import Worlds
    from tonnage.domain.workload import Workload

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TwoSided:
    """A figure's factor at the low and high edge of its range, in logs, below and above 0: two half normals."""

    low: float
    high: float

    @classmethod
    def of(cls, found: LikelyRange, stated: float, above: float = 0.0) -> TwoSided:
        """Return the range around a stated figure; ``above`` is added to all three (1 for a reserve)."""
        center = math.log(above + stated)
        return cls(math.log(above + found.low) - center, math.log(above + found.high) - center)

    def drawn(self, z: Floats) -> Floats:
        """Return the log of the factor in each world."""
        return np.where(z > 0, z * (self.high / EDGE), z * (-self.low / EDGE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Demand, 1 + R and shares as stated, with what is unsure of each by the name of its column."""

    peak: float
    kept: float
    shares: tuple[float, ...]
    ranges: dict[str, TwoSided]
    share_deviations: tuple[float, ...]

    def needed(self, worlds: Worlds) -> Floats | float:
        """Return D_peak (1 + R) in each world, one number where nothing of it is unsure."""
        return self.peak * self.kept * self._factor(worlds, tuple(self.ranges))

    def demand(self, worlds: Worlds) -> Floats | float:
        """Return D_peak in each world, one number where nothing of it is unsure."""
        return self.peak * self._factor(worlds, [name for name in self.ranges if name.startswith("demand.")])

    @property
    def reserve_is_certain(self) -> bool:
        """Tell whether no part of the reserve has a range."""
        return not any(name.startswith("reserve.") for name in self.ranges)

    def _factor(self, worlds: Worlds, names: Sequence[str]) -> Floats | float:
        if not names:
            return 1.0
        moved: Floats = np.sum([self.ranges[name].drawn(worlds.column(name)) for name in names], axis=0)
        return np.asarray(np.exp(moved))

    def drawn_shares(self, worlds: Worlds) -> Sequence[Floats | float]:
        """Return the share of each bucket in each world; they sum to 1."""
        if not self.share_deviations:
            return self.shares
        tilted = [
            share * np.exp(deviation * worlds.tilt(place))
            for place, (share, deviation) in enumerate(zip(self.shares, self.share_deviations, strict=True))
        ]
        total = np.sum(tilted, axis=0)
        return [item / total for item in tilted]

    def tilted_shares(self, costly: int, z: float) -> tuple[float, ...]:
        """Return the shares with one bucket's moved by ``z`` deviations, the others in proportion."""
        moved = self.shares[costly] * math.exp(self.share_deviations[costly] * z)
        raw = [moved if place == costly else share for place, share in enumerate(self.shares)]
        return tuple(item / math.fsum(raw) for item in raw)


def inputs_of(workload: Workload, options: ConfidenceOptions, peak: Fraction, reserve_ratio: float) -> Inputs:
    """Return what is unsure of a request.

    Raises ``InvalidInput`` for a range that does not hold its figure, or of a figure that is not stated.
    """
    shares = tuple(bucket.share for bucket in workload.buckets)
    return Inputs(
        peak=float(peak),
        kept=1.0 + reserve_ratio,
        shares=shares,
        ranges={**dict(_demand(workload, options, float(peak))), **dict(_reserve(workload, options))},
        share_deviations=_deviations(shares, options.share_sample_count),
    )


def _deviations(shares: Sequence[float], count: int | None) -> tuple[float, ...]:
    """Return the deviation of ln of a share counted over n requests, sqrt((1 - p) / (n p)); empty when certain."""
    if count is None or len(shares) < 2:  # noqa: PLR2004 -- one share is 1
        return ()
    return tuple(math.sqrt((1 - share) / (count * share)) for share in shares)


def _demand(workload: Workload, options: ConfidenceOptions, peak: float) -> Iterator[tuple[str, TwoSided]]:
    demand = workload.demand
    for name, column in (("base_requests_per_s", "demand.base"), ("peak_factor", "demand.peak_factor")):
        found: LikelyRange | None = getattr(options, name)
        if found is None:
            continue
        with at(f"confidence.{name}"):
            if not isinstance(demand, BaseAndPeak):
                raise InvalidInput.field("", None, "is of a figure the demand does not state", _PEAK_CURE)
            stated = getattr(demand, name)
            found.holds("", stated)
        if stated > 0:
            yield column, TwoSided.of(found, stated)
    if options.peak_requests_per_s is not None:
        with at("confidence.peak_requests_per_s"):
            options.peak_requests_per_s.holds("", peak)
        yield "demand.peak", TwoSided.of(options.peak_requests_per_s, peak)


_PEAK_CURE = "give confidence.peak_requests_per_s, or the demand as base_and_peak"


def _reserve(workload: Workload, options: ConfidenceOptions) -> Iterator[tuple[str, TwoSided]]:
    stated = {name: part.ratio for name, part in workload.reserve.parts()}
    for name in RESERVE_RANGES:
        found: LikelyRange | None = getattr(options, name)
        if found is None:
            continue
        with at(f"confidence.{name}"):
            if name not in stated:
                raise InvalidInput.field("", None, "is of a part the reserve does not state", "state the part itself")
            found.holds("", stated[name])
        yield f"reserve.{name}", TwoSided.of(found, stated[name], above=1.0)

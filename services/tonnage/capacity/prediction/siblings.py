"""How like curves bend where one was not measured: other sizes, counts, versions and accelerators of the same model."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.capacity.prediction.samples import SAME_LOAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.prediction.samples import Line, Traits

_REACH: Final = 0.5
"""Distance over which a sibling's word loses weight to 1/e."""
_FARTHEST: Final = 4.0
"""A sibling farther than this has under 1/1000 of a near one's weight, and is not asked."""
_LEAST_LOADS: Final = 3
_SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Bend:
    """A weighted mean of departures from the straight line in logs; ``weight`` 0 says that no sibling was found."""

    value: float
    weight: float
    nearness: float


_NONE: Final = Bend(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Sibling:
    """A curve of the same model and arrival kind: how unlike its setting is, and whether it may be the same one."""

    line: Line
    distance: float
    may_be_same: bool


def siblings_of(line: Line, others: Sequence[Line]) -> tuple[Sibling, ...]:
    """Return what may tell of a line's bends, the nearest first; ``others`` are lines of its metric and model."""
    found = [
        Sibling(
            other,
            setting_distance(line.traits, other.traits),
            line.traits.may_equal(other.traits) and line.traits.may_equal_lengths(other.traits),
        )
        for other in others
        if other.curve != line.curve
        and other.traits.arrival == line.traits.arrival
        and len(other.places) >= _LEAST_LOADS
    ]
    found.sort(key=lambda item: (item.distance, item.line.curve))
    return tuple(item for item in found if item.distance <= _FARTHEST)


def bend_of_siblings(siblings: Sequence[Sibling], log_load: float, ends: tuple[float, float], slope: float) -> Bend:
    """Return how siblings bend at a load between two others.

    A sibling counts where it spans both ends and was measured between them; the nearer its setting and its own slope,
    the more. What may be the same measurement as the one asked for is left out of it.
    """
    weights, bends, nearest = 0.0, 0.0, math.inf
    low, high = ends
    for sibling in siblings:
        x, y = sibling.line.places, sibling.line.heights
        if x[0] > low + _SLACK or x[-1] < high - _SLACK:
            continue
        if sibling.may_be_same:
            kept = [place for place, load in enumerate(x) if abs(load - log_load) > SAME_LOAD]
            x, y = tuple(x[place] for place in kept), tuple(y[place] for place in kept)
        first, last = bisect_right(x, low + _SLACK), bisect_left(x, high - _SLACK)
        if first >= last:
            continue
        at_low, at_high = _height(x, y, low), _height(x, y, high)
        other_slope = (at_high - at_low) / (high - low)
        bend = _height(x, y, log_load) - at_low - other_slope * (log_load - low)
        far = sibling.distance + 0.3 * min(abs(load - log_load) for load in x[first:last])
        far += 2.0 * abs(other_slope - slope)
        weight = math.exp(-far / _REACH)
        weights, bends, nearest = weights + weight, bends + weight * bend, min(nearest, far)
    return _NONE if weights == 0.0 else Bend(bends / weights, weights, math.exp(-nearest))


def _height(x: Sequence[float], y: Sequence[float], place: float) -> float:
    """Return the height at a place by straight lines, within the ends."""
    after = bisect_right(x, place)
    if after == 0:
        return y[0]
    if after == len(x):
        return y[-1]
    share = (place - x[after - 1]) / (x[after] - x[after - 1])
    return y[after - 1] + share * (y[after] - y[after - 1])


def setting_distance(one: Traits, other: Traits) -> float:
    """Return how unlike two settings are: logs of length and count ratios, and a toll for each difference of kind."""
    far = 0.0
    for mine, theirs, toll in (
        (one.input_tokens, other.input_tokens, 1.0),
        (one.output_tokens, other.output_tokens, 1.0),
        (one.accelerator_count, other.accelerator_count, 0.7),
    ):
        if mine is not None and theirs is not None:
            far += toll * abs(math.log(mine / theirs))
    far += 1.0 * (one.variant != other.variant)
    far += 0.7 * (one.engine != other.engine) + 0.7 * (one.precision != other.precision)
    far += 0.6 * (one.accelerator != other.accelerator)
    return far + 0.3 * (one.configuration != other.configuration)

"""One load between two measured ones: what the simple lines say, and how the curve bends beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity.prediction.shapes import Bracket
from tonnage.capacity.prediction.siblings import Bend, Sibling, bend_of_siblings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.prediction.samples import Array, Line

KNEE_ELASTICITY: Final = 0.5
_HALF_TRUST: Final = 0.3
"""Weight of siblings at which they count half."""


@dataclass(frozen=True, slots=True)
class Between:
    """A load between two measured ones, as numbers a blend is fitted on.

    ``base`` is the straight line in logs; ``features`` are departures from it in logs, each the opinion of one
    simple rule; ``spread_features`` tell how sure the place is. ``span`` and ``rise`` are the logs of the ratio of
    the two loads and of the two figures.
    """

    base: float
    features: Array
    spread_features: Array
    span: float
    rise: float


def between(line: Line, log_load: float, siblings: Sequence[Sibling], *, rate: bool) -> Between | None:
    """Return the case of one load of a line that holds it no more, or None where no load lies on both sides.

    Siblings that may hold the same measurement lose that load.
    """
    own = line.without(log_load)
    high = int(np.searchsorted(own.loads, log_load))
    if high in (0, len(own.loads)):
        return None
    x, y, low = own.loads, own.values, high - 1
    span, rise = float(x[high] - x[low]), float(y[high] - y[low])
    share = float(log_load - x[low]) / span
    base = float(y[low]) + share * rise
    bracket = Bracket(math.exp(x[low]), math.exp(y[low]), math.exp(x[high]), math.exp(y[high]))
    load = math.exp(log_load)
    straight = (bracket.in_service_time(load) if rate else bracket.in_loads(load)) - base
    linear_share = (load - bracket.low_load) / (bracket.high_load - bracket.low_load)
    outer = _outer_bends(own, low, high, share)
    bend = bend_of_siblings(siblings, log_load, (float(x[low]), float(x[high])), rise / span)
    arch = share * (1 - share) * span
    shapes = np.array([(linear_share - share) * rise, arch, arch * rise / span])
    return Between(
        base=base,
        features=_by_steepness(
            np.concatenate((shapes, _by_sides(straight, outer), _of_siblings(straight, bend))), rise / span
        ),
        spread_features=_spread(span, rise, share, outer, bend),
        span=span,
        rise=rise,
    )


def _outer_bends(own: Line, low: int, high: int, share: float) -> tuple[float | None, float | None]:
    """Return what a cubic with the slopes of the steps outside the bracket adds, from each side, where there is one."""
    x, y = own.loads, own.values
    span = float(x[high] - x[low])
    slope = float(y[high] - y[low]) / span
    left = right = None
    if low > 0:
        outer = float(y[low] - y[low - 1]) / float(x[low] - x[low - 1])
        left = share * (1 - share) ** 2 * span * (outer - slope)
    if high < len(x) - 1:
        outer = float(y[high + 1] - y[high]) / float(x[high + 1] - x[high])
        right = -(share**2) * (1 - share) * span * (outer - slope)
    return left, right


def _by_steepness(opinions: Array, slope: float) -> Array:
    """Return opinions apart for flat and for steep steps: before and behind the knee figures bend by other laws."""
    flat = slope < KNEE_ELASTICITY
    return np.concatenate((opinions * flat, opinions * (not flat)))


def _by_sides(straight: float, outer: tuple[float | None, float | None]) -> Array:
    """Return the straight line's and the cubics' departures, apart for each set of known outer steps."""
    left, right = outer
    sides = (left is not None) * 2 + (right is not None)
    opinions = [straight * (sides == which) for which in range(4)]
    opinions += [(left or 0.0) * (sides == which) for which in (2, 3)]
    return np.array(opinions + [(right or 0.0) * (sides == which) for which in (1, 3)])


def _of_siblings(straight: float, bend: Bend) -> Array:
    trust = bend.weight / (bend.weight + _HALF_TRUST)
    opinions = (bend.value * trust, straight * trust)
    return np.array([*opinions, *(item * bend.nearness for item in opinions)])


def _spread(span: float, rise: float, share: float, outer: tuple[float | None, float | None], bend: Bend) -> Array:
    return np.array(
        [
            1.0,
            math.log(max(span, 0.05)),
            min(abs(rise), 4.0),
            math.log(0.02 + abs(rise)),
            share * (1 - share),
            float(outer[0] is not None),
            float(outer[1] is not None),
            bend.weight / (bend.weight + _HALF_TRUST),
            bend.nearness,
        ]
    )

"""How like curves bend where one was not measured: other sizes, counts, versions and accelerators of the same model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.prediction.samples import Line, Traits

_REACH: Final = 0.5
"""Distance over which a sibling's word loses weight to 1/e."""
_LEAST_LOADS: Final = 3
_SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Bend:
    """A weighted mean of departures from the straight line in logs; ``weight`` 0 says that no sibling was found."""

    value: float
    weight: float
    nearness: float


_NONE: Final = Bend(0.0, 0.0, 0.0)


def bend_of_siblings(
    line: Line, log_load: float, ends: tuple[float, float], slope: float, others: Sequence[Line]
) -> Bend:
    """Return how siblings bend at a load between two others.

    A sibling counts where it spans both ends and was measured between them; the nearer its setting and its own slope,
    the more. What may be the same measurement as the one asked for is left out of it.
    """
    weights, bends, nearest = 0.0, 0.0, math.inf
    low, high = ends
    for other in others:
        if other.curve == line.curve or other.traits.arrival != line.traits.arrival:
            continue
        own = other.without_equals(line.traits, log_load)
        x, y = own.loads, own.values
        if len(x) < _LEAST_LOADS or x[0] > low + _SLACK or x[-1] < high - _SLACK:
            continue
        inside = x[(x > low + _SLACK) & (x < high - _SLACK)]
        if not len(inside):
            continue
        at = np.interp((low, log_load, high), x, y)
        other_slope = float(at[2] - at[0]) / (high - low)
        bend = float(at[1]) - float(at[0]) - other_slope * (log_load - low)
        far = setting_distance(line.traits, other.traits)
        far += 0.3 * float(np.min(np.abs(inside - log_load))) + 2.0 * abs(other_slope - slope)
        weight = math.exp(-far / _REACH)
        weights, bends, nearest = weights + weight, bends + weight * bend, min(nearest, far)
    return _NONE if weights == 0.0 else Bend(bends / weights, weights, math.exp(-nearest))


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

"""Other request sizes of the same configuration at the same load: what a straight line between them says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity.prediction.samples import EQUAL_LENGTHS, SAME_LOAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.prediction.samples import Line, Traits

FARTHEST: Final = 8.5
"""Nothing is predicted for a length more than this many times any measured one of the configuration, either way."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One measured size at the load asked for: its traits, and the log of its figure."""

    traits: Traits
    value: float


def own_grid(traits: Traits, lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return the curves of the same configuration and variant at other stated lengths."""
    return tuple(
        line
        for line in lines
        if line.traits.configuration == traits.configuration
        and line.traits.variant == traits.variant
        and line.traits.arrival == traits.arrival
        and line.traits.input_tokens is not None
        and line.traits.output_tokens is not None
        and not line.traits.may_equal_lengths(traits)
    )


def apart(one: Traits, other: Traits) -> float:
    """Return the larger length ratio of two settings, at least 1; infinite where a length is unstated."""
    far = 1.0
    for mine, theirs in ((one.input_tokens, other.input_tokens), (one.output_tokens, other.output_tokens)):
        if mine is None or theirs is None:
            return math.inf
        far = max(far, mine / theirs, theirs / mine)
    return far


def at_load(lines: Sequence[Line], log_load: float) -> tuple[Neighbour, ...]:
    """Return the sizes that were measured at a load."""
    found = []
    for line in lines:
        place = int(np.argmin(np.abs(line.loads - log_load)))
        if abs(float(line.loads[place]) - log_load) <= SAME_LOAD:
            found.append(Neighbour(line.traits, float(line.values[place])))
    return tuple(found)


def both_sides(traits: Traits, found: Sequence[Neighbour]) -> tuple[Neighbour, Neighbour] | None:
    """Return the nearest shorter and longer inputs of the same output length, of the same build where there is one."""
    given, out = traits.input_tokens, traits.output_tokens
    if given is None or out is None:
        return None

    def nearest(item: Neighbour) -> tuple[float, bool, float]:
        return abs(math.log(_given(item) / given)), item.traits.build != traits.build, item.value

    alike = [item for item in found if _alike(item.traits.output_tokens, out)]
    shorter = [item for item in alike if _given(item) * EQUAL_LENGTHS < given]
    longer = [item for item in alike if _given(item) > given * EQUAL_LENGTHS]
    return (min(shorter, key=nearest), min(longer, key=nearest)) if shorter and longer else None


def _alike(one: float | None, other: float) -> bool:
    return one is not None and max(one, other) <= EQUAL_LENGTHS * min(one, other)


def _given(item: Neighbour) -> float:
    return item.traits.input_tokens or math.nan


def straight_line(traits: Traits, sides: tuple[Neighbour, Neighbour], *, rate: bool) -> float:
    """Return the log of the figure by a line straight in the input: of a latency itself, of a rate its inverse."""
    given = traits.input_tokens or math.nan
    low, high = (_given(item) for item in sides)
    part = (given - low) / (high - low)
    sign = -1.0 if rate else 1.0
    shorter, longer = (math.exp(sign * item.value) for item in sides)
    return sign * math.log((1 - part) * shorter + part * longer)

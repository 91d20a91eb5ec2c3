"""What predictions are made from: figures with the traits of their curve, as lines over the log of the load."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

EQUAL_LENGTHS: Final = 1.05
"""Lengths within a twentieth are the same lengths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What identifies the setting of a curve; "" and None are not stated.

    ``configuration`` holds the stated fields in a fixed order; ``variant`` what changes the shape beside them
    (aggregated or split serving, kind of speculation); ``build`` who measured it with which engine version;
    ``arrival`` is "closed" or "open". Lengths are mean tokens.
    """

    model: str
    configuration: tuple[str, ...]
    precision: str
    accelerator: str
    engine: str
    accelerator_count: float | None
    variant: tuple[str, ...]
    build: str
    arrival: str
    input_tokens: float | None
    output_tokens: float | None

    def may_equal(self, other: Traits) -> bool:
        """Tell whether two curves may be of one configuration: no field that both state differs."""
        if self.model != other.model:
            return False
        pairs = zip(self.configuration, other.configuration, strict=True)
        return all(mine == theirs or not mine or not theirs for mine, theirs in pairs)

    def may_equal_lengths(self, other: Traits) -> bool:
        """Tell whether the lengths are the same within a twentieth; an unstated one may be."""
        return _near(self.input_tokens, other.input_tokens) and _near(self.output_tokens, other.output_tokens)


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return True
    return max(one, other) <= EQUAL_LENGTHS * min(one, other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One measured figure of one metric at one load; ``value`` is above 0."""

    curve: str
    traits: Traits
    load: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Line:
    """One metric along one curve: logs of the loads, ascending, and of the figures; repeats by their median."""

    curve: str
    traits: Traits
    loads: Array
    values: Array
    places: tuple[float, ...] = field(init=False)
    heights: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Keep loads and values as plain numbers too: a few are quicker that way."""
        object.__setattr__(self, "places", tuple(self.loads.tolist()))
        object.__setattr__(self, "heights", tuple(self.values.tolist()))

    def without(self, log_load: float) -> Line:
        """Return the line less one load."""
        kept = np.abs(self.loads - log_load) > SAME_LOAD
        return Line(curve=self.curve, traits=self.traits, loads=self.loads[kept], values=self.values[kept])


SAME_LOAD: Final = 1e-9
"""Logs of loads nearer than this are one load."""


def lines_of(samples: Iterable[Sample]) -> tuple[Line, ...]:
    """Return one line a curve and arrival kind, in order of name; the order of samples never matters."""
    grouped: defaultdict[tuple[str, str], defaultdict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    traits: dict[tuple[str, str], Traits] = {}
    for sample in samples:
        key = (sample.curve, sample.traits.arrival)
        grouped[key][sample.load].append(sample.value)
        traits.setdefault(key, sample.traits)
    lines = []
    for key in sorted(grouped):
        loads = sorted(grouped[key])
        lines.append(
            Line(
                curve=key[0],
                traits=traits[key],
                loads=np.log(np.array(loads)),
                values=np.array([math.log(median(grouped[key][load])) for load in loads]),
            )
        )
    return tuple(lines)

"""A random field over the settings of one model: load, lengths, counts; what is near and of a kind moves together.

Kriging (Gaussian-process regression): the log of a figure is a physical trend plus departures that are shared by all
settings, by those of one accelerator and engine, by one configuration, and by one curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.prediction.samples import Array, Line, Traits

Mask = npt.NDArray[np.bool_]

_UNSTATED_INPUT: Final = 500.0
_UNSTATED_OUTPUT: Final = 300.0
"""Stand in for lengths that a file does not state; such curves meet others only through their own configuration."""
_TREND_SD: Final = np.array([0.3, 0.1, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1])
_LEVEL_VARIANCE: Final = 25.0
_OTHER_VARIANT: Final = 0.4
"""Correlation of aggregated with split serving, of plain with speculative decoding."""
_COUNT_REACH: Final = 2.0


@dataclass(frozen=True, slots=True)
class Part:
    """One layer of departures: its variance, and the reach in logs of load, input and output."""

    variance: float
    load_reach: float
    input_reach: float
    output_reach: float


@dataclass(frozen=True, slots=True)
class Layers:
    """Variances and reaches, fitted on published sweeps by leaving buckets and points out."""

    everywhere: Part
    kind: Part
    configuration: Part
    bucket: Part
    curve_variance: float
    curve_reach: float
    noise_variance: float


DECODE_LAYERS: Final = Layers(
    everywhere=Part(0.6, 3.0, 3.0, 3.0),
    kind=Part(0.4, 3.0, 3.0, 6.0),
    configuration=Part(0.4, 4.0, 12.0, 12.0),
    bucket=Part(0.02, 4.0, 4.0, 4.0),
    curve_variance=0.02,
    curve_reach=1.0,
    noise_variance=3e-4,
)
"""For rates and times per output token."""
PREFILL_LAYERS: Final = Layers(
    everywhere=Part(0.6, 3.0, 6.0, 6.0),
    kind=Part(0.4, 3.0, 3.0, 6.0),
    configuration=Part(0.1, 4.0, 12.0, 6.0),
    bucket=Part(0.005, 6.0, 2.6, 2.6),
    curve_variance=0.02,
    curve_reach=1.0,
    noise_variance=4e-4,
)
"""For times to the first token."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where samples stand: logs of load, lengths and count, and codes of what they belong to (-1 is none known)."""

    load: Array
    given: Array
    out: Array
    count: Array
    codes: npt.NDArray[np.int64]

    def trend(self) -> Array:
        """Return what a physical trend is linear in: load, lengths, context held, prefill per output, and products."""
        context = np.log(np.exp(self.given) + np.exp(self.out) / 2)
        each = self.load - self.count
        prefill = self.given - self.out
        columns = (self.load, self.load**2 / 10, self.given, self.out, context, prefill)
        whole: Array = np.column_stack((*columns, each * (context - 8) / 3, each * prefill / 3)) * _TREND_SD
        return whole


_KIND, _CONFIGURATION, _CURVE, _VARIANT = range(4)


class Codes:
    """Numbers for names, the same name always the same number."""

    def __init__(self) -> None:
        self._known: dict[object, int] = {}

    def places(self, line_traits: Traits, curve: str, log_loads: Array) -> Places:
        """Return the places of some loads of one curve."""
        names = (
            (line_traits.accelerator, line_traits.engine, line_traits.arrival),
            ("configuration", *line_traits.configuration),
            ("curve", curve, line_traits.arrival),
            ("variant", *line_traits.variant),
        )
        codes = [self._known.setdefault(name, len(self._known)) for name in names]
        size = len(log_loads)
        return Places(
            load=log_loads,
            given=np.full(size, math.log(line_traits.input_tokens or _UNSTATED_INPUT)),
            out=np.full(size, math.log(line_traits.output_tokens or _UNSTATED_OUTPUT)),
            count=np.full(size, math.log(line_traits.accelerator_count or 1.0)),
            codes=np.tile(np.array(codes, dtype=np.int64), (size, 1)),
        )


def joined(parts: Sequence[Places]) -> Places:
    """Return all places in one."""
    return Places(
        load=np.concatenate([part.load for part in parts]),
        given=np.concatenate([part.given for part in parts]),
        out=np.concatenate([part.out for part in parts]),
        count=np.concatenate([part.count for part in parts]),
        codes=np.concatenate([part.codes for part in parts]),
    )


def covariance(one: Places, other: Places, layers: Layers) -> Array:
    """Return how the logs of figures at two sets of places move together."""

    def apart(mine: Array, theirs: Array) -> Array:
        return np.abs(mine[:, None] - theirs[None, :])

    def same(which: int) -> Array:
        return np.equal(one.codes[:, None, which], other.codes[None, :, which]).astype(np.float64)

    load, count = apart(one.load, other.load), apart(one.count, other.count)
    each = apart(one.load - one.count, other.load - other.count)
    given, out = apart(one.given, other.given), apart(one.out, other.out)
    variant = _OTHER_VARIANT + (1 - _OTHER_VARIANT) * same(_VARIANT)
    counted = np.exp(-count / _COUNT_REACH) * variant

    def layer(part: Part, loads: Array) -> Array:
        return (
            part.variance
            * _smooth(loads, part.load_reach)
            * _smooth(given, part.input_reach)
            * _smooth(out, part.output_reach)
        )

    own = same(_CONFIGURATION) * variant
    bucket = layers.bucket
    near = np.exp(-given / bucket.input_reach - out / bucket.output_reach)
    curve = layers.curve_variance * same(_CURVE)
    found = layer(layers.everywhere, each) * counted + layer(layers.kind, each) * counted * same(_KIND)
    found += layer(layers.configuration, load) * own
    found += bucket.variance * _smooth(load, bucket.load_reach) * near * own
    found += curve * (1 + _smooth(load, layers.curve_reach))
    found += _LEVEL_VARIANCE + one.trend() @ other.trend().T
    return found


def _smooth(distance: Array, reach: float) -> Array:
    """Return the Matern correlation of smoothness 3/2."""
    scaled = distance * (math.sqrt(3.0) / reach)
    return (1.0 + scaled) * np.exp(-scaled)


class Field:
    """All curves of one metric of one model; predicts with any of its samples taken out."""

    def __init__(self, lines: Sequence[Line], layers: Layers, offset: Offset) -> None:
        self.lines = tuple(lines)
        self._layers, self._offset, self._codes = layers, offset, Codes()
        parts = [self._codes.places(line.traits, line.curve, line.loads) for line in self.lines]
        self._places = joined(parts)
        self._owner = np.repeat(np.arange(len(parts)), [len(part.load) for part in parts])
        values = np.concatenate([line.values for line in self.lines]) - offset.of(self._places)
        whole = covariance(self._places, self._places, layers)
        whole[np.diag_indices(len(values))] += layers.noise_variance
        self._inverse = np.linalg.inv(whole)
        self._weights = self._inverse @ values

    def samples_of(self, lines: Sequence[bool]) -> Mask:
        """Return the mask of samples that belong to the chosen lines."""
        return np.asarray(lines, dtype=np.bool_)[self._owner]

    def predict(self, traits: Traits, curve: str, log_loads: Array, taken_out: Mask) -> tuple[Array, Array]:
        """Return means and standard deviations of the logs of the figures at some loads of one curve.

        ``taken_out`` are samples the prediction must not know; what remains answers, by the inverse of the part.
        """
        asked = self._codes.places(traits, curve, log_loads)
        cross = covariance(asked, self._places, self._layers)
        cross[:, taken_out] = 0.0
        weights, solved = self._weights, cross @ self._inverse
        if taken_out.any():
            gone = np.flatnonzero(taken_out)
            across = np.linalg.solve(self._inverse[np.ix_(gone, gone)], self._inverse[gone])
            weights = weights - across.T @ weights[gone]
            solved = solved - solved[:, gone] @ across
        mean = cross @ weights + self._offset.of(asked)
        own = np.diag(covariance(asked, asked, self._layers)) + self._layers.noise_variance
        left = own - np.einsum("ij,ij->i", cross, solved)
        return mean, np.sqrt(np.maximum(left, self._layers.noise_variance))


@dataclass(frozen=True, slots=True)
class Offset:
    """What is taken off the logs first: powers of the load and of the input."""

    load_power: float = 0.0
    input_power: float = 0.0

    def of(self, places: Places) -> Array:
        """Return the offset at some places."""
        return self.load_power * places.load + self.input_power * places.given

"""Figures at loads between two measured ones, each with a nominal 90 % interval, or refused where that says nothing."""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity.prediction.between import Between, between
from tonnage.capacity.prediction.blend import LEAST_CASES, Blend, fit
from tonnage.capacity.prediction.samples import Line, lines_of
from tonnage.capacity.prediction.siblings import Sibling, siblings_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tonnage.capacity.prediction.samples import Sample, Traits

FOLDS: Final = 5
_SMOOTHING: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A predicted figure and its nominal 90 % interval.

    ``both_sides`` tells that request sizes on both sides, with the same output length, were measured at its load.
    """

    value: float
    low: float
    high: float
    both_sides: bool = False

    @property
    def width_ratio(self) -> float:
        """Return (high - low) / value."""
        return (self.high - self.low) / self.value


def around(log_value: float, half_width: float, *, both_sides: bool = False) -> Prediction:
    """Return a prediction whose interval lies evenly in logs."""
    return Prediction(
        value=math.exp(log_value),
        low=math.exp(log_value - half_width),
        high=math.exp(log_value + half_width),
        both_sides=both_sides,
    )


@dataclass(frozen=True, slots=True)
class Refused:
    """No prediction, and why."""

    why: str


def fold_of(traits: Traits) -> int:
    """Return the fold a configuration is in; a blend that judges it has not seen its fold."""
    return zlib.crc32("|".join((traits.model, *traits.configuration)).encode()) % FOLDS


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPredictor:
    """One metric between measured loads; ``blends`` by fold left out."""

    rate: bool
    max_half_width: float
    lines: Mapping[tuple[str, str], Line]
    siblings: Mapping[tuple[str, str], Sequence[Sibling]]
    blends: Mapping[int, Blend]

    @classmethod
    def fitted(cls, samples: Sequence[Sample], *, rate: bool, max_half_width: float) -> LoadPredictor:
        """Return the predictor calibrated on every interior load of the samples' own lines."""
        lines = lines_of(samples)
        by_model: defaultdict[str, list[Line]] = defaultdict(list)
        for line in lines:
            by_model[line.traits.model].append(line)
        siblings = {_key(line): siblings_of(line, by_model[line.traits.model]) for line in lines}
        cases, wanted, folds = [], [], []
        for line in lines:
            for log_load, value in zip(line.places[1:-1], line.heights[1:-1], strict=True):
                case = between(line, log_load, siblings[_key(line)], rate=rate)
                if case is not None:
                    cases.append(case)
                    wanted.append(value - case.base)
                    folds.append(fold_of(line.traits))
        return cls(
            rate=rate,
            max_half_width=max_half_width,
            lines={_key(line): line for line in lines},
            siblings=siblings,
            blends=_blends(cases, np.array(wanted), np.array(folds)),
        )

    def predict(self, curve: str, traits: Traits, load: float) -> Prediction | Refused | None:
        """Return the figure of a curve at a load as if it had not been measured; None where it is not between two."""
        line = self.lines.get((curve, traits.arrival))
        if line is None or not load > 0:
            return None
        case = between(line, math.log(load), self.siblings[_key(line)], rate=self.rate)
        if case is None:
            return None
        blend = self.blends.get(fold_of(traits))
        if blend is None:
            return Refused("too few measured curves to know how far a prediction is off")
        half = blend.half_width(case.spread_features)
        if half > self.max_half_width:
            return Refused(
                f"loads {math.exp(case.span):.3g} times apart, figures {math.exp(abs(case.rise)):.3g} times: "
                f"an interval of x{math.exp(half):.3g} either way says too little"
            )
        return around(case.base + blend.value(case.features), half)


def _key(line: Line) -> tuple[str, str]:
    return line.curve, line.traits.arrival


def _blends(cases: Sequence[Between], wanted: np.ndarray, folds: np.ndarray) -> dict[int, Blend]:
    """Return for each fold the blend of all others, where they hold enough cases."""
    if not cases:
        return {}
    features = np.array([case.features for case in cases])
    spread = np.array([case.spread_features for case in cases])
    found = {}
    for fold in range(FOLDS):
        rest = folds != fold
        if int(rest.sum()) >= LEAST_CASES:
            found[fold] = fit(features[rest], spread[rest], wanted[rest], folds[rest], _SMOOTHING)
    return found

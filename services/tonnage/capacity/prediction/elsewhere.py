"""Figures of request sizes and configurations that were not measured, each with a nominal 90 % interval, or refused."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity.prediction.blend import LEAST_CASES, Blend, fit
from tonnage.capacity.prediction.field import Field, Layers, Offset
from tonnage.capacity.prediction.loads import FOLDS, Prediction, Refused, around, fold_of
from tonnage.capacity.prediction.neighbours import FARTHEST, apart, at_load, both_sides, own_grid, straight_line
from tonnage.capacity.prediction.samples import Line, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.capacity.prediction.samples import Array, Sample, Traits

_SMOOTHING: Final = 0.01
_PLAIN: Final = frozenset({"", "agg", "none", "unknown"})


class Unseen(StrEnum):
    """What of a point was not measured."""

    LENGTHS = "lengths"
    CONFIGURATION = "configuration"


@dataclass(frozen=True, slots=True)
class Case:
    """One point of a setting that was not measured: the log of what is said, and what tells its spread.

    ``between`` tells that sizes with a shorter and a longer input and the same output were measured at its load.
    """

    what: Unseen
    base: float
    spread_features: Array
    between: bool


@dataclass(slots=True)
class ElsewherePredictor:
    """One metric at settings that were not measured; calibrated on the samples' own settings, each left out in turn."""

    layers: Layers
    offset: Offset
    max_half_width: float
    fields: dict[str, Field]
    blends: dict[tuple[Unseen, int], Blend] = field(default_factory=dict)
    calibrated: set[Unseen] = field(default_factory=set)

    @classmethod
    def fitted(
        cls, samples: Sequence[Sample], layers: Layers, offset: Offset, max_half_width: float
    ) -> ElsewherePredictor:
        """Return the predictor; one field a model. What is asked is calibrated when it is first asked."""
        by_model: dict[str, list[Line]] = {}
        for line in lines_of(samples):
            by_model.setdefault(line.traits.model, []).append(line)
        fields = {model: Field(lines, layers, offset) for model, lines in by_model.items()}
        return cls(layers, offset, max_half_width, fields)

    def predict(
        self, curve: str, traits: Traits, loads: Sequence[float], *, new_configuration: bool
    ) -> list[Prediction | Refused]:
        """Return figures of a curve as if its request size, or its whole configuration, had not been measured."""
        what = Unseen.CONFIGURATION if new_configuration else Unseen.LENGTHS
        if what not in self.calibrated:
            self.blends.update(self._calibrated(what))
            self.calibrated.add(what)
        cases = self.cases(curve, traits, np.log(np.array(loads)), new_configuration=new_configuration)
        fold = fold_of(traits)
        return [case if isinstance(case, Refused) else self._judged(case, fold) for case in cases]

    def _judged(self, case: Case, fold: int) -> Prediction | Refused:
        blend = self.blends.get((case.what, fold))
        if blend is None:
            return Refused("too few measured settings to know how far a prediction is off")
        half = blend.half_width(case.spread_features)
        if half > self.max_half_width:
            return Refused(f"an interval of x{math.exp(half):.3g} either way says too little")
        return around(case.base, half, both_sides=case.between)

    def cases(
        self, curve: str, traits: Traits, log_loads: Array, *, new_configuration: bool
    ) -> Iterable[Case | Refused]:
        """Yield the case of each load, or why there is none."""
        model = self.fields.get(traits.model)
        if model is None:
            yield from (Refused(f"no measured run is of {traits.model}") for _ in log_loads)
            return
        gone = [
            line.traits.may_equal(traits) and (new_configuration or line.traits.may_equal_lengths(traits))
            for line in model.lines
        ]
        kept = [line for line, out in zip(model.lines, gone, strict=True) if not out]
        why, near = _supported(traits, kept, new_configuration=new_configuration)
        if why:
            yield from (Refused(why) for _ in log_loads)
            return
        means, spreads = model.predict(traits, f"{curve} unseen", log_loads, model.samples_of(gone))
        new = new_configuration
        for log_load, mean, spread in zip(log_loads.tolist(), means.tolist(), spreads.tolist(), strict=True):
            outside = _outside(log_load, near)
            rate = self.offset.load_power > 0
            yield Refused(outside) if outside else _case(traits, log_load, (mean, spread), near, rate=rate, new=new)

    def _calibrated(self, what: Unseen) -> dict[tuple[Unseen, int], Blend]:
        items: list[tuple[Case, float, int]] = []
        new = what is Unseen.CONFIGURATION
        for model in self.fields.values():
            for line in model.lines:
                cases = self.cases(line.curve, line.traits, line.loads, new_configuration=new)
                for case, value in zip(cases, line.heights, strict=True):
                    if isinstance(case, Case):
                        items.append((case, value - case.base, fold_of(line.traits)))
        folds = np.array([fold for _, _, fold in items])
        found = {}
        for fold in range(FOLDS):
            rest = [item for item in items if item[2] != fold]
            if len(rest) >= LEAST_CASES:
                found[what, fold] = _fit(rest, folds[folds != fold])
        return found


def _fit(items: Sequence[tuple[Case, float, int]], folds: np.ndarray) -> Blend:
    return fit(
        np.zeros((len(items), 1)),
        np.array([case.spread_features for case, _, _ in items]),
        np.array([wanted for _, wanted, _ in items]),
        folds,
        _SMOOTHING,
    )


def _supported(traits: Traits, kept: Sequence[Line], *, new_configuration: bool) -> tuple[str, tuple[Line, ...]]:
    """Return why nothing is predicted ("" where something is) and the curves it stands on."""
    if traits.input_tokens is None or traits.output_tokens is None:
        return "its mean lengths are not stated", ()
    if new_configuration:
        return _like_configuration(traits, kept)
    grid = own_grid(traits, kept)
    if not grid:
        return "no other request size of this configuration is measured", ()
    nearest = min(apart(traits, line.traits) for line in grid)
    if nearest > FARTHEST:
        return f"the nearest measured lengths are {nearest:.3g} times apart; the limit is {FARTHEST:g}", ()
    return "", grid


def _like_configuration(traits: Traits, kept: Sequence[Line]) -> tuple[str, tuple[Line, ...]]:
    """Return the curves of the same model, accelerator, engine and precision on other counts or splits."""
    if any(item not in _PLAIN for item in traits.variant):
        return "speculative decoding and split serving are never predicted from other configurations", ()
    near = tuple(
        line
        for line in kept
        if (line.traits.accelerator, line.traits.engine, line.traits.precision, line.traits.variant)
        == (traits.accelerator, traits.engine, traits.precision, traits.variant)
        and line.traits.arrival == traits.arrival
        and apart(traits, line.traits) <= EQUAL
    )
    if not near:
        return "no configuration of this model, accelerator, engine and precision is measured at these lengths", ()
    return "", near


EQUAL: Final = 1.1


def _outside(log_load: float, near: Sequence[Line]) -> str:
    low = min(float(line.loads[0]) for line in near)
    high = max(float(line.loads[-1]) for line in near)
    if low - 1e-9 <= log_load <= high + 1e-9:
        return ""
    return f"the load is outside {math.exp(low):.3g} to {math.exp(high):.3g}, where like settings are measured"


def _case(
    traits: Traits, log_load: float, said: tuple[float, float], near: Sequence[Line], *, rate: bool, new: bool
) -> Case:
    """Return the field's word, halfway to the straight line where sizes on both sides were measured at the load."""
    mean, spread = said
    found = at_load(near, log_load)
    sides = None if new else both_sides(traits, found)
    if sides is not None:
        mean = (mean + straight_line(traits, sides, rate=rate)) / 2
    nearest = min(apart(traits, line.traits) for line in near)
    each = log_load - math.log(traits.accelerator_count or 1.0)
    given, out = traits.input_tokens or 1.0, traits.output_tokens or 1.0
    spread_features = [1.0, math.log(spread), math.log(nearest), float(bool(found)), float(sides is not None)]
    return Case(
        what=Unseen.CONFIGURATION if new else Unseen.LENGTHS,
        base=mean,
        spread_features=np.array([*spread_features, each / 5.0, math.log(given / out) / 3.0]),
        between=sides is not None,
    )

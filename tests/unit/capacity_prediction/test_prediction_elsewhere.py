"""Predictions of request sizes and configurations that were not measured."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from builders_prediction import LOADS, SIZES, many_models, some_traits, tpot_ms, tpot_samples

from tonnage.capacity.prediction.elsewhere import Case, ElsewherePredictor
from tonnage.capacity.prediction.field import DECODE_LAYERS, Field, Offset
from tonnage.capacity.prediction.loads import Prediction, Refused
from tonnage.capacity.prediction.neighbours import at_load, both_sides, own_grid, straight_line
from tonnage.capacity.prediction.samples import Traits, lines_of


@pytest.fixture(scope="module")
def predictor() -> ElsewherePredictor:
    """Return one that knows six models at four sizes."""
    return ElsewherePredictor.fitted(many_models(), DECODE_LAYERS, Offset(), 0.6)


def said(predictor: ElsewherePredictor, traits: Traits, load: float = 16.0, *, new: bool = False) -> object:
    """Return what is said of one load."""
    return predictor.predict("asked", traits, [load], new_configuration=new)[0]


def test_another_size_is_met_within_a_twentieth(predictor: ElsewherePredictor) -> None:
    traits = some_traits("model-0", count=2, size=(1500.0, 512.0))
    found = said(predictor, traits)
    assert isinstance(found, Prediction)
    assert found.value == pytest.approx(tpot_ms(16.0, traits), rel=0.05)
    assert found.low < found.value < found.high


def test_a_size_between_two_of_the_same_output_says_so(predictor: ElsewherePredictor) -> None:
    between = said(predictor, some_traits("model-0", count=2, size=(1000.0, 256.0)))
    beside = said(predictor, some_traits("model-0", count=2, size=(1000.0, 512.0)))
    assert isinstance(between, Prediction)
    assert isinstance(beside, Prediction)
    assert (between.both_sides, beside.both_sides) == (True, False)


@pytest.mark.parametrize(
    ("traits", "load", "new", "why"),
    [
        (some_traits("model-0", size=(200000.0, 256.0)), 16.0, False, "times apart; the limit is 8.5"),
        (some_traits("model-0", size=(1500.0, 512.0)), 512.0, False, "the load is outside 1 to 256"),
        (some_traits("model-0", size=(None, 512.0)), 16.0, False, "lengths are not stated"),
        (some_traits("nobody", size=(1500.0, 512.0)), 16.0, False, "no measured run is of nobody"),
        (some_traits("model-0", count=16, size=(1500.0, 512.0)), 16.0, False, "no other request size"),
        (some_traits("model-0", variant=("agg", "mtp")), 16.0, True, "never predicted from other configurations"),
        (some_traits("model-0", variant=("agg", "mtp")), 16.0, False, "no other request size"),
    ],
)
def test_what_is_too_far_is_refused(
    predictor: ElsewherePredictor, traits: Traits, load: float, new: bool, why: str
) -> None:
    found = said(predictor, traits, load, new=new)
    assert isinstance(found, Refused)
    assert why in found.why


def test_another_count_is_wider_than_another_size(predictor: ElsewherePredictor) -> None:
    traits = some_traits("model-0", count=2)
    size, count = said(predictor, traits), said(predictor, traits, new=True)
    assert isinstance(size, Prediction)
    assert isinstance(count, Prediction | Refused)
    assert isinstance(count, Refused) or count.width_ratio > size.width_ratio


def test_taking_samples_out_is_as_if_they_had_never_been_there() -> None:
    lines = lines_of(many_models()[:60])
    whole, part = Field(lines, DECODE_LAYERS, Offset()), Field(lines[3:], DECODE_LAYERS, Offset())
    asked = lines[1]
    gone = whole.samples_of([place < 3 for place in range(len(lines))])
    with_out = whole.predict(asked.traits, "asked", asked.loads, gone)
    without = part.predict(asked.traits, "asked", asked.loads, part.samples_of([False] * (len(lines) - 3)))
    assert with_out[1] == pytest.approx(without[1], rel=1e-3)
    assert with_out[0] == pytest.approx(without[0], rel=1e-2)


def test_a_copy_of_what_is_asked_tells_nothing() -> None:
    asked = some_traits("model-0", count=2, size=SIZES[1])
    said = []
    for scale in (1.0, 40.0):
        copy = tpot_samples(asked, curve="copy", scale=scale)
        made = ElsewherePredictor.fitted([*many_models()[:60], *copy], DECODE_LAYERS, Offset(), 0.6)
        (case,) = made.cases("asked", asked, np.log(np.array([16.0])), new_configuration=False)
        said.append(case)
    assert isinstance(said[0], Case)
    assert isinstance(said[1], Case)
    assert said[0].base == pytest.approx(said[1].base, abs=1e-6)


def test_the_field_meets_what_it_knows_and_is_unsure_far_away() -> None:
    lines = lines_of(many_models()[:60])
    field = Field(lines, DECODE_LAYERS, Offset())
    nothing = field.samples_of([False] * len(lines))
    mean, near = field.predict(lines[0].traits, lines[0].curve, lines[0].loads, nothing)
    assert mean == pytest.approx(lines[0].values, abs=0.03)
    far = some_traits(lines[0].traits.model, count=64, size=(65536.0, 16.0))
    assert field.predict(far, "far", np.log(np.array(LOADS)), nothing)[1].min() > 5 * near.max()


def test_a_law_straight_in_the_input_is_met_by_the_straight_line() -> None:
    lines = lines_of(
        [
            *tpot_samples(some_traits(size=(1000.0, 256.0)), curve="a"),
            *tpot_samples(some_traits(size=(3000.0, 256.0)), curve="b"),
        ]
    )
    traits = some_traits(size=(2000.0, 256.0))
    sides = both_sides(traits, at_load(own_grid(traits, lines), math.log(16.0)))
    assert sides is not None
    assert math.exp(straight_line(traits, sides, rate=False)) == pytest.approx(tpot_ms(16.0, traits))
    inverse = [replace(side, value=-side.value) for side in sides]
    assert straight_line(traits, (inverse[0], inverse[1]), rate=True) == pytest.approx(-math.log(tpot_ms(16.0, traits)))

"""Bends borrowed from like curves."""

from __future__ import annotations

import math

import pytest
from builders_prediction import some_traits, tpot_samples

from tonnage.capacity.prediction.samples import Line, lines_of
from tonnage.capacity.prediction.siblings import bend_of_siblings, setting_distance, siblings_of

LOW, MIDDLE, HIGH = (math.log(load) for load in (4.0, 16.0, 64.0))


def line_of(size: tuple[float, float], curve: str) -> Line:
    """Return one line of the law."""
    return lines_of(tpot_samples(some_traits(size=size), curve=curve))[0]


def test_a_sibling_of_another_size_bends_as_it_was_measured() -> None:
    own, other = line_of((1024.0, 1024.0), "own"), line_of((2048.0, 1024.0), "other")
    bend = bend_of_siblings(siblings_of(own, [own, other]), MIDDLE, (LOW, HIGH), 0.5)
    at = dict(zip(other.places, other.heights, strict=True))
    assert bend.value == pytest.approx(at[MIDDLE] - (at[LOW] + at[HIGH]) / 2)
    assert bend.weight > 0


def test_what_may_be_the_same_measurement_tells_nothing() -> None:
    own, copy = line_of((1024.0, 1024.0), "own"), line_of((1030.0, 1024.0), "copy")
    assert bend_of_siblings(siblings_of(own, [own, copy]), MIDDLE, (LOW, HIGH), 0.5).weight == 0.0


def test_a_curve_that_does_not_span_both_ends_tells_nothing() -> None:
    own = line_of((1024.0, 1024.0), "own")
    (short,) = lines_of(tpot_samples(some_traits(size=(2048.0, 1024.0)), (4.0, 16.0, 32.0), curve="short"))
    assert bend_of_siblings(siblings_of(own, [short]), MIDDLE, (LOW, HIGH), 0.5).weight == 0.0


def test_the_nearer_setting_is_the_nearer_one() -> None:
    own = some_traits()
    assert setting_distance(own, own) == 0.0
    assert setting_distance(own, some_traits(size=(2048.0, 1024.0))) < setting_distance(own, some_traits(count=8))
    assert setting_distance(own, some_traits(variant=("agg", "mtp"))) == 1.0

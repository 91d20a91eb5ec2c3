"""Samples and the lines made of them."""

from __future__ import annotations

import math
from dataclasses import replace

from builders_prediction import some_traits, tpot_samples

from tonnage.capacity.prediction.samples import lines_of


def test_repeats_of_a_load_become_their_median() -> None:
    traits = some_traits()
    samples = [sample for scale in (1.0, 3.0, 2.0) for sample in tpot_samples(traits, [4.0], scale=scale)]
    (line,) = lines_of(samples)
    assert line.heights == (math.log(samples[2].value),)


def test_the_order_of_samples_never_matters() -> None:
    samples = tpot_samples(some_traits())
    (one,), (other,) = lines_of(samples), lines_of(samples[::-1])
    assert (one.places, one.heights) == (other.places, other.heights)


def test_a_line_without_a_load_keeps_the_others() -> None:
    (line,) = lines_of(tpot_samples(some_traits()))
    assert len(line.without(math.log(16.0)).places) == 4
    assert len(line.without(math.log(17.0)).places) == 5


def test_what_is_not_stated_may_be_equal() -> None:
    one = some_traits()
    silent = replace(one, configuration=("", *one.configuration[1:]))
    other = replace(one, configuration=("int4", *one.configuration[1:]))
    assert one.may_equal(silent)
    assert not one.may_equal(other)
    assert not one.may_equal(replace(one, model="another"))


def test_lengths_are_equal_within_a_twentieth() -> None:
    one = some_traits(size=(1000.0, 100.0))
    assert one.may_equal_lengths(some_traits(size=(1050.0, 100.0)))
    assert not one.may_equal_lengths(some_traits(size=(1051.0, 100.0)))
    assert one.may_equal_lengths(some_traits(size=(None, 100.0)))

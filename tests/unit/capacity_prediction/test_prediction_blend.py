"""Blends of opinions and their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from tonnage.capacity.prediction.blend import LEAST_CASES, absolute_fit, fit
from tonnage.errors import InvalidInput

RNG = np.random.default_rng(7)


def test_one_wild_case_in_ten_does_not_move_the_weights() -> None:
    features = RNG.normal(size=(400, 2))
    wanted = features @ np.array([0.5, -0.25])
    wanted[::10] += 50.0
    assert absolute_fit(features, wanted, 0.01) == pytest.approx([0.5, -0.25], abs=0.02)


def test_the_interval_covers_nine_tenths_of_what_it_has_not_seen() -> None:
    size = 4000
    features, loud = RNG.normal(size=(size, 2)), RNG.uniform(0.0, 1.0, size)
    wanted = features @ np.array([0.3, 0.1]) + RNG.normal(size=size) * np.exp(-4 + 3 * loud)
    spread = np.column_stack((np.ones(size), loud))
    half = size // 2
    folds = np.array([float(place % 5) for place in range(half)])
    blend = fit(features[:half], spread[:half], wanted[:half], folds, 0.01)
    rest = range(half, size)
    inside = [abs(wanted[i] - blend.value(features[i])) <= blend.half_width(spread[i]) for i in rest]
    assert 0.88 <= np.mean(inside) <= 0.96
    assert blend.half_width(np.array([1.0, 1.0])) > 4 * blend.half_width(np.array([1.0, 0.0]))


def test_too_few_cases_are_refused() -> None:
    few = LEAST_CASES - 1
    with pytest.raises(InvalidInput, match="calibrate"):
        fit(np.ones((few, 1)), np.ones((few, 1)), np.ones(few), np.zeros(few), 0.01)

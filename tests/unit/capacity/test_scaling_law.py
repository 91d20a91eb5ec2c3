"""The scaling law and the second opinion on the knee."""

from __future__ import annotations

import math

import pytest
from builders_capacity import a_curve

from tonnage.capacity.scaling_law import ScalingLaw, scaling_law

LOADS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


def test_a_curve_of_the_law_gives_its_constants_back() -> None:
    law = ScalingLaw(
        single_requests_per_s=2.0,
        contention_ratio=0.05,
        coherency_ratio=0.001,
        peak_offered_load=None,
        residual_ratio=0.0,
    )
    found = scaling_law(LOADS, [law.requests_per_s(load) for load in LOADS])
    assert found is not None
    assert found.single_requests_per_s == pytest.approx(2.0)
    assert found.contention_ratio == pytest.approx(0.05)
    assert found.coherency_ratio == pytest.approx(0.001)
    assert found.peak_offered_load == pytest.approx(math.sqrt(0.95 / 0.001))
    assert found.residual_ratio == pytest.approx(0.0, abs=1e-9)


def test_a_straight_curve_has_neither_contention_nor_peak() -> None:
    found = scaling_law(LOADS, [3 * load for load in LOADS])
    assert found is not None
    assert (found.contention_ratio, found.coherency_ratio) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert found.peak_offered_load is None or found.peak_offered_load > 1e5


def test_noise_stays_as_residual_and_constants_are_not_negative() -> None:
    found = scaling_law(LOADS, [1.0, 2.3, 4.1, 9.5, 15.0, 36.0])
    assert found is not None
    assert found.residual_ratio > 0.03
    assert min(found.contention_ratio, found.coherency_ratio) >= 0


def test_three_loads_are_too_few() -> None:
    assert scaling_law(LOADS[:3], [1.0, 2.0, 3.0]) is None


def test_both_knees_of_a_sharp_bend_are_the_same_load() -> None:
    shape = a_curve(*((load, min(load, 8.0) + load / 100, 50.0) for load in LOADS)).shape
    assert shape.knee_offered_load == shape.knee_by_chord_offered_load == 8.0
    assert shape.scaling is not None
    assert "KNEES_DISAGREE" not in {item.code for item in shape.findings}


def test_knees_of_a_drawn_out_bend_disagree_and_say_so() -> None:
    rates = [1.0, 1.3, 2.2, 3.6, 5.6, 6.0]
    shape = a_curve(*((load, rate, 50.0) for load, rate in zip(LOADS, rates, strict=True))).shape
    assert (shape.knee_offered_load, shape.knee_by_chord_offered_load) == (1.0, 16.0)
    assert "KNEES_DISAGREE" in {item.code for item in shape.findings}


def test_a_curve_without_a_bend_has_no_knee_by_chord() -> None:
    assert a_curve(*((load, load, 50.0) for load in LOADS)).shape.knee_by_chord_offered_load is None

"""Knee, saturation, drop."""

from __future__ import annotations

from builders_capacity import a_curve, codes


def test_the_knee_is_the_load_before_the_first_flat_step() -> None:
    assert a_curve().knee_offered_load == 16  # 16 to 32: 9 to 10 requests/s, elasticity 0.15


def test_a_curve_that_still_rises_has_no_knee() -> None:
    assert a_curve((1, 1.0, 10.0), (2, 2.0, 10.0), (4, 3.9, 10.0)).knee_offered_load is None


def test_one_level_has_no_knee() -> None:
    curve = a_curve((1, 1.0, 10.0))
    assert (curve.knee_offered_load, curve.saturation_requests_per_s) == (None, 1.0)


def test_ninety_percent_of_the_peak_is_the_first_load_that_reaches_it() -> None:
    assert a_curve().shape.near_peak_offered_load == 16
    assert a_curve().shape.peak_offered_load == 32


def test_a_drop_behind_the_peak_is_saturation() -> None:
    curve = a_curve((16, 3.8, 10.0), (32, 6.2, 10.0), (64, 4.4, 10.0))
    assert (curve.saturation_requests_per_s, curve.shape.drops_at, curve.knee_offered_load) == (6.2, 64, 32)
    assert codes(curve.findings) == ["SATURATED"]
    assert "concurrency 32" in curve.findings[0].message


def test_a_fall_within_noise_is_no_drop() -> None:
    curve = a_curve((16, 6.2, 10.0), (32, 6.0, 10.0))
    assert (curve.shape.drops_at, curve.findings) == (None, ())

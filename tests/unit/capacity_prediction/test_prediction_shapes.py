"""How figures run between two loads."""

from __future__ import annotations

import math

import pytest

from tonnage.capacity.prediction.shapes import Bracket, latency_at, load_where_latency_reaches, rate_at

STEP = Bracket(4.0, 100.0, 16.0, 400.0)


def test_each_straight_line_is_straight_in_its_own_terms() -> None:
    assert math.exp(STEP.in_logs(8.0)) == pytest.approx(200.0)
    assert math.exp(STEP.in_loads(10.0)) == pytest.approx(250.0)
    # 4 / 2 = 2 s at load 4 and 16 / 4 = 4 s at load 16 are 3 s at load 10.
    assert math.exp(Bracket(4.0, 2.0, 16.0, 4.0).in_service_time(10.0)) == pytest.approx(10.0 / 3.0)


@pytest.mark.parametrize("at", [latency_at, rate_at])
def test_the_ends_are_the_measured_figures_themselves(at: object) -> None:
    assert callable(at)
    assert (at(STEP, 4.0), at(STEP, 16.0)) == (100.0, 400.0)


@pytest.mark.parametrize("most", [101.0, 150.0, 250.0, 399.0])
def test_the_load_of_a_limit_has_the_limit_as_its_latency(most: float) -> None:
    assert latency_at(STEP, load_where_latency_reaches(STEP, most)) == pytest.approx(most)


def test_a_limit_outside_the_step_is_reached_at_an_end() -> None:
    assert load_where_latency_reaches(STEP, 50.0) == 4.0
    assert load_where_latency_reaches(STEP, 500.0) == 16.0

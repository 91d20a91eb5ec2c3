"""Decimals stay decimals."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tonnage.capacity.exact import as_float, ceiling, exact, product, quotient, shown
from tonnage.errors import InvalidInput


def test_a_decimal_is_the_fraction_people_wrote() -> None:
    assert exact(1.2) == Fraction(6, 5)
    assert exact(7) == 7
    assert exact(Fraction(1, 3)) == Fraction(1, 3)


def test_seven_times_one_point_two_over_one_point_two_is_seven() -> None:
    assert product(7, 1.2) / exact(1.2) == 7
    assert 7 * 1.2 / 1.2 != 7


def test_a_quotient_is_rounded_once() -> None:
    assert quotient(0.6, 0.2) == 3.0
    assert 0.6 / 0.2 != 3.0


@pytest.mark.parametrize(("value", "expected"), [(Fraction(7), 7), (Fraction(71, 10), 8), (Fraction(0), 0)])
def test_the_ceiling_is_the_next_whole_number(value: Fraction, expected: int) -> None:
    assert ceiling(value) == expected


def test_a_number_no_double_holds_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput) as caught:
        as_float("demand", Fraction(10) ** 400)
    assert caught.value.violations[0].path == "demand"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(7.36766, "7.36766"), (10.0, "10"), (Fraction(7), "7"), (7.0000001, "7.0000001"), (0.2, "0.2"), (1e9, "1e+09")],
)
def test_an_equation_hides_no_remainder(value: float | Fraction, expected: str) -> None:
    assert shown(value) == expected

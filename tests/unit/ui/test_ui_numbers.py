"""How numbers are shown."""

from __future__ import annotations

import pytest

from tonnage_ui import numbers


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0"),
        (0.000123456, "0.000123"),
        (0.5, "0.5"),
        (2.20576, "2.21"),
        (17.5, "17.5"),
        (100.0, "100"),
        (12345.6, "12,346"),
        (-3.14159, "-3.14"),
    ],
)
def test_a_number_keeps_three_digits_and_unknown_is_a_dash(value: float | None, shown: str) -> None:
    assert numbers.number(value) == shown


def test_the_unit_stands_only_behind_a_known_number() -> None:
    assert numbers.number(2.0, "req/s") == "2 req/s"
    assert numbers.number(None, "req/s") == "–"


def test_zero_is_zero_and_unknown_is_not() -> None:
    assert (numbers.count(0), numbers.percent(0.0), numbers.money(0.0, "USD")) == ("0", "0 %", "0.00 USD")
    assert (numbers.count(None), numbers.percent(None), numbers.money(None, "USD"), numbers.gib(None)) == ("–",) * 4


def test_gib_is_1024_cubed() -> None:
    assert numbers.gib(80 * 1024**3) == "80.00 GiB"
    assert numbers.gib(80 * 10**9) == "74.51 GiB"


def test_a_small_size_is_not_rounded_away() -> None:
    sizes = [numbers.size(size) for size in (0, 512, 81_920, 3 * 1024**2, 5 * 1024**3 // 2)]
    assert sizes == ["0 B", "512 B", "80.00 KiB", "3.00 MiB", "2.50 GiB"]

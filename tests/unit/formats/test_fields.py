"""Foreign values are taken by type, and a wrong one is named with its path."""

from __future__ import annotations

import math

import pytest

from tonnage.errors import MalformedReport
from tonnage.formats.reading.fields import Fields, as_count, as_number, as_rate, as_text, ratio


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), ("550", 550.0), (" 1.5 ", 1.5), (None, None), ("N/A", None), ("", None), ("-", None)],
)
def test_numbers_are_read_also_from_text(value: object, number: float | None) -> None:
    assert as_number(value, "x") == number


@pytest.mark.parametrize("value", ["inf", "Infinity", ".inf", "-inf", float("inf")])
def test_infinities_stay_so_for_the_lint_to_name(value: object) -> None:
    number = as_number(value, "x")
    assert number is not None
    assert math.isinf(number)


@pytest.mark.parametrize("value", [True, [], {}, "twelve", "1,234"])
def test_what_is_no_number_is_refused_with_its_path(value: object) -> None:
    with pytest.raises(MalformedReport, match=r"a\.b"):
        Fields({"b": value}, "a").number("b")


@pytest.mark.parametrize("value", ["inf", -1, 0, None, float("inf"), float("nan")])
def test_every_way_to_say_no_rate_gives_none(value: object) -> None:
    assert as_rate(value, "x") is None


def test_a_count_may_be_written_as_a_float() -> None:
    assert as_count(16.000000000000004, "x") == 16


@pytest.mark.parametrize("value", [1.5, 1e300, float("inf")])
def test_what_is_no_count_is_refused(value: float) -> None:
    with pytest.raises(MalformedReport):
        as_count(value, "x")


def test_a_name_is_one_bounded_line() -> None:
    assert as_text(" a\n b\x00c ") == "a b c"
    assert len(as_text("x" * 9000) or "") == 512
    assert as_text("None") is None


def test_absent_is_not_zero() -> None:
    fields = Fields({"a": None, "b": {}})
    assert fields.number("a", "z") is None
    assert fields.dig("b.c.d").number("e") is None


def test_an_object_where_a_list_is_due_is_refused() -> None:
    with pytest.raises(MalformedReport, match="is not a list"):
        list(Fields({"a": {}}).items("a"))


def test_a_ratio_of_nothing_is_unknown() -> None:
    assert ratio(1.0, 0.0) is None
    assert ratio(None, 2.0) is None
    assert ratio(1.0, float("nan")) is None

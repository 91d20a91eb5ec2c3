"""R and its parts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from builders_capacity import codes, whole

from tonnage.capacity.reserve import breakdown, exact_ratio
from tonnage.domain.workload import Reserve, ReservePart
from tonnage.errors import InvalidInput


def part(ratio: float) -> ReservePart:
    return ReservePart(ratio=ratio, source="test")


def test_parts_multiply() -> None:
    reserve = Reserve(growth=part(0.1), burst=part(0.2), drift=part(0.0), colocation=part(0.05), from_parts=True)
    assert exact_ratio(reserve) == Fraction(11, 10) * Fraction(12, 10) * Fraction(105, 100) - 1
    found, findings = breakdown(reserve)
    assert found.ratio == 0.386
    assert [item.part for item in found.parts] == ["growth", "burst", "drift", "colocation"]
    assert findings == ()


def test_a_part_nobody_stated_counts_as_nothing_and_is_named() -> None:
    found, findings = breakdown(Reserve(growth=part(0.1), from_parts=True))
    assert found.ratio == 0.1
    assert codes(findings) == ["RESERVE_PART_NOT_STATED"] * 3
    assert [item.path for item in findings] == [
        "reserve.parts.burst",
        "reserve.parts.drift",
        "reserve.parts.colocation",
    ]


def test_a_whole_reserve_is_used_as_it_is() -> None:
    found, findings = breakdown(whole(0.2))
    assert (found.ratio, [item.part for item in found.parts], findings) == (0.2, ["whole"], ())


def test_no_reserve_is_nothing_and_needs_no_finding() -> None:
    found, findings = breakdown(Reserve())
    assert (found.ratio, found.parts, findings) == (0.0, (), ())


def test_a_reserve_below_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="below 0"):
        whole(-0.1)

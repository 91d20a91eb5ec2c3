"""Which sweep speaks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from builders_capacity import a_curve, text

from tonnage.capacity.sweeps import SweepCurve, choose, left_aside

if TYPE_CHECKING:
    from tonnage.domain.measurement import TextWork

OLD, NEW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


def sweep(name: str, newest: datetime | None, work: TextWork | None = None, *, usable: bool = True) -> SweepCurve:
    curve = a_curve(replicas_under_test=1 if usable else None)
    return SweepCurve(curve=curve, work=work or text(), sweep_id=name, newest=newest)


def test_the_newest_of_alike_sweeps_speaks() -> None:
    found = choose([sweep("old", OLD), sweep("new", NEW, text(1050.0, 95.0))], text())
    assert found.sweep.sweep_id == "new"
    assert [item.sweep_id for item in found.aside] == ["old"]


def test_a_sweep_without_a_time_is_the_oldest() -> None:
    assert choose([sweep("undated", None), sweep("old", OLD)], text()).sweep.sweep_id == "old"


def test_the_nearest_lengths_outweigh_age() -> None:
    found = choose([sweep("near", OLD, text(1500.0, 100.0)), sweep("far", NEW, text(4000.0, 100.0))], text())
    assert (found.sweep.sweep_id, found.aside) == ("near", ())


def test_a_newer_unusable_sweep_is_passed_over_and_named() -> None:
    found = choose([sweep("old", OLD), sweep("new", NEW, usable=False)], text())
    assert found.sweep.sweep_id == "old"
    finding = next(iter(left_aside(found)))
    assert finding.code == "NEWER_SWEEP_NOT_USED"
    assert "how many replicas shared the load is not stated" in finding.message


def test_an_unusable_sweep_speaks_only_where_none_is_usable() -> None:
    assert choose([sweep("bad", NEW, usable=False)], text()).sweep.sweep_id == "bad"


def test_older_sweeps_are_mentioned_and_never_pooled() -> None:
    found = choose([sweep(str(year), datetime(2000 + year, 1, 1, tzinfo=UTC)) for year in range(1, 9)], text())
    finding = next(iter(left_aside(found)))
    assert (found.sweep.sweep_id, finding.code) == ("8", "OTHER_SWEEPS_NOT_USED")
    assert "7 (vllm-bench-serve)" in finding.message
    assert "and 2 more" in finding.message


@pytest.mark.parametrize("backwards", [False, True])
def test_the_order_of_sweeps_never_matters(backwards: bool) -> None:
    sweeps = [sweep("b", OLD), sweep("a", OLD), sweep("c", OLD)]
    assert choose(sweeps[::-1] if backwards else sweeps, text()).sweep.sweep_id == "a"

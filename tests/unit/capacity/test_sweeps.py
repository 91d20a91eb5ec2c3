"""Which sweep speaks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from builders_capacity import a_curve, an_slo, text

from tonnage.capacity.sweeps import SweepCurve, capacity_of, choose, chosen_capacity, left_aside
from tonnage.domain.finding import Origin
from tonnage.domain.plan import CapacityPolicy

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


SHORT = SweepCurve(curve=a_curve((1, 1.0, 50.0), (8, 6.0, 900.0)), work=text(800.0), sweep_id="short", newest=OLD)
LONG = SweepCurve(curve=a_curve((1, 0.5, 90.0), (8, 3.0, 900.0)), work=text(1600.0), sweep_id="long", newest=OLD)


def test_between_two_inputs_of_one_output_the_time_in_service_is_straight_in_the_input() -> None:
    slo, wanted = an_slo(ttft_p95=900), text(1200.0)
    choice = choose([SHORT, LONG], wanted)
    assert {choice.sweep.sweep_id, choice.other_side.sweep_id if choice.other_side else ""} == {"short", "long"}
    found = chosen_capacity(choice, wanted, slo, CapacityPolicy.INTERPOLATED)
    assert found.q_slo_requests_per_s == pytest.approx(1 / (0.5 / 6.0 + 0.5 / 3.0))
    assert found.origin is Origin.PREDICTED
    assert "LENGTHS_PREDICTED" in {item.code for item in found.findings}
    assert found == chosen_capacity(choose([LONG, SHORT], wanted), wanted, slo, CapacityPolicy.INTERPOLATED)


def test_under_policy_measured_the_nearest_sweep_speaks_alone() -> None:
    slo, wanted = an_slo(ttft_p95=900), text(1200.0)
    choice = choose([SHORT, LONG], wanted)
    expected = capacity_of(choice.sweep, wanted, slo, CapacityPolicy.MEASURED)
    assert chosen_capacity(choice, wanted, slo, CapacityPolicy.MEASURED) == expected


@pytest.mark.parametrize("work", [text(800.0), text(1700.0), text(1200.0, 150.0)])
def test_without_the_wanted_size_between_them_there_is_no_other_side(work: TextWork) -> None:
    assert choose([SHORT, LONG], work).other_side is None


def test_a_side_that_carries_nothing_leaves_the_nearer_one_its_word() -> None:
    slo, wanted = an_slo(ttft_p95=60), text(1200.0)
    choice = choose([SHORT, LONG], wanted)
    expected = capacity_of(choice.sweep, wanted, slo, CapacityPolicy.INTERPOLATED)
    assert chosen_capacity(choice, wanted, slo, CapacityPolicy.INTERPOLATED) == expected

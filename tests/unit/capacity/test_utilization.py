"""U_total."""

from __future__ import annotations

import pytest
from builders_capacity import codes, whole

from tonnage.capacity.utilization import total
from tonnage.domain.workload import Reserve
from tonnage.errors import InvalidInput

TWO = [("small", 3.0, 8.0), ("large", 0.9, 1.5)]


def test_shares_add_up_to_the_total() -> None:
    found = total(TWO, 1, 1.0, Reserve())
    assert found.total_utilization_ratio == 0.975
    assert [item.tenant for item in found.tenants] == ["large", "small"]
    assert [item.utilization_ratio for item in found.tenants] == [0.6, 0.375]
    assert sum(item.share for item in found.tenants) == pytest.approx(1.0)
    assert found.equation == "U_total = 0.9 / 1.5 + 3 / 8 = 0.975 <= 1"


def test_the_limit_leaves_the_reserve_free() -> None:
    found = total(TWO, 1, 0.9, whole(0.2))
    assert found.limit_ratio == 0.75
    assert not found.within_limit
    assert "OVER_CAPACITY" in codes(found.findings)


def test_a_total_at_its_limit_is_within() -> None:
    found = total([("only", 7.0, 8.4)], 1, 1.0, whole(0.2))  # 7 / 8.4 = 1 / 1.2 exactly
    assert found.within_limit
    assert found.tenants[0].growth_until_limit_ratio == 0.0


def test_close_to_the_brim_is_flagged_even_without_a_reserve() -> None:
    assert "LITTLE_HEADROOM" in codes(total(TWO, 1, 1.0, Reserve()).findings)
    assert "LITTLE_HEADROOM" not in codes(total(TWO, 2, 1.0, Reserve()).findings)


def test_replicas_share_the_load() -> None:
    found = total(TWO, 3, 1.0, Reserve())
    assert found.total_utilization_ratio == 0.325
    assert found.equation == "U_total = (0.9 / 1.5 + 3 / 8) / 3 = 0.325 <= 1"


def test_the_first_to_breach_has_the_least_room_to_grow() -> None:
    found = total(TWO, 1, 1.0, Reserve())
    growth = {item.tenant: item.growth_until_limit_ratio or 0.0 for item in found.tenants}
    assert growth["large"] == pytest.approx(0.025 / 0.6)
    assert found.first_to_breach == min(growth, key=lambda name: growth[name]) == "large"


def test_over_the_limit_growth_is_below_nothing() -> None:
    found = total(TWO, 1, 0.5, Reserve())
    assert all((item.growth_until_limit_ratio or 0.0) < 0 for item in found.tenants)
    assert found.first_to_breach == "large"


def test_no_demand_has_no_first_to_breach() -> None:
    found = total([("idle", 0.0, 2.0)], 1, 1.0, Reserve())
    assert (found.first_to_breach, found.total_utilization_ratio) == ("", 0.0)
    assert found.tenants[0].growth_until_limit_ratio is None


def test_what_was_assumed_is_said() -> None:
    assert codes(total(TWO, None, None, Reserve()).findings) == [
        "LITTLE_HEADROOM",
        "EFFECTIVE_CAPACITY_ASSUMED",
        "ONE_REPLICA_ASSUMED",
        "PLANNING_APPROXIMATION",
    ]


def test_the_order_of_tenants_never_matters() -> None:
    assert total(TWO, 1, 1.0, Reserve()) == total(TWO[::-1], 1, 1.0, Reserve())


@pytest.mark.parametrize(
    ("tenants", "path"),
    [
        ([("one", 1.0, 2.0), ("one", 1.0, 2.0)], "tenants[1].name"),
        ([("one", -1.0, 2.0)], "tenants[0].peak_requests_per_s"),
        ([("one", 1.0, 0.0)], "tenants[0].q_slo_requests_per_s"),
        ([], "tenants"),
    ],
)
def test_figures_out_of_range_are_refused_by_name(tenants: list[tuple[str, float, float]], path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        total(tenants, 1, 1.0, Reserve())
    assert caught.value.violations[0].path == path


@pytest.mark.parametrize("ratio", [0.0, -1.0, float("nan")])
def test_an_effective_capacity_of_nothing_is_refused(ratio: float) -> None:
    with pytest.raises(InvalidInput, match="effective_capacity_ratio"):
        total(TWO, 1, ratio, Reserve())

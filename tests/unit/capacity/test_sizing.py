"""Counts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from builders_capacity import codes, whole

from tonnage.capacity.sizing import server_count
from tonnage.domain.workload import Failover, Reserve
from tonnage.errors import InvalidInput

NONE = Reserve()


def test_replicas_servers_and_accelerators_are_kept_apart() -> None:
    result = server_count([(10.0, 1.62874)], whole(0.2), None, 2, 8)
    count = result.count
    assert count is not None
    assert (count.replica_count, count.replicas_per_server, count.server_count) == (8, 4, 2)
    assert (count.accelerator_count, count.installed_accelerator_count) == (16, 16)
    assert count.equation == "N = ceil((1 + 0.2) x 10 / 1.62874) = ceil(7.36766) = 8"
    assert count.exact_replicas == pytest.approx(7.36766, rel=1e-5)
    assert result.findings == ()


def test_buckets_are_summed_before_the_ceiling() -> None:
    count = server_count([(1.0, 4.0), (1.0, 4.0), (2.0, 4.0)], NONE).count
    assert count is not None
    assert count.replica_count == 1
    assert count.equation == "N = ceil((1 + 0) x (1 / 4 + 1 / 4 + 2 / 4)) = ceil(1) = 1"


def test_many_buckets_are_abbreviated() -> None:
    count = server_count([(1.0, 4.0)] * 20, NONE).count
    assert count is not None
    assert "12 more" in count.equation
    assert count.replica_count == 5


def test_headroom_is_told_both_ways() -> None:
    count = server_count([(9.0, 2.0)], NONE).count  # 4.5 replicas
    assert count is not None
    assert count.demand_headroom_ratio == pytest.approx(5 / 4.5 - 1)
    assert count.demand_surplus_ratio == pytest.approx(1 - 4 / 4.5)


def test_a_full_count_has_no_headroom() -> None:
    count = server_count([(10.0, 2.0)], NONE).count
    assert count is not None
    assert count.demand_headroom_ratio == 0.0


def test_one_replica_cannot_become_fewer() -> None:
    count = server_count([(1.0, 2.0)], NONE).count
    assert count is not None
    assert count.demand_surplus_ratio is None


def test_no_demand_needs_nothing_and_says_so() -> None:
    result = server_count([(0.0, 2.0)], whole(0.2), Failover(lost_server_count=1), 1, 8)
    assert result.count is not None
    assert (result.count.replica_count, result.count.server_count) == (0, 0)
    assert (result.count.demand_headroom_ratio, result.count.demand_surplus_ratio) == (None, None)
    assert codes(result.findings) == ["NO_DEMAND"]


@pytest.mark.parametrize(
    ("pair", "path"),
    [
        ((10.0, 0.0), "buckets[0].q_slo_requests_per_s"),
        ((10.0, -1.0), "buckets[0].q_slo_requests_per_s"),
        ((10.0, float("nan")), "buckets[0].q_slo_requests_per_s"),
        ((-1.0, 2.0), "buckets[0].peak_requests_per_s"),
        ((float("inf"), 2.0), "buckets[0].peak_requests_per_s"),
    ],
)
def test_figures_out_of_range_are_refused_by_name(pair: tuple[float, float], path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        server_count([pair], NONE)
    assert caught.value.violations[0].path == path


def test_no_buckets_are_refused() -> None:
    with pytest.raises(InvalidInput, match="is empty"):
        server_count([], NONE)


@pytest.mark.parametrize("pair", [(1e300, 1e-300), (1e17, 1.0)])
def test_a_count_too_large_to_be_meant_is_refused(pair: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="too large"):
        server_count([pair], NONE)


def test_unknown_sizes_leave_one_replica_a_server() -> None:
    result = server_count([(10.0, 2.0)], NONE)
    assert result.count is not None
    assert (result.count.server_count, result.count.accelerator_count) == (5, None)
    assert result.count.installed_accelerator_count is None
    assert codes(result.findings) == ["ONE_REPLICA_PER_SERVER_ASSUMED"]
    unpacked = server_count([(10.0, 2.0)], NONE, None, None, 8)
    assert unpacked.count is not None
    assert (unpacked.count.server_count, unpacked.count.installed_accelerator_count) == (5, 40)


def test_accelerators_that_carry_nothing_are_said() -> None:
    result = server_count([(10.0, 2.0)], NONE, None, 3, 8)
    assert result.count is not None
    assert (result.count.replicas_per_server, result.count.server_count) == (2, 3)
    assert (result.count.accelerator_count, result.count.installed_accelerator_count) == (15, 24)
    assert codes(result.findings) == ["ACCELERATORS_LEFT_OVER"]


def test_a_replica_over_several_servers_is_said() -> None:
    result = server_count([(10.0, 2.0)], NONE, None, 16, 8)
    assert result.count is not None
    assert (result.count.replicas_per_server, result.count.server_count) == (0, 10)
    assert codes(result.findings) == ["REPLICA_SPANS_SERVERS"]


def test_failover_is_a_condition_of_its_own() -> None:
    # Ten requests/s short of a zone: a reserve of a fifth does not cover the loss of one of three zones.
    count = server_count([(40.0, 4.0)], whole(0.2), Failover(zone_count=3, lost_zone_count=1)).count
    assert count is not None
    assert (count.needed_replica_count, count.replica_count, count.survived_replica_losses) == (12, 18, 6)
    assert count.equation.endswith("= 12; to lose 1 zone of 3: 18")


def test_servers_do_not_straddle_zones() -> None:
    result = server_count([(10.0, 2.0)], NONE, Failover(zone_count=3, lost_zone_count=1), 2, 8)
    assert result.count is not None
    assert (result.count.replica_count, result.count.server_count) == (8, 3)  # 3 + 3 + 2 replicas, 4 fit on a server
    assert codes(result.findings) == ["SERVERS_ROUNDED_PER_ZONE"]


def test_a_loss_nothing_survives_is_an_answer() -> None:
    result = server_count([(1.0, 2.0)], NONE, Failover(zone_count=1, lost_zone_count=1))
    assert result.impossible
    assert "FAILOVER_IMPOSSIBLE" in codes(result.findings)


def test_fractions_are_taken_as_they_are() -> None:
    result = server_count([(Fraction(1, 3), Fraction(1, 3))], NONE)
    assert result.load == 1
    assert result.count is not None
    assert result.count.replica_count == 1

"""What always holds of counts, whatever their figures."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from builders_capacity import text, whole
from hypothesis import given
from hypothesis import strategies as st

from tonnage.capacity.exact import exact
from tonnage.capacity.failover import surviving, zone_sizes
from tonnage.capacity.lengths import FARTHEST_RATIO, distance
from tonnage.capacity.sizing import server_count
from tonnage.capacity.utilization import total
from tonnage.domain.workload import Failover, Reserve

if TYPE_CHECKING:
    from tonnage.domain.plan import ServerCount

DEMANDS = st.floats(0, 1e6)
CAPACITIES = st.floats(1e-3, 1e6)
PAIRS = st.lists(st.tuples(DEMANDS, CAPACITIES), min_size=1, max_size=5)
CENTS = st.integers(1, 100_000).map(lambda cents: cents / 100)


def counted(pairs: list[tuple[float, float]], reserve: Reserve, failover: Failover | None = None) -> ServerCount:
    count = server_count(pairs, reserve, failover).count
    assert count is not None
    return count


@given(PAIRS, st.floats(0, 10))
def test_n_is_the_smallest_whole_number_that_carries_the_load(pairs: list[tuple[float, float]], ratio: float) -> None:
    load = (1 + exact(ratio)) * sum((exact(demand) / exact(capacity) for demand, capacity in pairs), Fraction(0))
    found = counted(pairs, whole(ratio)).replica_count
    assert found >= load
    assert found - 1 < load or found == 0


@given(CENTS, CENTS, st.integers(1, 1000))
def test_a_demand_that_fits_exactly_needs_no_extra_replica(capacity: float, ratio: float, fit: int) -> None:
    demand = exact(capacity) * fit / (1 + exact(ratio))
    count = server_count([(demand, capacity)], whole(ratio)).count
    assert count is not None
    assert (count.replica_count, count.demand_headroom_ratio) == (fit, 0.0)


@given(PAIRS)
def test_the_order_of_buckets_changes_no_count(pairs: list[tuple[float, float]]) -> None:
    one, other = counted(pairs, Reserve()), counted(pairs[::-1], Reserve())
    assert (one.replica_count, one.exact_replicas) == (other.replica_count, other.exact_replicas)


@given(st.integers(0, 500), st.integers(1, 12), st.integers(0, 12))
def test_what_is_left_after_losing_zones_is_enough_and_one_fewer_is_not(needed: int, zones: int, lost: int) -> None:
    found = surviving(needed, Failover(zone_count=zones, lost_zone_count=lost), 1).replica_count
    if found is None:
        assert lost >= zones
        return
    assert sum(zone_sizes(found, zones)[lost:]) >= needed
    assert found == 0 or sum(zone_sizes(found - 1, zones)[lost:]) < needed


@given(st.integers(1, 500), st.integers(0, 20), st.integers(1, 16))
def test_losing_any_full_servers_leaves_enough(needed: int, lost: int, per_server: int) -> None:
    found = surviving(needed, Failover(lost_server_count=lost), per_server).replica_count
    assert found is not None
    assert found - lost * per_server >= needed


@given(st.lists(st.tuples(DEMANDS, CAPACITIES), min_size=1, max_size=6), st.integers(1, 100))
def test_shares_of_utilization_make_the_whole(pairs: list[tuple[float, float]], replica_count: int) -> None:
    tenants = [(str(place), demand, capacity) for place, (demand, capacity) in enumerate(pairs)]
    found = total(tenants, replica_count, 1.0, Reserve())
    assert sum(item.utilization_ratio for item in found.tenants) <= found.total_utilization_ratio * (1 + 1e-9)
    if found.total_utilization_ratio > 0:
        assert abs(sum(item.share for item in found.tenants) - 1) < 1e-9


@given(PAIRS, st.floats(0, 3))
def test_a_sized_pool_is_within_its_own_limit(pairs: list[tuple[float, float]], ratio: float) -> None:
    count = counted(pairs, whole(ratio)).replica_count
    if count == 0:
        return
    tenants = [(str(place), demand, capacity) for place, (demand, capacity) in enumerate(pairs)]
    assert total(tenants, count, 1.0, whole(ratio)).within_limit
    if count > 1:
        assert not total(tenants, count - 1, 1.0, whole(ratio)).within_limit


@given(st.floats(16, 1e5), st.floats(1, 1e4), st.floats(16, 1e5), st.floats(1, 1e4))
def test_distance_is_the_same_both_ways(one_in: float, one_out: float, other_in: float, other_out: float) -> None:
    there = distance(text(one_in, one_out), text(other_in, other_out))
    back = distance(text(other_in, other_out), text(one_in, one_out))
    assert abs(there.factor - back.factor) <= 1e-9 * there.factor
    assert there.too_far is (there.factor > FARTHEST_RATIO)

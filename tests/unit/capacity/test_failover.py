"""Surviving a loss."""

from __future__ import annotations

import pytest

from tonnage.capacity.failover import surviving, zone_sizes
from tonnage.domain.workload import Failover
from tonnage.errors import InvalidInput


def test_without_failover_the_need_is_the_count() -> None:
    assert surviving(7, None, 1).replica_count == 7


def test_lost_replicas_are_added() -> None:
    assert surviving(7, Failover(lost_replica_count=2), 4).replica_count == 9
    assert surviving(7, Failover(lost_replica_count=0), 4).replica_count == 7


def test_lost_servers_are_full_ones() -> None:
    assert surviving(8, Failover(lost_server_count=1), 4).replica_count == 12
    assert surviving(8, Failover(lost_server_count=2), 1).replica_count == 10


def test_a_replica_over_several_servers_is_lost_with_one_of_them() -> None:
    assert surviving(3, Failover(lost_server_count=1), 0).replica_count == 4


@pytest.mark.parametrize("needed", range(1, 40))
@pytest.mark.parametrize(("zones", "lost"), [(2, 1), (3, 1), (3, 2), (5, 2), (6, 1)])
def test_zones_give_the_smallest_count_that_survives(needed: int, zones: int, lost: int) -> None:
    found = surviving(needed, Failover(zone_count=zones, lost_zone_count=lost), 1)
    assert found.replica_count is not None

    def left(count: int) -> int:
        return sum(zone_sizes(count, zones)[lost:])

    assert left(found.replica_count) >= needed
    assert left(found.replica_count - 1) < needed
    assert sum(found.zone_sizes) == found.replica_count


def test_losing_every_zone_cannot_be_survived() -> None:
    assert surviving(1, Failover(zone_count=1, lost_zone_count=1), 1).replica_count is None


def test_nothing_needed_survives_anything() -> None:
    for failover in (Failover(lost_server_count=1), Failover(zone_count=1, lost_zone_count=1)):
        assert surviving(0, failover, 4).replica_count == 0


@pytest.mark.parametrize(
    "failover",
    [
        Failover(),
        Failover(lost_replica_count=1, lost_server_count=1),
        Failover(lost_replica_count=1, zone_count=3, lost_zone_count=1),
        Failover(zone_count=3),
        Failover(lost_zone_count=1),
    ],
)
def test_exactly_one_whole_kind_of_loss_is_stated(failover: Failover) -> None:
    with pytest.raises(InvalidInput, match="failover"):
        surviving(3, failover, 1)

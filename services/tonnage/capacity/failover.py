"""Failover: the smallest count that still carries the peak after a loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.domain.workload import Failover


@dataclass(frozen=True, slots=True)
class Survival:
    """Replicas that survive a loss; ``replica_count`` is None when no count does.

    ``zone_sizes`` are replicas in each zone when zones were asked for, largest first.
    """

    replica_count: int | None
    words: str = ""
    zone_sizes: tuple[int, ...] = ()


def surviving(needed: int, failover: Failover | None, replicas_per_server: int) -> Survival:
    """Return the smallest N with N - lost >= needed.

    Lost servers are full ones (``replicas_per_server`` each, at least one), whichever they are, so that the count
    holds for any placement. Zones are filled evenly and the largest are lost first. Raises ``InvalidInput`` unless
    exactly one kind of loss is stated.
    """
    if failover is None:
        return Survival(needed)
    zones = failover.zone_count is not None or failover.lost_zone_count is not None
    stated = [failover.lost_replica_count is not None, failover.lost_server_count is not None, zones]
    if sum(stated) != 1:
        raise InvalidInput.field(
            "failover",
            failover,
            "states no loss or several kinds of loss",
            "state replicas, servers or zones, one of them",
        )
    if zones:
        return _zones(needed, failover)
    if needed == 0:
        return Survival(0)
    if failover.lost_replica_count is not None:
        return Survival(needed + failover.lost_replica_count, f"lose {_many(failover.lost_replica_count, 'replica')}")
    servers = failover.lost_server_count or 0
    lost = servers * max(1, replicas_per_server)
    return Survival(
        needed + lost, f"lose {_many(servers, 'server')} of {_many(max(1, replicas_per_server), 'replica')}"
    )


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _zones(needed: int, failover: Failover) -> Survival:
    count, lost = failover.zone_count, failover.lost_zone_count
    for key, value in (("zone_count", count), ("lost_zone_count", lost)):
        if value is None:
            raise InvalidInput.field(f"failover.zones.{key}", None, "is required and absent", "state it")
    if count is None or lost is None or needed == 0:
        return Survival(needed)
    words = f"lose {_many(lost, 'zone')} of {count}"
    if lost >= count:
        return Survival(None, words)
    full, rest = divmod(needed, count - lost)
    total = full * count + (lost + rest if rest else 0)
    return Survival(total, words, zone_sizes(total, count))


def zone_sizes(replica_count: int, zone_count: int) -> tuple[int, ...]:
    """Return an even spread, largest first."""
    low, larger = divmod(replica_count, zone_count)
    return tuple([low + 1] * larger + [low] * (zone_count - larger))

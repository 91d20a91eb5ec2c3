"""Counts alone, from stated demand and capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage.capacity import notes, reserve, sizing

if TYPE_CHECKING:
    from tonnage.capacity.sizing import SizingResult
    from tonnage.domain.finding import Finding
    from tonnage.domain.plan import ReserveBreakdown
    from tonnage.domain.workload import Failover, Reserve


@dataclass(frozen=True, slots=True, kw_only=True)
class ServersAsked:
    """Demand and capacity of each bucket, (requests/s at peak, requests/s of one replica), and what is kept free."""

    buckets: tuple[tuple[float, float], ...]
    reserve: Reserve
    failover: Failover | None = None
    accelerators_per_replica: int | None = None
    accelerators_per_server: int | None = None


def count(asked: ServersAsked) -> tuple[SizingResult, ReserveBreakdown, tuple[Finding, ...]]:
    """Return the counts, R taken apart, and every finding.

    The order of buckets never matters. Raises ``InvalidInput`` for figures out of range.
    """
    result = sizing.server_count(
        sorted(asked.buckets),
        asked.reserve,
        asked.failover,
        asked.accelerators_per_replica,
        asked.accelerators_per_server,
    )
    breakdown, findings = reserve.breakdown(asked.reserve)
    return result, breakdown, notes.ordered((*result.findings, *findings))

"""N: replicas, servers and accelerators from demand, capacity, reserve and failover, by exact arithmetic."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.capacity import notes
from tonnage.capacity.exact import Amount, as_float, ceiling, exact, growth, shown
from tonnage.capacity.failover import Survival, surviving
from tonnage.capacity.reserve import exact_ratio
from tonnage.domain.plan import ServerCount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.finding import Finding
    from tonnage.domain.workload import Failover, Reserve

_TERMS_SHOWN: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingResult:
    """The counts, or None when no count survives the loss that was asked for.

    ``load`` is the exact sum of D_b / Q_b, replicas before reserve.
    """

    count: ServerCount | None
    load: Fraction
    findings: tuple[Finding, ...] = ()

    @property
    def impossible(self) -> bool:
        """Tell whether no count does it."""
        return self.count is None


@dataclass(frozen=True, slots=True)
class _Packing:
    """How replicas sit on servers: some on one, or one over some; unknown sizes leave one replica a server."""

    replicas_per_server: int
    servers_per_replica: int
    findings: tuple[Finding, ...] = ()


def server_count(
    buckets: Sequence[tuple[Amount, Amount]],
    reserve: Reserve,
    failover: Failover | None = None,
    accelerators_per_replica: int | None = None,
    accelerators_per_server: int | None = None,
) -> SizingResult:
    """Return N = ceil((1 + R) x sum of D_b / Q_b), raised until it survives the loss, and what it takes.

    ``buckets`` are (peak requests/s, requests/s of one replica). Raises ``InvalidInput`` for no buckets, a demand
    below 0, a rate or count not above 0, a reserve below 0, and counts too large to be meant.
    """
    load = _load(buckets)
    checks.count("accelerators_per_replica", accelerators_per_replica)
    checks.count("accelerators_per_server", accelerators_per_server)
    kept = exact_ratio(reserve)
    quotient = (1 + kept) * load
    needed = ceiling(quotient)
    checks.count("buckets", needed, least=0)
    packing = _packing(accelerators_per_replica, accelerators_per_server)
    survival = surviving(needed, failover, packing.replicas_per_server)
    if survival.replica_count is None:
        return SizingResult(count=None, load=load, findings=notes.ordered((*packing.findings, _impossible(survival))))
    total = survival.replica_count
    servers = _servers(total, survival, packing)
    checks.count("failover", max(total, servers), least=0)
    count = ServerCount(
        replica_count=total,
        server_count=servers,
        needed_replica_count=needed,
        exact_replicas=as_float("buckets", quotient),
        replicas_per_server=packing.replicas_per_server,
        survived_replica_losses=total - needed,
        equation=_equation(buckets, kept, quotient, needed, survival),
        accelerator_count=None if accelerators_per_replica is None else total * accelerators_per_replica,
        installed_accelerator_count=None if accelerators_per_server is None else servers * accelerators_per_server,
        demand_headroom_ratio=None if quotient == 0 else growth(Fraction(needed) / quotient - 1),
        demand_surplus_ratio=None if needed <= 1 else float(1 - Fraction(needed - 1) / quotient),
    )
    return SizingResult(count=count, load=load, findings=notes.ordered(_findings(count, survival, packing)))


@functools.lru_cache(maxsize=8192)
def counted(
    needed: int, failover: Failover | None, accelerators_per_replica: int | None, accelerators_per_server: int | None
) -> tuple[int, int]:
    """Return replicas and servers for a count of needed replicas; the loss asked for must be survivable."""
    packing = _packing(accelerators_per_replica, accelerators_per_server)
    survival = surviving(needed, failover, packing.replicas_per_server)
    total = needed if survival.replica_count is None else survival.replica_count
    return total, _servers(total, survival, packing)


def _load(buckets: Sequence[tuple[Amount, Amount]]) -> Fraction:
    checks.not_empty("buckets", buckets)
    total = Fraction(0)
    for place, (demand, capacity) in enumerate(buckets):
        checks.not_negative(f"buckets[{place}].peak_requests_per_s", float(demand))
        checks.positive(f"buckets[{place}].q_slo_requests_per_s", float(capacity))
        total += exact(demand) / exact(capacity)
    return total


@functools.lru_cache(maxsize=1024)
def _packing(per_replica: int | None, per_server: int | None) -> _Packing:
    if per_server is None:
        return _Packing(1, 1, (_one_a_server("the accelerators of a server are not stated"),))
    if per_replica is None:
        return _Packing(1, 1, (_one_a_server("the accelerators of a replica are not stated"),))
    if per_replica <= per_server:
        return _Packing(per_server // per_replica, 1, _left_over(per_replica, per_server))
    spanning = -(-per_replica // per_server)
    finding = notes.warning(
        "REPLICA_SPANS_SERVERS",
        f"one replica of {per_replica} accelerators spans {spanning} servers of {per_server}; the runs must have had "
        "the same link between servers",
        path="accelerators_per_server",
    )
    return _Packing(0, spanning, (finding,))


def _one_a_server(reason: str) -> Finding:
    return notes.info(
        "ONE_REPLICA_PER_SERVER_ASSUMED",
        f"{reason}, so each server carries one replica",
        path="accelerators_per_server",
        remedy="state both to have replicas packed",
    )


def _left_over(per_replica: int, per_server: int) -> tuple[Finding, ...]:
    rest = per_server % per_replica
    if rest == 0:
        return ()
    return (
        notes.info(
            "ACCELERATORS_LEFT_OVER",
            f"{rest} of {per_server} accelerators of a server carry no replica of {per_replica}",
            path="accelerators_per_server",
        ),
    )


def _servers(total: int, survival: Survival, packing: _Packing) -> int:
    if packing.replicas_per_server == 0:
        return total * packing.servers_per_replica
    groups = survival.zone_sizes or (total,)
    return sum(-(-group // packing.replicas_per_server) for group in groups)


def _equation(
    buckets: Sequence[tuple[Amount, Amount]], kept: Fraction, quotient: Fraction, needed: int, survival: Survival
) -> str:
    terms = [f"{shown(demand)} / {shown(capacity)}" for demand, capacity in buckets[:_TERMS_SHOWN]]
    if len(buckets) > _TERMS_SHOWN:
        terms.append(f"{len(buckets) - _TERMS_SHOWN} more")
    load = terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"
    text = f"N = ceil((1 + {shown(kept)}) x {load}) = ceil({shown(quotient)}) = {needed}"
    if not survival.words or survival.replica_count is None:
        return text
    return f"{text}; to {survival.words}: {survival.replica_count}"


def _impossible(survival: Survival) -> Finding:
    return notes.error(
        "FAILOVER_IMPOSSIBLE",
        f"no count survives to {survival.words}: nothing would be left",
        path="failover.zones",
        remedy="spread over more zones than may be lost",
    )


def _findings(count: ServerCount, survival: Survival, packing: _Packing) -> list[Finding]:
    found = list(packing.findings)
    if count.exact_replicas == 0 and count.needed_replica_count == 0:
        found.append(notes.warning("NO_DEMAND", "the demand is 0, so no replica is needed", path="demand"))
    plain = (
        -(-count.replica_count // packing.replicas_per_server) if packing.replicas_per_server else count.server_count
    )
    if survival.zone_sizes and count.server_count != plain:
        found.append(
            notes.info(
                "SERVERS_ROUNDED_PER_ZONE",
                f"servers stand in one zone each: {count.server_count} rather than {plain}",
                path="failover.zones",
            )
        )
    return found

"""U_total of several tenants; a tenant's Q is looked up where it is not stated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.capacity import notes, reserve, utilization
from tonnage.errors import InvalidInput, at
from tonnage.planning.usecase.lookup import capacity_for, only_one

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.capacity.utilization import UtilizationResult
    from tonnage.domain.finding import Evidence, Finding
    from tonnage.domain.plan import CapacityPolicy, SloCapacity
    from tonnage.domain.workload import Reserve, Tenant
    from tonnage.planning.usecase.book import CurveBook
    from tonnage.store.base import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantAsked:
    """One tenant; ``fingerprint`` selects its configuration where its fields do not."""

    tenant: Tenant
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilizationAsked:
    """Tenants that share replicas, and what is kept free."""

    namespace: str
    tenants: tuple[TenantAsked, ...]
    replica_count: int | None
    effective_capacity_ratio: float | None
    reserve: Reserve
    policy: CapacityPolicy

    @property
    def needs_store(self) -> bool:
        """Tell whether any rate has to be looked up."""
        return any(item.tenant.q_slo_requests_per_s is None for item in self.tenants)


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantAnswer:
    """One tenant's part; None is not known."""

    tenant: str
    peak_requests_per_s: float
    q_slo_requests_per_s: float | None = None
    utilization_ratio: float | None = None
    share: float | None = None
    growth_until_limit_ratio: float | None = None
    capacity: SloCapacity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilizationAnswer:
    """U_total against its limit; None where the Q of a tenant is not known."""

    total_utilization_ratio: float | None
    limit_ratio: float
    within_limit: bool
    tenants: tuple[TenantAnswer, ...]
    first_to_breach: str
    equation: str
    findings: tuple[Finding, ...]
    data_version: int


def compute(asked: UtilizationAsked, snapshot: Snapshot, book: CurveBook) -> UtilizationAnswer:
    """Return U_total; tenants in order of name.

    Raises ``InvalidInput`` for a name given twice and for a selector that leaves several configurations,
    ``NotStored`` for one that leaves none.
    """
    _once_each(asked.tenants)
    capacities: dict[str, SloCapacity] = {}
    for place, item in enumerate(asked.tenants):
        if item.tenant.q_slo_requests_per_s is None:
            with at(f"tenants[{place}]"):
                capacities[item.tenant.name] = _looked_up(item, asked, snapshot, book)
    tenants = sorted((item.tenant for item in asked.tenants), key=lambda tenant: tenant.name)
    rates = {tenant.name: _rate(tenant, capacities) for tenant in tenants}
    stated = [(tenant.name, tenant.peak_requests_per_s, rates[tenant.name]) for tenant in tenants]
    known = [(name, peak, rate) for name, peak, rate in stated if rate is not None]
    _, parts = reserve.breakdown(asked.reserve)
    findings = (*parts, *_said(capacities))
    if len(known) < len(stated):
        return _not_known(asked, tenants, capacities, findings, snapshot.data_version)
    result = utilization.total(known, asked.replica_count, asked.effective_capacity_ratio, asked.reserve)
    return _answer(result, capacities, findings, snapshot.data_version)


def _once_each(tenants: Sequence[TenantAsked]) -> None:
    seen: set[str] = set()
    for place, item in enumerate(tenants):
        if item.tenant.name in seen:
            path = f"tenants[{place}].name"
            raise InvalidInput.field(path, item.tenant.name, "is given twice", "give each tenant its own name")
        seen.add(item.tenant.name)


def _looked_up(item: TenantAsked, asked: UtilizationAsked, snapshot: Snapshot, book: CurveBook) -> SloCapacity:
    tenant = item.tenant
    configuration, work, slo = tenant.configuration, tenant.work, tenant.slo
    if configuration is None or work is None or slo is None:
        cure = "state it, or configuration, work and slo to look it up"
        raise InvalidInput.field("q_slo_requests_per_s", None, "is required and absent", cure)
    with at("configuration"):
        held = only_one(snapshot, book, asked.namespace, configuration, item.fingerprint)
        checks.not_empty("", held.curves.sweeps)
    capacity, sweep = capacity_for(held.curves, work, slo, asked.policy)
    return (
        capacity if capacity.measured_at is not None else replace(capacity, measured_at=_run_of(sweep.curve.evidence))
    )


def _run_of(evidence: Sequence[Evidence]) -> Evidence | None:
    return evidence[0] if evidence else None


def _rate(tenant: Tenant, capacities: dict[str, SloCapacity]) -> float | None:
    if tenant.q_slo_requests_per_s is not None:
        return tenant.q_slo_requests_per_s
    return capacities[tenant.name].q_slo_requests_per_s


def _said(capacities: dict[str, SloCapacity]) -> Iterable[Finding]:
    for name in sorted(capacities):
        for finding in capacities[name].findings:
            yield replace(finding, path=f'tenants["{name}"]' + (f".{finding.path}" if finding.path else ""))


def _not_known(
    asked: UtilizationAsked,
    tenants: Sequence[Tenant],
    capacities: dict[str, SloCapacity],
    findings: Sequence[Finding],
    data_version: int,
) -> UtilizationAnswer:
    """Return the answer where a tenant has no Q: the others' parts are told, no sum is."""
    replicas = asked.replica_count if asked.replica_count is not None else 1
    ratio, _ = reserve.breakdown(asked.reserve)
    effective = asked.effective_capacity_ratio if asked.effective_capacity_ratio is not None else 1.0
    missing = [tenant.name for tenant in tenants if _rate(tenant, capacities) is None]
    finding = notes.error(
        "TENANT_CAPACITY_NOT_KNOWN",
        f"nothing measured gives a rate for {', '.join(missing)}, so there is no total",
        path="tenants",
        remedy="measure it, loosen its limits, or state its rate",
    )
    return UtilizationAnswer(
        total_utilization_ratio=None,
        limit_ratio=effective / (1 + ratio.ratio),
        within_limit=False,
        tenants=tuple(_part(tenant, capacities, replicas) for tenant in tenants),
        first_to_breach="",
        equation="",
        findings=notes.ordered((*findings, finding)),
        data_version=data_version,
    )


def _part(tenant: Tenant, capacities: dict[str, SloCapacity], replicas: int) -> TenantAnswer:
    rate = _rate(tenant, capacities)
    return TenantAnswer(
        tenant=tenant.name,
        peak_requests_per_s=tenant.peak_requests_per_s,
        q_slo_requests_per_s=rate,
        utilization_ratio=None if rate is None else tenant.peak_requests_per_s / rate / replicas,
        capacity=capacities.get(tenant.name),
    )


def _answer(
    result: UtilizationResult, capacities: dict[str, SloCapacity], findings: Sequence[Finding], data_version: int
) -> UtilizationAnswer:
    return UtilizationAnswer(
        total_utilization_ratio=result.total_utilization_ratio,
        limit_ratio=result.limit_ratio,
        within_limit=result.within_limit,
        tenants=tuple(
            TenantAnswer(
                tenant=item.tenant,
                peak_requests_per_s=item.peak_requests_per_s,
                q_slo_requests_per_s=item.q_slo_requests_per_s,
                utilization_ratio=item.utilization_ratio,
                share=item.share,
                growth_until_limit_ratio=item.growth_until_limit_ratio,
                capacity=capacities.get(item.tenant),
            )
            for item in result.tenants
        ),
        first_to_breach=result.first_to_breach,
        equation=result.equation,
        findings=notes.ordered((*result.findings, *findings)),
        data_version=data_version,
    )

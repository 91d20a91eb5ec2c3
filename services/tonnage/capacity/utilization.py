"""U_total: what several tenants take of the same replicas, and who reaches the limit first."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.capacity import notes
from tonnage.capacity.exact import Amount, as_float, exact, growth, shown
from tonnage.capacity.reserve import exact_ratio
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.finding import Finding
    from tonnage.domain.workload import Reserve

_HIGH_RATIO: Final = Fraction(4, 5)
"""Above this a sum of rates measured alone is flagged, whatever the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantShare:
    """One tenant: D / Q / replicas, its share of the total, and its own growth until the limit (below 0 when over)."""

    tenant: str
    peak_requests_per_s: float
    q_slo_requests_per_s: float
    utilization_ratio: float
    share: float
    growth_until_limit_ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilizationResult:
    """U_total against effective capacity / (1 + R); tenants in order of name."""

    total_utilization_ratio: float
    limit_ratio: float
    within_limit: bool
    tenants: tuple[TenantShare, ...]
    first_to_breach: str
    equation: str
    findings: tuple[Finding, ...]


def total(
    tenants: Sequence[tuple[str, Amount, Amount]],
    replica_count: int | None,
    effective_capacity_ratio: float | None,
    reserve: Reserve,
) -> UtilizationResult:
    """Return U_total = sum of D_i / Q_i / replicas, compared with effective capacity / (1 + R).

    ``tenants`` are (name, peak requests/s, requests/s of one replica). An absent replica count is one, an absent
    effective capacity 1, and both are said. ``first_to_breach`` has the least room to grow alone, which is the
    largest taker; it is empty without demand. Raises ``InvalidInput`` for no tenants, a name given twice, and figures
    out of range.
    """
    rows = _checked(tenants)
    checks.count("replica_count", replica_count)
    checks.positive("effective_capacity_ratio", effective_capacity_ratio)
    replicas = 1 if replica_count is None else replica_count
    parts = [exact(demand) / exact(capacity) / replicas for _, demand, capacity in rows]
    used = sum(parts, Fraction(0))
    effective = Fraction(1) if effective_capacity_ratio is None else exact(effective_capacity_ratio)
    limit = effective / (1 + exact_ratio(reserve))
    shares = tuple(_share(row, part, used, limit) for row, part in zip(rows, parts, strict=True))
    largest = max(zip(parts, rows, strict=True), key=lambda pair: pair[0])
    return UtilizationResult(
        total_utilization_ratio=as_float("tenants", used),
        limit_ratio=float(limit),
        within_limit=used <= limit,
        tenants=shares,
        first_to_breach=largest[1][0] if largest[0] > 0 else "",
        equation=_equation(rows, replicas, used, limit),
        findings=notes.ordered(_findings(used, limit, replica_count, effective_capacity_ratio)),
    )


def _checked(tenants: Sequence[tuple[str, Amount, Amount]]) -> list[tuple[str, Amount, Amount]]:
    checks.not_empty("tenants", tenants)
    seen: set[str] = set()
    for place, (name, demand, capacity) in enumerate(tenants):
        if name in seen:
            raise InvalidInput.field(f"tenants[{place}].name", name, "is given twice", "give each tenant its own name")
        seen.add(name)
        checks.not_negative(f"tenants[{place}].peak_requests_per_s", float(demand))
        checks.positive(f"tenants[{place}].q_slo_requests_per_s", float(capacity))
    return sorted(tenants, key=lambda row: row[0])


def _share(row: tuple[str, Amount, Amount], part: Fraction, used: Fraction, limit: Fraction) -> TenantShare:
    return TenantShare(
        tenant=row[0],
        peak_requests_per_s=float(row[1]),
        q_slo_requests_per_s=float(row[2]),
        utilization_ratio=as_float("tenants", part),
        share=float(part / used) if used else 0.0,
        growth_until_limit_ratio=growth((limit - used) / part) if part else None,
    )


def _equation(rows: Sequence[tuple[str, Amount, Amount]], replicas: int, used: Fraction, limit: Fraction) -> str:
    terms = " + ".join(f"{shown(demand)} / {shown(capacity)}" for _, demand, capacity in rows)
    load = terms if replicas == 1 else f"({terms}) / {replicas}"
    sign = "<=" if used <= limit else ">"
    return f"U_total = {load} = {shown(used)} {sign} {shown(limit)}"


def _findings(
    used: Fraction, limit: Fraction, replica_count: int | None, effective_capacity_ratio: float | None
) -> list[Finding]:
    found = [
        notes.info(
            "PLANNING_APPROXIMATION",
            "rates that each tenant reaches alone were added up; no mixed run confirms the sum",
            path="tenants",
            remedy="measure the tenants together once",
        )
    ]
    if replica_count is None:
        found.append(
            notes.info("ONE_REPLICA_ASSUMED", "the replica count is not stated and counts as 1", path="replica_count")
        )
    if effective_capacity_ratio is None:
        found.append(
            notes.info(
                "EFFECTIVE_CAPACITY_ASSUMED",
                "no mixed run was measured, so the effective capacity counts as 1",
                path="effective_capacity_ratio",
                remedy="state it from a mixed run",
            )
        )
    if used > limit:
        found.append(
            notes.error(
                "OVER_CAPACITY",
                f"U_total of {shown(used)} is over the limit of {shown(limit)}",
                path="tenants",
                remedy="add replicas, move a tenant, or lower the reserve",
            )
        )
    elif used > _HIGH_RATIO:
        found.append(
            notes.warning(
                "LITTLE_HEADROOM",
                f"U_total of {shown(used)} is over {shown(_HIGH_RATIO)}: sums of rates measured alone are too "
                "optimistic to run that close",
                path="tenants",
                remedy="keep a reserve, or confirm the mix by a run",
            )
        )
    return found

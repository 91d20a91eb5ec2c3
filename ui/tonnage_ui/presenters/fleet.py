"""U_total as bars, figures and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage_ui import numbers
from tonnage_ui.messages import enum_word, number_of, pb
from tonnage_ui.presenters.plan import Figure, Headline, capacity

if TYPE_CHECKING:
    from tonnage_ui.words import Words


def headline(answer: pb.ComputeUtilizationResponse, words: Words) -> Headline:
    """Return whether the tenants fit together, and who reaches the limit first."""
    if not answer.HasField("total_utilization_ratio"):
        return Headline("info", words("fleet.not_known"), words("fleet.not_known_text"))
    summary = words("fleet.first", tenant=answer.first_to_breach) if answer.first_to_breach else ""
    if answer.within_limit:
        return Headline("success", words("fleet.within"), summary)
    return Headline("error", words("fleet.over"), summary)


def figures(answer: pb.ComputeUtilizationResponse, words: Words) -> list[Figure]:
    """Return U_total and its limit."""
    return [
        Figure("U_total", numbers.percent(number_of(answer, "total_utilization_ratio")), words("fleet.total_help")),
        Figure(words("fleet.limit"), numbers.percent(answer.limit_ratio), words("fleet.limit_help")),
    ]


def bars(answer: pb.ComputeUtilizationResponse) -> list[tuple[str, float]]:
    """Return each tenant's part of U_total in percent; a tenant without a known capacity has none."""
    return [
        (tenant.tenant, 100 * tenant.utilization_ratio)
        for tenant in answer.tenants
        if tenant.HasField("utilization_ratio")
    ]


def rows(answer: pb.ComputeUtilizationResponse, words: Words) -> list[dict[str, str]]:
    """Return one row a tenant."""
    per_second = words("unit.requests_per_s")
    return [
        {
            words("column.tenant"): tenant.tenant,
            words("column.peak"): numbers.number(tenant.peak_requests_per_s, per_second),
            words("column.q_slo"): _q_slo(tenant, per_second),
            words("column.utilization"): numbers.percent(number_of(tenant, "utilization_ratio")),
            words("column.share"): numbers.percent(number_of(tenant, "share")),
            words("column.growth"): numbers.percent(number_of(tenant, "growth_until_limit_ratio")),
            words("column.origin"): words.known("origin", enum_word(tenant.capacity, "origin")),
            words("column.reason"): numbers.text(tenant.capacity.reason),
        }
        for tenant in answer.tenants
    ]


def all_findings(answer: pb.ComputeUtilizationResponse) -> list[pb.Finding]:
    """Return the findings of the answer and of every capacity that was looked up."""
    return [*answer.findings, *(finding for tenant in answer.tenants for finding in tenant.capacity.findings)]


def _q_slo(tenant: pb.TenantUtilization, unit: str) -> str:
    if tenant.HasField("capacity"):
        return capacity(tenant.capacity, unit)
    return numbers.number(number_of(tenant, "q_slo_requests_per_s"), unit)

"""Token demand, utilization and server count: requests and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tonnage import checks
from tonnage.domain.workload import Tenant
from tonnage.errors import InvalidInput, at
from tonnage.planning.codec.capacity import encode_breakdown, encode_capacity, encode_count
from tonnage.planning.codec.demand import decode_buckets, decode_demand, encode_summary, needed_work
from tonnage.planning.codec.limits import decode_slo
from tonnage.planning.codec.plan import decode_policy
from tonnage.planning.codec.presence import (
    LARGEST_RATE,
    LARGEST_RATIO,
    SMALLEST_RATE,
    at_most,
    namespace,
    needed,
    optional,
    rate,
)
from tonnage.planning.codec.workload import decode_failover, decode_reserve
from tonnage.planning.usecase.servers import ServersAsked
from tonnage.planning.usecase.utilization import TenantAsked, UtilizationAsked
from tonnage.rpc.codec.configuration import decode_configuration
from tonnage.rpc.codec.finding import encode_finding
from tonnage.v1 import planning_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.sizing import SizingResult
    from tonnage.domain.finding import Finding
    from tonnage.domain.plan import DemandSummary, ReserveBreakdown
    from tonnage.domain.workload import Demand, DemandBucket, Failover, Reserve
    from tonnage.planning.usecase.utilization import TenantAnswer, UtilizationAnswer
    from tonnage.v1 import workload_pb2


def decode_token_demand(message: pb.EstimateTokenDemandRequest) -> tuple[Demand, tuple[DemandBucket, ...]]:
    """Return demand and buckets; raise ``InvalidInput``."""
    with at("demand"):
        demand = decode_demand(message.demand)
    return demand, decode_buckets(message.buckets)


def encode_token_demand_answer(summary: DemandSummary, findings: Sequence[Finding]) -> pb.EstimateTokenDemandResponse:
    """Return demand in tokens as an answer."""
    return pb.EstimateTokenDemandResponse(
        demand=encode_summary(summary), findings=[encode_finding(item) for item in findings]
    )


def decode_utilization(message: pb.ComputeUtilizationRequest) -> UtilizationAsked:
    """Return tenants and limits; raise ``InvalidInput`` for a tenant with neither a rate nor what to look up."""
    checks.not_empty("tenants", message.tenants)
    tenants = []
    for place, item in enumerate(message.tenants):
        with at(f"tenants[{place}]"):
            tenants.append(_tenant(item))
    with at("reserve"):
        reserve = decode_reserve(message.reserve)
    replica_count = optional(message, "replica_count")
    checks.count("replica_count", replica_count)
    effective = optional(message, "effective_capacity_ratio")
    checks.positive("effective_capacity_ratio", effective)
    at_most("effective_capacity_ratio", effective, LARGEST_RATIO)
    return UtilizationAsked(
        namespace=namespace(message.namespace),
        tenants=tuple(tenants),
        replica_count=replica_count,
        effective_capacity_ratio=effective,
        reserve=reserve,
        policy=decode_policy(message.policy),
    )


def _tenant(message: workload_pb2.Tenant) -> TenantAsked:
    peak = needed(message, "peak_requests_per_s")
    rate("peak_requests_per_s", peak)
    capacity = optional(message, "q_slo_requests_per_s")
    if capacity is not None:
        _capacity("q_slo_requests_per_s", capacity)
        tenant = Tenant(name=message.name, peak_requests_per_s=peak, q_slo_requests_per_s=capacity)
        return TenantAsked(tenant=tenant)
    cure = "state it, or configuration, work and slo to look it up"
    names: tuple[Literal["configuration", "work", "slo"], ...] = ("configuration", "work", "slo")
    for name in names:
        if not message.HasField(name):
            raise InvalidInput.field(name, None, "is absent, and so is q_slo_requests_per_s", cure)
    with at("configuration"):
        configuration, fingerprint = decode_configuration(message.configuration)
    with at("work"):
        work = needed_work(message.work)
    with at("slo"):
        slo = decode_slo(message.slo)
    tenant = Tenant(name=message.name, peak_requests_per_s=peak, configuration=configuration, work=work, slo=slo)
    return TenantAsked(tenant=tenant, fingerprint=fingerprint)


def _capacity(path: str, value: float) -> None:
    checks.positive(path, value)
    at_most(path, value, LARGEST_RATE)
    if value < SMALLEST_RATE:
        raise InvalidInput.field(path, value, "is too small to be meant", f"give at least {SMALLEST_RATE:g}")


def encode_utilization(answer: UtilizationAnswer) -> pb.ComputeUtilizationResponse:
    """Return U_total with its shares as an answer."""
    return pb.ComputeUtilizationResponse(
        total_utilization_ratio=answer.total_utilization_ratio,
        limit_ratio=answer.limit_ratio,
        within_limit=answer.within_limit,
        tenants=[_encode_tenant(item) for item in answer.tenants],
        first_to_breach=answer.first_to_breach,
        equation=answer.equation,
        findings=[encode_finding(item) for item in answer.findings],
        data_version=answer.data_version,
    )


def _encode_tenant(item: TenantAnswer) -> pb.TenantUtilization:
    return pb.TenantUtilization(
        tenant=item.tenant,
        peak_requests_per_s=item.peak_requests_per_s,
        q_slo_requests_per_s=item.q_slo_requests_per_s,
        utilization_ratio=item.utilization_ratio,
        share=item.share,
        growth_until_limit_ratio=item.growth_until_limit_ratio,
        capacity=None if item.capacity is None else encode_capacity(item.capacity),
    )


def decode_servers(message: pb.EstimateServerCountRequest) -> ServersAsked:
    """Return demand and capacity as stated; raise ``InvalidInput`` for a rate that is not above 0."""
    checks.not_empty("buckets", message.buckets)
    buckets = []
    for place, item in enumerate(message.buckets):
        with at(f"buckets[{place}]"):
            peak = needed(item, "peak_requests_per_s")
            rate("peak_requests_per_s", peak)
            capacity = needed(item, "q_slo_requests_per_s")
            _capacity("q_slo_requests_per_s", capacity)
            buckets.append((peak, capacity))
    per_replica, per_server = _accelerators(message)
    with at("reserve"):
        reserve: Reserve = decode_reserve(message.reserve)
    failover: Failover | None = decode_failover(message.failover) if message.HasField("failover") else None
    return ServersAsked(
        buckets=tuple(buckets),
        reserve=reserve,
        failover=failover,
        accelerators_per_replica=per_replica,
        accelerators_per_server=per_server,
    )


def _accelerators(message: pb.EstimateServerCountRequest) -> tuple[int | None, int | None]:
    per_replica = optional(message, "accelerators_per_replica")
    checks.count("accelerators_per_replica", per_replica)
    per_server = optional(message, "accelerators_per_server")
    checks.count("accelerators_per_server", per_server)
    return per_replica, per_server


def encode_servers(
    result: SizingResult, breakdown: ReserveBreakdown, findings: Sequence[Finding]
) -> pb.EstimateServerCountResponse:
    """Return counts as an answer."""
    return pb.EstimateServerCountResponse(
        count=None if result.count is None else encode_count(result.count),
        reserve=encode_breakdown(breakdown),
        impossible=result.impossible,
        findings=[encode_finding(item) for item in findings],
    )

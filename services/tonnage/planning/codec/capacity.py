"""Capacity, count, reserve and cost messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.planning.codec import enums
from tonnage.planning.codec.workload import encode_money
from tonnage.rpc.codec.enums import ARRIVAL_KIND
from tonnage.rpc.codec.finding import encode_evidence, encode_finding, encode_origin
from tonnage.rpc.codec.work import encode_work
from tonnage.v1 import plan_pb2

if TYPE_CHECKING:
    from tonnage.domain.plan import BucketCapacity, CostSummary, ReserveBreakdown, ServerCount, SloCapacity


def encode_capacity(capacity: SloCapacity) -> plan_pb2.SloCapacity:
    """Return the capacity of a curve as a message."""
    measured_at = capacity.measured_at
    return plan_pb2.SloCapacity(
        q_slo_requests_per_s=capacity.q_slo_requests_per_s,
        bound=enums.BOUND_NUMBER[capacity.bound],
        policy=enums.POLICY_NUMBER[capacity.policy],
        measured_requests_per_s=capacity.measured_requests_per_s,
        crossing_requests_per_s=capacity.crossing_requests_per_s,
        measured_at=None if measured_at is None else encode_evidence(measured_at),
        output_tokens_per_s=capacity.output_tokens_per_s,
        offered_load=capacity.offered_load,
        arrival_kind=ARRIVAL_KIND.encode(capacity.arrival_kind),
        binding=enums.BOTTLENECK_NUMBER[capacity.binding],
        reason=capacity.reason,
        origin=encode_origin(capacity.origin),
        findings=[encode_finding(item) for item in capacity.findings],
    )


def encode_bucket_capacity(bucket: BucketCapacity) -> plan_pb2.BucketCapacity:
    """Return demand and capacity of one bucket as a message."""
    measured = bucket.measured_work
    return plan_pb2.BucketCapacity(
        work=encode_work(bucket.work),
        peak_requests_per_s=bucket.peak_requests_per_s,
        capacity=encode_capacity(bucket.capacity),
        measured_work=None if measured is None else encode_work(measured),
        replicas_before_reserve=bucket.replicas_before_reserve,
    )


def encode_count(count: ServerCount) -> plan_pb2.ServerCount:
    """Return counts as a message; raise ``InvalidInput`` for counts too large to be meant."""
    for name in ("replica_count", "accelerator_count", "installed_accelerator_count", "survived_replica_losses"):
        checks.count(f"count.{name}", getattr(count, name), least=0)
    return plan_pb2.ServerCount(
        replica_count=count.replica_count,
        server_count=count.server_count,
        accelerator_count=count.accelerator_count,
        installed_accelerator_count=count.installed_accelerator_count,
        needed_replica_count=count.needed_replica_count,
        exact_replicas=count.exact_replicas,
        demand_headroom_ratio=count.demand_headroom_ratio,
        demand_surplus_ratio=count.demand_surplus_ratio,
        survived_replica_losses=count.survived_replica_losses,
        replicas_per_server=count.replicas_per_server,
        equation=count.equation,
    )


def encode_breakdown(breakdown: ReserveBreakdown) -> plan_pb2.ReserveBreakdown:
    """Return R, taken apart, as a message."""
    return plan_pb2.ReserveBreakdown(
        ratio=breakdown.ratio,
        parts=[plan_pb2.NamedReserve(part=item.part, ratio=item.ratio, source=item.source) for item in breakdown.parts],
    )


def encode_cost(cost: CostSummary | None) -> plan_pb2.CostSummary | None:
    """Return cost as a message, None for None."""
    if cost is None:
        return None
    return plan_pb2.CostSummary(
        per_hour=encode_money(cost.per_hour),
        per_million_output_tokens=encode_money(cost.per_million_output_tokens),
        utilization_ratio=cost.utilization_ratio,
    )

"""Plan requests and plans."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from tonnage.domain.plan import CapacityPolicy, Depth, PlanRequest
from tonnage.errors import InvalidInput, at
from tonnage.planning.codec import enums
from tonnage.planning.codec.capacity import encode_breakdown, encode_bucket_capacity, encode_cost, encode_count
from tonnage.planning.codec.confidence import decode_options, encode_confidence, encode_options
from tonnage.planning.codec.demand import encode_summary
from tonnage.planning.codec.presence import day, member, namespace
from tonnage.planning.codec.simulation import encode_simulation
from tonnage.planning.codec.workload import decode_workload, encode_workload
from tonnage.rpc.codec.configuration import decode_configuration, encode_configuration
from tonnage.rpc.codec.finding import encode_evidence, encode_finding, encode_origin
from tonnage.v1 import plan_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.domain.configuration import Configuration
    from tonnage.domain.plan import Candidate, Plan, Rejection
    from tonnage.v1 import planning_service_pb2, run_pb2

DEFAULT_CANDIDATE_COUNT: Final = 20
_LARGEST_CANDIDATE_COUNT: Final = 1000


def decode_plan_request(message: planning_service_pb2.PlanCapacityRequest, today: str) -> PlanRequest:
    """Return what is asked, defaults filled in; an absent as-of date becomes ``today``."""
    with at("workload"):
        workload = decode_workload(message.workload)
    with at("configuration"):
        configuration, fingerprint = decode_configuration(message.configuration)
    with at("confidence"):
        confidence = decode_options(message.confidence)
    return PlanRequest(
        namespace=namespace(message.namespace),
        workload=workload,
        configuration=configuration,
        fingerprint=fingerprint,
        confidence=confidence,
        policy=decode_policy(message.policy),
        depth=_depth(message.depth),
        as_of_date=day("as_of_date", message.as_of_date) if message.as_of_date else today,
        max_candidate_count=_candidate_count(message.max_candidate_count),
    )


def decode_normalized(message: plan_pb2.NormalizedPlanRequest) -> PlanRequest:
    """Return the request a kept plan answers; nothing in it is defaulted."""
    with at("workload"):
        workload = decode_workload(message.workload)
    with at("configuration"):
        configuration, fingerprint = decode_configuration(message.configuration)
    with at("confidence"):
        confidence = decode_options(message.confidence)
    return PlanRequest(
        namespace=namespace(message.namespace),
        workload=workload,
        configuration=configuration,
        fingerprint=fingerprint,
        confidence=confidence,
        policy=member(enums.POLICY, message.policy, "policy"),
        depth=member(enums.DEPTH, message.depth, "depth"),
        as_of_date=day("as_of_date", message.as_of_date),
        max_candidate_count=_candidate_count(message.max_candidate_count),
    )


def decode_policy(number: int) -> CapacityPolicy:
    """Return the policy; unstated is "measured"."""
    if number == plan_pb2.CAPACITY_POLICY_UNSPECIFIED:
        return CapacityPolicy.MEASURED
    return member(enums.POLICY, number, "policy")


def _depth(number: int) -> Depth:
    return Depth.BASE if number == plan_pb2.DEPTH_UNSPECIFIED else member(enums.DEPTH, number, "depth")


def _candidate_count(count: int) -> int:
    if count < 0 or count > _LARGEST_CANDIDATE_COUNT:
        cure = f"give 1 to {_LARGEST_CANDIDATE_COUNT}, or 0 for {DEFAULT_CANDIDATE_COUNT}"
        raise InvalidInput.field("max_candidate_count", count, "is out of range", cure)
    return count or DEFAULT_CANDIDATE_COUNT


def encode_normalized(request: PlanRequest) -> plan_pb2.NormalizedPlanRequest:
    """Return a request with its defaults filled in as a message."""
    return plan_pb2.NormalizedPlanRequest(
        namespace=request.namespace,
        workload=encode_workload(request.workload),
        configuration=encode_selector(request.configuration, request.fingerprint),
        policy=enums.POLICY_NUMBER[request.policy],
        depth=enums.DEPTH_NUMBER[request.depth],
        as_of_date=request.as_of_date,
        max_candidate_count=request.max_candidate_count,
        confidence=encode_options(request.confidence),
    )


@functools.lru_cache(maxsize=1024)
def encode_selector(configuration: Configuration, fingerprint: str | None) -> run_pb2.Configuration:
    """Return a selector as a message; the fields of a partial one have no fingerprint."""
    message = encode_configuration(configuration)
    message.fingerprint = fingerprint or ""
    return message


@functools.lru_cache(maxsize=4096)
def _identity(configuration: Configuration) -> run_pb2.Configuration:
    """Return a configuration as a message that others only copy from."""
    return encode_configuration(configuration)


def encode_candidate(candidate: Candidate) -> plan_pb2.Candidate:
    """Return one way to serve the workload as a message."""
    return plan_pb2.Candidate(
        configuration=_identity(candidate.configuration),
        assumed_fields=candidate.assumed_fields,
        buckets=[encode_bucket_capacity(item) for item in candidate.buckets],
        count=encode_count(candidate.count),
        reserve=encode_breakdown(candidate.reserve),
        utilization_ratio=candidate.utilization_ratio,
        upper_bound=candidate.upper_bound,
        cost=encode_cost(candidate.cost),
        bottleneck=enums.BOTTLENECK_NUMBER[candidate.bottleneck],
        origin=encode_origin(candidate.origin),
        evidence=[encode_evidence(item) for item in candidate.evidence],
        findings=[encode_finding(item) for item in candidate.findings],
        confidence=encode_confidence(candidate.confidence),
        simulation=encode_simulation(candidate.simulation),
    )


def encode_rejection(rejection: Rejection) -> plan_pb2.Rejection:
    """Return a configuration that does not answer as a message."""
    return plan_pb2.Rejection(
        configuration=_identity(rejection.configuration),
        code=rejection.code,
        bottleneck=enums.BOTTLENECK_NUMBER[rejection.bottleneck],
        reason=rejection.reason,
        remedy=rejection.remedy,
        evidence=[encode_evidence(item) for item in rejection.evidence],
    )


def encode_plan(plan: Plan, evidence_runs: Iterable[run_pb2.Run]) -> plan_pb2.Plan:
    """Return the whole answer as a message, with the runs it stands on."""
    return plan_pb2.Plan(
        plan_id=plan.plan_id,
        data_version=plan.data_version,
        release=plan.release,
        verdict=enums.VERDICT_NUMBER[plan.verdict],
        request=encode_normalized(plan.request),
        demand=encode_summary(plan.demand),
        candidates=[encode_candidate(item) for item in plan.candidates],
        rejections=[encode_rejection(item) for item in plan.rejections],
        findings=[encode_finding(item) for item in plan.findings],
        summary=plan.summary,
        evidence_runs=evidence_runs,
    )


def encode_validated(request: PlanRequest) -> plan_pb2.Plan:
    """Return a request that was checked and not planned: a plan that holds its normalized request alone."""
    return plan_pb2.Plan(request=encode_normalized(request))

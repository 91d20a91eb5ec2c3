"""Answers: capacity of a curve, counts, candidates, rejections, the plan."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tonnage.domain.finding import Evidence, Finding, Origin

if TYPE_CHECKING:
    from tonnage.domain.confidence import CandidateConfidence, ConfidenceOptions
    from tonnage.domain.configuration import Configuration
    from tonnage.domain.measurement import ArrivalKind, Work
    from tonnage.domain.simulation import Simulation
    from tonnage.domain.workload import Money, Workload


class CapacityPolicy(StrEnum):
    """Which capacity of a curve is used."""

    MEASURED = "measured"
    INTERPOLATED = "interpolated"


class Depth(StrEnum):
    """How hard the planner works."""

    BASE = "base"
    CONFIDENCE = "confidence"
    CHECKED = "checked"


class CapacityBound(StrEnum):
    """What kind of number Q_slo is."""

    EXACT = "exact"
    AT_LEAST = "at-least"
    NONE = "none"


class Bottleneck(StrEnum):
    """What decides a size or a rejection."""

    UNKNOWN = "unknown"
    TTFT = "ttft"
    TPOT = "tpot"
    ITL = "itl"
    E2E = "e2e"
    QUEUE = "queue"
    FAILURES = "failures"
    THROUGHPUT = "throughput"
    MEMORY = "memory"
    EVIDENCE = "evidence"
    FAILOVER = "failover"


class PlanVerdict(StrEnum):
    """What the plan comes to."""

    FEASIBLE = "feasible"
    NOT_FEASIBLE = "not-feasible"
    NOT_KNOWN = "not-known"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True, kw_only=True)
class SloCapacity:
    """Largest sustained rate of one replica inside an SLO, requests/s."""

    bound: CapacityBound
    policy: CapacityPolicy
    reason: str
    q_slo_requests_per_s: float | None = None
    measured_requests_per_s: float | None = None
    crossing_requests_per_s: float | None = None
    measured_at: Evidence | None = None
    output_tokens_per_s: float | None = None
    offered_load: float | None = None
    arrival_kind: ArrivalKind | None = None
    binding: Bottleneck = Bottleneck.UNKNOWN
    origin: Origin = Origin.MEASURED
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketCapacity:
    """Capacity for one demand bucket."""

    work: Work
    peak_requests_per_s: float
    capacity: SloCapacity
    measured_work: Work | None = None
    replicas_before_reserve: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedReserve:
    """One part of R that was used."""

    part: str
    ratio: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveBreakdown:
    """R = (1 + growth)(1 + burst)(1 + drift)(1 + colocation) - 1, taken apart."""

    ratio: float
    parts: tuple[NamedReserve, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCount:
    """Replicas, servers and accelerators, kept apart."""

    replica_count: int
    server_count: int
    needed_replica_count: int
    exact_replicas: float
    replicas_per_server: int
    survived_replica_losses: int
    equation: str
    accelerator_count: int | None = None
    installed_accelerator_count: int | None = None
    demand_headroom_ratio: float | None = None
    demand_surplus_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDemand:
    """Totals, tokens/s."""

    input_tokens_per_s: float
    cached_input_tokens_per_s: float
    output_tokens_per_s: float

    @property
    def uncached_input_tokens_per_s(self) -> float:
        """Return input less what the prefix cache holds."""
        return self.input_tokens_per_s - self.cached_input_tokens_per_s

    @property
    def total_tokens_per_s(self) -> float:
        """Return input and output."""
        return self.input_tokens_per_s + self.output_tokens_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketTokenDemand:
    """Token demand of one bucket; base is None when only the peak is known."""

    work: Work
    share: float
    peak: TokenDemand
    base: TokenDemand | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandSummary:
    """Demand after its sums, requests/s."""

    peak_requests_per_s: float
    equation: str
    origin: Origin
    source: str
    base_requests_per_s: float | None = None
    peak_factor: float | None = None
    peak_tokens: TokenDemand | None = None
    base_tokens: TokenDemand | None = None
    buckets: tuple[BucketTokenDemand, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSummary:
    """Cost at the planned utilization (within 0 and 1)."""

    per_hour: Money
    per_million_output_tokens: Money | None = None
    utilization_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to serve the workload."""

    configuration: Configuration
    buckets: tuple[BucketCapacity, ...]
    count: ServerCount
    reserve: ReserveBreakdown
    utilization_ratio: float
    upper_bound: bool
    origin: Origin
    bottleneck: Bottleneck = Bottleneck.UNKNOWN
    assumed_fields: tuple[str, ...] = ()
    cost: CostSummary | None = None
    evidence: tuple[Evidence, ...] = ()
    findings: tuple[Finding, ...] = ()
    confidence: CandidateConfidence | None = None
    simulation: Simulation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A configuration that does not answer, and why."""

    configuration: Configuration
    code: str
    bottleneck: Bottleneck
    reason: str
    remedy: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A request with its defaults filled in; ``as_of_date`` is the only clock an answer knows."""

    namespace: str
    workload: Workload
    configuration: Configuration
    as_of_date: str
    policy: CapacityPolicy = CapacityPolicy.MEASURED
    depth: Depth = Depth.BASE
    max_candidate_count: int = 20
    fingerprint: str | None = None
    confidence: ConfidenceOptions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The whole answer."""

    plan_id: str
    data_version: int
    release: str
    verdict: PlanVerdict
    request: PlanRequest
    demand: DemandSummary
    summary: str
    candidates: tuple[Candidate, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    findings: tuple[Finding, ...] = ()

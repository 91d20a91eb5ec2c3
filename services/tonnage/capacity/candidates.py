"""One configuration against one workload: a candidate with its counts, or a rejection with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tonnage.capacity import cost, notes, sizing, sweeps
from tonnage.capacity.exact import as_float, exact
from tonnage.capacity.works import described
from tonnage.domain.finding import Evidence, Finding, Severity, weakest
from tonnage.domain.plan import Bottleneck, BucketCapacity, Candidate, CapacityBound, Rejection
from tonnage.errors import at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.capacity.sweeps import CandidateCurves, Choice
    from tonnage.domain.plan import DemandSummary, PlanRequest, ReserveBreakdown
    from tonnage.domain.workload import DemandBucket

NOT_FEASIBLE_CODES = frozenset({"SLO_NOT_MET", "FAILOVER_IMPOSSIBLE"})
"""Rejections that were measured; all others say that something is not known."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A plan request with the sums that every candidate shares; ``peak`` is exact requests/s."""

    request: PlanRequest
    peak: Fraction
    demand: DemandSummary
    reserve: ReserveBreakdown


def plan_candidate(asked: Asked, curves: CandidateCurves) -> Candidate | Rejection:
    """Return the counts of one configuration, or why it does not answer."""
    missing = curves.configuration.missing_for_plan()
    if missing:
        return _incomplete(curves, missing)
    if not curves.sweeps:
        return _no_runs(curves)
    workload = asked.request.workload
    choices = [sweeps.choose(curves.sweeps, bucket.work) for bucket in workload.buckets]
    rows = [_bucket(asked, bucket, choice) for bucket, choice in zip(workload.buckets, choices, strict=True)]
    failed = next((row for row in rows if row.capacity.q_slo_requests_per_s is None), None)
    if failed is not None:
        return _rejected(curves, failed, choices[rows.index(failed)], several=len(rows) > 1)
    return _counted(asked, curves, rows, choices)


def _bucket(asked: Asked, bucket: DemandBucket, choice: Choice) -> BucketCapacity:
    peak = asked.peak * exact(bucket.share)
    capacity = sweeps.chosen_capacity(choice, bucket.work, asked.request.workload.slo, asked.request.policy)
    q_slo = capacity.q_slo_requests_per_s
    return BucketCapacity(
        work=bucket.work,
        peak_requests_per_s=float(peak),
        capacity=capacity,
        measured_work=choice.sweep.work,
        replicas_before_reserve=None if q_slo is None else float(peak) / q_slo,
    )


def _counted(
    asked: Asked, curves: CandidateCurves, rows: Sequence[BucketCapacity], choices: Sequence[Choice]
) -> Candidate | Rejection:
    workload, configuration = asked.request.workload, curves.configuration
    pairs = [
        (asked.peak * exact(bucket.share), exact(row.capacity.q_slo_requests_per_s or 0))
        for bucket, row in zip(workload.buckets, rows, strict=True)
    ]
    with at("workload"):
        sized = sizing.server_count(
            pairs,
            workload.reserve,
            workload.failover,
            configuration.accelerators_per_replica,
            workload.server.accelerators_per_server,
        )
    if sized.count is None:
        return _impossible(curves, sized.findings, choices)
    replicas = sized.count.replica_count
    used = sized.load / replicas if replicas else Fraction(0)
    utilization = as_float("workload.demand", used)
    money, money_findings = cost.summary(
        sized.count, workload.server, utilization_ratio=utilization, output_tokens_per_s=_carried(asked, utilization)
    )
    largest = max(rows, key=lambda row: row.replicas_before_reserve or 0.0)
    findings = (*sized.findings, *money_findings, *_said(rows, choices))
    return Candidate(
        configuration=configuration,
        buckets=tuple(rows),
        count=sized.count,
        reserve=asked.reserve,
        utilization_ratio=utilization,
        upper_bound=any(row.capacity.bound is CapacityBound.AT_LEAST for row in rows),
        origin=weakest(*(row.capacity.origin for row in rows)),
        bottleneck=largest.capacity.binding,
        assumed_fields=tuple(
            name for name in configuration.left_open_by(asked.request.configuration) if name != "model"
        ),
        cost=money,
        evidence=_evidence(rows, choices),
        findings=notes.ordered(notes.of_workload(findings)),
    )


def _carried(asked: Asked, utilization: float) -> float | None:
    """Return the output tokens/s that all replicas carry inside the SLO, None where a bucket generates no text."""
    tokens = asked.demand.peak_tokens
    if tokens is None or len(asked.demand.buckets) != len(asked.request.workload.buckets):
        return None
    return tokens.output_tokens_per_s / utilization if utilization > 0 else 0.0


def _said(rows: Sequence[BucketCapacity], choices: Sequence[Choice]) -> Iterable[Finding]:
    for row in rows:
        yield from row.capacity.findings
    for choice in choices:
        yield from sweeps.left_aside(choice)


def _evidence(rows: Sequence[BucketCapacity], choices: Sequence[Choice]) -> tuple[Evidence, ...]:
    """Return the levels the rates stand on, then the runs of the sweeps used, once each."""
    points = [row.capacity.measured_at for row in rows if row.capacity.measured_at is not None]
    runs = [evidence for choice in choices for evidence in choice.sweep.curve.evidence]
    return tuple(dict.fromkeys((*points, *runs)))


def _incomplete(curves: CandidateCurves, missing: tuple[str, ...]) -> Rejection:
    return Rejection(
        configuration=curves.configuration,
        code="IDENTITY_INCOMPLETE",
        bottleneck=Bottleneck.EVIDENCE,
        reason=f"its runs do not state {', '.join(missing)}, without which nothing is planned on them",
        remedy="upload the same files with what is missing stated beside them",
        evidence=_runs(curves),
    )


def _no_runs(curves: CandidateCurves) -> Rejection:
    return Rejection(
        configuration=curves.configuration,
        code="NO_MEASURED_RUN",
        bottleneck=Bottleneck.EVIDENCE,
        reason="no live run of it is stored",
        remedy="measure it",
    )


def _runs(curves: CandidateCurves) -> tuple[Evidence, ...]:
    found = (evidence for sweep in curves.sweeps for evidence in sweep.curve.evidence)
    return tuple(sorted(dict.fromkeys(found), key=lambda item: (item.run, item.source)))


def _rejected(curves: CandidateCurves, row: BucketCapacity, choice: Choice, *, several: bool) -> Rejection:
    """Return the rejection of the first bucket that has no capacity."""
    grave = [item for item in row.capacity.findings if item.severity is Severity.ERROR]
    main = grave[0] if grave else notes.error("NO_CAPACITY", row.capacity.reason)
    older = f"; an older sweep or another tool's is stored beside it ({len(choice.aside)})" if choice.aside else ""
    return Rejection(
        configuration=curves.configuration,
        code=main.code,
        bottleneck=row.capacity.binding,
        reason=f"{described(row.work)}: {main.message}" if several else main.message,
        remedy=f"{main.remedy}{older}",
        evidence=main.evidence or choice.sweep.curve.evidence,
    )


def _impossible(curves: CandidateCurves, findings: Sequence[Finding], choices: Sequence[Choice]) -> Rejection:
    main = next(item for item in findings if item.code == "FAILOVER_IMPOSSIBLE")
    return Rejection(
        configuration=curves.configuration,
        code=main.code,
        bottleneck=Bottleneck.FAILOVER,
        reason=main.message,
        remedy=main.remedy,
        evidence=_evidence((), choices),
    )

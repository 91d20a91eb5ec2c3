"""Two plans side by side: what was asked, what was known, what was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tonnage import checks
from tonnage.capacity import notes
from tonnage.errors import InvalidInput, at
from tonnage.planning.codec.difference import Differ, Difference
from tonnage.rpc.codec.finding import encode_findings
from tonnage.v1 import planning_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.domain.finding import Finding
    from tonnage.v1 import plan_pb2

MOST_DIFFERENCES: Final = 500
_PLAN: Final = "tonnage.v1.Plan"
_PROSE: Final = (
    f"{_PLAN}.plan_id",
    f"{_PLAN}.summary",
    "tonnage.v1.Finding.message",
    "tonnage.v1.Finding.remedy",
    "tonnage.v1.Rejection.reason",
    "tonnage.v1.Rejection.remedy",
    "tonnage.v1.SloCapacity.reason",
    "tonnage.v1.ServerCount.equation",
    "tonnage.v1.DemandSummary.equation",
    "tonnage.v1.Evidence.note",
)
_INSIDE_RUNS: Final = ("tonnage.v1.Run.levels", "tonnage.v1.Run.findings")


def _fingerprint(entry: Any) -> str:  # noqa: ANN401 -- a candidate or a rejection
    return str(entry.configuration.fingerprint)


def _evidence(entry: Any) -> str:  # noqa: ANN401 -- an evidence message
    return f"{entry.quantity} {entry.run} {entry.point_index if entry.HasField('point_index') else ''}".strip()


_DIFFER: Final = Differ(
    keys={
        f"{_PLAN}.candidates": _fingerprint,
        f"{_PLAN}.rejections": _fingerprint,
        f"{_PLAN}.evidence_runs": lambda run: str(run.name),
        f"{_PLAN}.findings": lambda finding: f"{finding.code} {finding.path}".strip(),
        "tonnage.v1.Candidate.findings": lambda finding: f"{finding.code} {finding.path}".strip(),
        "tonnage.v1.SloCapacity.findings": lambda finding: f"{finding.code} {finding.path}".strip(),
        "tonnage.v1.Candidate.evidence": _evidence,
        "tonnage.v1.Rejection.evidence": _evidence,
        "tonnage.v1.Finding.evidence": _evidence,
    },
    skipped=(*_PROSE, *_INSIDE_RUNS),
)


def kept_plan(plan: plan_pb2.Plan, path: str) -> plan_pb2.Plan:
    """Return a plan a caller kept; raise ``InvalidInput`` when it is no whole plan or its figures cannot be."""
    with at(path):
        if not plan.plan_id or not plan.HasField("request") or not plan.release:
            cure = "give the plan whole, as PlanCapacity gave it"
            raise InvalidInput.field("", plan.plan_id or None, "is no whole plan", cure)
        checks.count("data_version", plan.data_version, least=0)
        for place, candidate in enumerate(plan.candidates):
            with at(f"candidates[{place}]"):
                _check_candidate(candidate)
    return plan


def _check_candidate(candidate: plan_pb2.Candidate) -> None:
    for name in ("replica_count", "server_count", "accelerator_count"):
        checks.count(f"count.{name}", getattr(candidate.count, name), least=0)
    checks.not_negative("cost.per_hour.amount", candidate.cost.per_hour.amount)
    for place, bucket in enumerate(candidate.buckets):
        checks.not_negative(f"buckets[{place}].capacity.q_slo_requests_per_s", bucket.capacity.q_slo_requests_per_s)


def differences(before: plan_pb2.Plan, after: plan_pb2.Plan) -> list[pb.PlanDifference]:
    """Return every field that differs, words for people left out."""
    return [
        pb.PlanDifference(kind=_kind(item), path=item.path, before=item.before, after=item.after)
        for item in _DIFFER.differences(before, after)
    ]


def _kind(item: Difference) -> pb.DifferenceKind.ValueType:
    head = item.path.split(".")[0].split("[")[0].split(" ")[0]
    if head == "request":
        return pb.DIFFERENCE_KIND_REQUEST
    if head in {"data_version", "evidence_runs"} or ".evidence" in item.path or ".measured_at" in item.path:
        return pb.DIFFERENCE_KIND_DATA
    return pb.DIFFERENCE_KIND_RELEASE if head == "release" else pb.DIFFERENCE_KIND_ANSWER


def same_answer(found: Iterable[pb.PlanDifference]) -> bool:
    """Tell whether nothing that was answered differs."""
    return all(item.kind != pb.DIFFERENCE_KIND_ANSWER for item in found)


def change(before: plan_pb2.Plan, after: plan_pb2.Plan) -> pb.CountChange:
    """Return how the best candidate's counts, cost and Q_slo changed; absent where either side has none."""
    found = pb.CountChange()
    if not before.candidates or not after.candidates:
        return found
    old, new = before.candidates[0], after.candidates[0]
    found.replica_count = new.count.replica_count - old.count.replica_count
    found.server_count = new.count.server_count - old.count.server_count
    if old.count.HasField("accelerator_count") and new.count.HasField("accelerator_count"):
        found.accelerator_count = new.count.accelerator_count - old.count.accelerator_count
    _cost(found, old.cost.per_hour, new.cost.per_hour)
    _rate(found, old, new)
    return found


def _cost(found: pb.CountChange, old: Any, new: Any) -> None:  # noqa: ANN401 -- two amounts of money
    if old.HasField("amount") and new.HasField("amount") and old.currency == new.currency:
        found.cost_per_hour = new.amount - old.amount
        found.currency = old.currency


def _rate(found: pb.CountChange, old: plan_pb2.Candidate, new: plan_pb2.Candidate) -> None:
    if len(old.buckets) != 1 or len(new.buckets) != 1:
        return
    rates = [item.buckets[0].capacity.q_slo_requests_per_s for item in (old, new)]
    if all(rate > 0 for rate in rates):
        found.q_slo_ratio = rates[1] / rates[0] - 1


def compare(before: plan_pb2.Plan, after: plan_pb2.Plan) -> pb.ComparePlansResponse:
    """Return what differs between two plans."""
    found = differences(before, after)
    return pb.ComparePlansResponse(
        differences=found[:MOST_DIFFERENCES],
        change=change(before, after),
        same_answer=same_answer(found),
        findings=encode_findings(_cut(found)),
    )


def _cut(found: Sequence[pb.PlanDifference]) -> Iterable[Finding]:
    if len(found) > MOST_DIFFERENCES:
        yield notes.info("DIFFERENCES_CUT", f"{len(found)} fields differ, the first {MOST_DIFFERENCES} are listed")

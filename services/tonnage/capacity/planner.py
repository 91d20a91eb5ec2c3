"""The whole answer to one workload: every configuration planned, the best first, the others with their reason."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tonnage.capacity import notes
from tonnage.capacity.candidates import NOT_FEASIBLE_CODES, Asked, plan_candidate
from tonnage.capacity.canonical import plan_id
from tonnage.capacity.confidence.of_plan import with_confidence
from tonnage.capacity.contradictions import contradictions
from tonnage.capacity.demand import rates, summary_of
from tonnage.capacity.exact import shown
from tonnage.capacity.reserve import breakdown
from tonnage.capacity.simulation.of_plan import with_simulation
from tonnage.capacity.sweeps import CandidateCurves, SweepCurve
from tonnage.domain.plan import Candidate, Depth, Plan, PlanVerdict, Rejection
from tonnage.errors import InvalidInput, at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.domain.finding import Finding
    from tonnage.domain.plan import PlanRequest

_NEAREST_SHOWN: Final = 3


def plan(request: PlanRequest, candidates: Iterable[CandidateCurves], data_version: int, release: str) -> Plan:
    """Return the plan of one workload on what was measured.

    Candidates of another model, or that differ from a field the request states, are left out; each of the others
    becomes a candidate or a rejection. Candidates are ranked by cost where it is known, then accelerators, then
    fingerprint. The order of ``candidates`` never matters, and the same input gives the same plan.

    Raises ``InvalidInput`` for contradictory model names and for figures out of range.
    """
    asked, shared = _asked(request)
    name = plan_id(request, data_version, release)
    clash = notes.of_workload(contradictions(request.workload.slo, request.workload.buckets))
    if clash:
        return Plan(
            plan_id=name,
            data_version=data_version,
            release=release,
            verdict=PlanVerdict.CONTRADICTION,
            request=request,
            demand=asked.demand,
            summary=f"The limits contradict each other, which no count of servers mends: {clash[0].message}.",
            findings=notes.ordered((*shared, *clash)),
        )
    ordered = sorted(candidates, key=lambda item: item.fingerprint)
    matching = [item for item in ordered if _matches(request, item)]
    answers = [plan_candidate(asked, item) for item in matching]
    planned = sorted((item for item in answers if isinstance(item, Candidate)), key=_rank)
    rejections = tuple(item for item in answers if isinstance(item, Rejection))
    kept = tuple(planned[: request.max_candidate_count])
    if request.depth is not Depth.BASE:
        by_name = {item.fingerprint: item for item in matching}
        kept, unsure = with_confidence(asked, kept, by_name, data_version)
        shared = (*shared, *unsure)
        if request.depth is Depth.CHECKED:
            kept = with_simulation(request, kept, by_name)
    verdict = _verdict(kept, rejections)
    findings = (*shared, *_overall(request, ordered, matching, planned))
    return Plan(
        plan_id=name,
        data_version=data_version,
        release=release,
        verdict=verdict,
        request=request,
        demand=asked.demand,
        summary=_summary(asked, kept, rejections, verdict),
        candidates=kept,
        rejections=rejections,
        findings=notes.ordered(findings),
    )


def _asked(request: PlanRequest) -> tuple[Asked, tuple[Finding, ...]]:
    workload = request.workload
    named = request.configuration.model
    if named is not None and named != workload.model:
        raise InvalidInput.field(
            "configuration.model", named, f"contradicts workload.model {workload.model}", "state one model"
        )
    with at("workload"):
        known = rates(workload.demand, workload.buckets)
        demand, demand_findings = summary_of(known, workload.buckets)
        reserve, reserve_findings = breakdown(workload.reserve)
    return Asked(request, known.peak, demand, reserve), notes.of_workload((*demand_findings, *reserve_findings))


def _matches(request: PlanRequest, item: CandidateCurves) -> bool:
    if item.configuration.model != request.workload.model:
        return False
    if request.fingerprint is not None and item.fingerprint != request.fingerprint:
        return False
    return not item.configuration.conflicts_with(request.configuration)


def _rank(item: Candidate) -> tuple[float, float, str]:
    amount = math.inf if item.cost is None else item.cost.per_hour.amount
    accelerators = math.inf if item.count.accelerator_count is None else item.count.accelerator_count
    return amount, accelerators, item.configuration.fingerprint


def _verdict(kept: Sequence[Candidate], rejections: Sequence[Rejection]) -> PlanVerdict:
    if kept:
        return PlanVerdict.FEASIBLE
    if any(item.code in NOT_FEASIBLE_CODES for item in rejections):
        return PlanVerdict.NOT_FEASIBLE
    return PlanVerdict.NOT_KNOWN


def _overall(
    request: PlanRequest,
    known: Sequence[CandidateCurves],
    matching: Sequence[CandidateCurves],
    planned: Sequence[Candidate],
) -> Iterable[Finding]:
    if not matching:
        yield _nothing_matches(request, known)
    if len(planned) > request.max_candidate_count:
        yield notes.info(
            "CANDIDATES_CUT",
            f"{len(planned)} configurations serve it, the best {request.max_candidate_count} are shown",
            path="max_candidate_count",
        )
    if request.workload.server.price_per_hour is not None and len({_host(item) for item in planned}) > 1:
        yield notes.warning(
            "ONE_PRICE_FOR_UNLIKE_SERVERS",
            "one price was stated and the candidates run on unlike accelerators; their cost compares only if the "
            "price holds for each",
            path="workload.server.price_per_hour",
            remedy="name the accelerator in the request, and plan each with its own price",
        )


def _host(item: Candidate) -> str:
    return item.configuration.accelerator or ""


def _nothing_matches(request: PlanRequest, known: Sequence[CandidateCurves]) -> Finding:
    model = request.workload.model
    same_model = [item for item in known if item.configuration.model == model]
    if not same_model:
        return notes.error(
            "NO_MEASURED_RUN",
            f"no stored run is of {model}, so nothing is known of what it takes",
            path="workload.model",
            remedy=f"measure {model}, or ingest runs of it; check the name against the stored configurations",
        )
    nearest = sorted(same_model, key=lambda item: (len(_differences(request, item)), item.fingerprint))
    shown_ones = "; ".join(
        f"{item.fingerprint[:8]} differs in {', '.join(_differences(request, item))}"
        for item in nearest[:_NEAREST_SHOWN]
    )
    return notes.error(
        "CONFIGURATION_NOT_MEASURED",
        f"runs of {model} are stored, none of the configuration asked; the nearest: {shown_ones}",
        path="configuration",
        remedy="measure the configuration asked, or leave those fields open",
        evidence=tuple(
            evidence for item in nearest[:_NEAREST_SHOWN] for sweep in item.sweeps for evidence in sweep.curve.evidence
        ),
    )


def _differences(request: PlanRequest, item: CandidateCurves) -> tuple[str, ...]:
    asked = request.configuration.stated()
    have = item.configuration.stated()
    fields = tuple(
        f"{name} ({have.get(name, 'not stated')})" for name in item.configuration.conflicts_with(request.configuration)
    )
    if request.fingerprint is not None and request.fingerprint != item.fingerprint:
        return (*fields, "fingerprint")
    return fields if asked else ()


def _summary(asked: Asked, kept: Sequence[Candidate], rejections: Sequence[Rejection], verdict: PlanVerdict) -> str:
    peak = f"{shown(asked.peak)} requests/s"
    if not kept:
        reason = rejections[0].reason if rejections else "no stored run is of what was asked"
        word = "Nothing measured serves" if verdict is PlanVerdict.NOT_FEASIBLE else "It is not known what serves"
        return f"{word} {peak} of {asked.request.workload.model}: {reason}."
    best = kept[0]
    count, stated = best.count, best.configuration
    bound = "at most " if best.upper_bound else ""
    cards = "" if count.accelerator_count is None else f" ({count.accelerator_count} x {stated.accelerator})"
    return (
        f"{peak} of {stated.model} at peak take {bound}{_many(count.replica_count, 'replica')}{cards} on "
        f"{_many(count.server_count, 'server')} of {stated.engine} {stated.engine_version or ''}".rstrip()
        + f", with a reserve of {shown(best.reserve.ratio)}."
    )


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


__all__ = ["CandidateCurves", "SweepCurve", "plan"]

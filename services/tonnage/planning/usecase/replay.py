"""A kept plan computed again from what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage.capacity import notes, planner
from tonnage.capacity.canonical import plan_id
from tonnage.planning.usecase.book import hold
from tonnage.planning.usecase.plan import Planned, evidence_runs
from tonnage.store.sweeps import sweeps_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.capacity.sweeps import CandidateCurves
    from tonnage.domain.configuration import Configuration
    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.domain.plan import Plan, PlanRequest
    from tonnage.planning.usecase.book import Held


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPlan:
    """What a kept plan holds that decides its answer."""

    plan_id: str
    data_version: int
    release: str
    request: PlanRequest
    runs: tuple[Run, ...]


def replay(kept: KeptPlan, release: str) -> Planned:
    """Return the plan of the same request on the same runs, by this release."""
    held = _held(kept.runs)
    answer = planner.plan(kept.request, [item.curves for item in held], kept.data_version, release)
    return Planned(answer, evidence_runs(answer, held))


def planned_on(kept: KeptPlan, release: str) -> tuple[Plan, dict[str, CandidateCurves]]:
    """Return the plan of a kept request on its runs, with the curves by fingerprint."""
    curves = [item.curves for item in _held(kept.runs)]
    answer = planner.plan(kept.request, curves, kept.data_version, release)
    return answer, {item.fingerprint: item for item in curves}


def _held(runs: Iterable[Run]) -> list[Held]:
    by_configuration: dict[Configuration, list[Run]] = {}
    for run in runs:
        by_configuration.setdefault(run.configuration, []).append(run)
    return [hold(configuration, tuple(sweeps_of(found))) for configuration, found in by_configuration.items()]


def findings(kept: KeptPlan, release: str, *, same_answer: bool, cut: bool) -> tuple[Finding, ...]:
    """Return what is said of a replay: another release, an altered plan, rejections that were not computed again."""
    return notes.ordered(_findings(kept, release, same_answer=same_answer, cut=cut))


def _findings(kept: KeptPlan, release: str, *, same_answer: bool, cut: bool) -> Iterable[Finding]:
    if plan_id(kept.request, kept.data_version, kept.release) != kept.plan_id:
        yield notes.warning(
            "PLAN_ID_MISMATCH",
            "the plan's id does not follow from its request, data version and release: one of them was changed, or "
            "another release names plans otherwise",
            path="plan.plan_id",
        )
    if not same_answer and kept.release != release:
        yield notes.warning(
            "ENGINE_CHANGED",
            f"release {kept.release} answered, release {release} answers otherwise from the same runs",
            path="plan.release",
            remedy="read the differences; plan again before acting on the old answer",
        )
    elif not same_answer:
        yield notes.error(
            "PLAN_ALTERED",
            "the answer does not follow from the runs the plan holds, by the release that it names",
            path="plan",
            remedy="plan again; do not act on this copy",
        )
    if cut:
        yield notes.info(
            "NOT_ALL_REPLAYED",
            "the plan holds the runs of its candidates alone; its rejections and the count of all candidates were not "
            "computed again",
            path="plan.rejections",
        )

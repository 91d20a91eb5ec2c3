"""The whole plan of one workload, and the runs it stands on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from tonnage.capacity import planner
from tonnage.domain.plan import Depth
from tonnage.errors import at
from tonnage.planning.usecase.book import matching
from tonnage.planning.usecase.names import model_id, normalized

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.domain.finding import Evidence
    from tonnage.domain.measurement import Run
    from tonnage.domain.plan import Plan, PlanRequest
    from tonnage.planning.usecase.book import CurveBook, Held
    from tonnage.store.base import ConfigurationFacts, Snapshot

_LIGHT_COUNT: Final = 4
_REJECTED_RUNS: Final = 100


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan and the runs behind it, by name."""

    plan: Plan
    evidence_runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request whose names are looked up, and the configurations it is planned on.

    ``light`` says that the plan costs about a millisecond.
    """

    request: PlanRequest
    chosen: tuple[ConfigurationFacts, ...]
    light: bool


def normalize(request: PlanRequest) -> PlanRequest:
    """Return the request in the catalog's spelling.

    Raises ``AmbiguousName`` for a card that means several.
    """
    with at("configuration"):
        configuration = normalized(request.configuration)
    model = model_id(request.workload.model)
    workload = request.workload if model == request.workload.model else replace(request.workload, model=model)
    return replace(request, workload=workload, configuration=configuration)


def prepare(request: PlanRequest, snapshot: Snapshot, book: CurveBook) -> Prepared:
    """Return what is planned on: the matching configurations, or all of the model so that the nearest can be named."""
    asked = normalize(request)
    known = book.of_model(snapshot, asked.namespace, asked.workload.model)
    chosen = matching(known, asked.configuration, asked.fingerprint) or known
    light = asked.depth is Depth.BASE and book.is_light(asked.namespace, chosen, _LIGHT_COUNT)
    return Prepared(asked, chosen, light)


def plan(prepared: Prepared, snapshot: Snapshot, book: CurveBook, release: str) -> Planned:
    """Return the plan on one snapshot of the store."""
    request = prepared.request
    held = [book.held(snapshot, request.namespace, facts) for facts in prepared.chosen]
    answer = planner.plan(request, [item.curves for item in held], snapshot.data_version, release)
    return Planned(answer, evidence_runs(answer, held))


def evidence_runs(answer: Plan, held: Iterable[Held]) -> tuple[Run, ...]:
    """Return the runs a plan stands on, by name: what its candidates name, or the findings and first rejections.

    A sweep is taken whole, since a curve is made of all of it.
    """
    by_configuration = {item.curves.configuration: item for item in held}
    found: dict[str, Run] = {}
    for candidate in answer.candidates:
        item = by_configuration[candidate.configuration]
        said = (evidence for finding in candidate.findings for evidence in finding.evidence)
        _take(found, chain(candidate.evidence, said), item)
    if answer.candidates:
        return _by_name(found)
    said = (evidence for finding in answer.findings for evidence in finding.evidence)
    named = tuple(said)
    for item in by_configuration.values():
        _take(found, named, item)
    for rejection in answer.rejections:
        if len(found) >= _REJECTED_RUNS:
            break
        _take(found, rejection.evidence, by_configuration[rejection.configuration])
    return _by_name(found)


def _take(found: dict[str, Run], named: Iterable[Evidence], item: Held) -> None:
    for evidence in named:
        if evidence.run not in found:
            found.update({run.name: run for run in item.sweep_runs.get(evidence.run, ())})


def _by_name(found: dict[str, Run]) -> tuple[Run, ...]:
    return tuple(found[name] for name in sorted(found))

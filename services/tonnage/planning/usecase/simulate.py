"""One candidate of a plan, simulated in steps that a caller may stop between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tonnage.capacity.simulation.check import simulate
from tonnage.domain.plan import Depth
from tonnage.errors import InvalidInput, Overloaded
from tonnage.planning.usecase import plan as plan_usecase
from tonnage.planning.usecase import replay as replay_usecase

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import TracebackType

    from tonnage.capacity.sweeps import CandidateCurves
    from tonnage.domain.plan import Candidate, Plan
    from tonnage.domain.simulation import Simulation, SimulationRequest
    from tonnage.planning.usecase.book import CurveBook
    from tonnage.planning.usecase.plan import Prepared
    from tonnage.planning.usecase.replay import KeptPlan
    from tonnage.store.base import Snapshot

MOST_AT_ONCE: Final = 4
_RETRY_AFTER_MS: Final = 2000


class Seats:
    """Counts the simulations that run, and refuses one too many; of one event loop."""

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._most = most
        self._taken = 0

    def __enter__(self) -> None:
        """Take a seat; raise ``Overloaded`` with a hint when none is free."""
        if self._taken >= self._most:
            raise Overloaded(
                f"{self._most} simulations run already; try again in {_RETRY_AFTER_MS} ms",
                retry_after_ms=_RETRY_AFTER_MS,
            )
        self._taken += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the seat back."""
        self._taken -= 1


@dataclass(frozen=True, slots=True)
class Subject:
    """A plan with the curves of the candidate that is simulated; both None where no candidate serves."""

    plan: Plan
    candidate: Candidate | None
    curves: CandidateCurves | None


def of_request(prepared: Prepared, snapshot: Snapshot, book: CurveBook, release: str, fingerprint: str) -> Subject:
    """Plan a request by arithmetic and return its candidate."""
    planned = plan_usecase.plan(_by_arithmetic(prepared), snapshot, book, release)
    held = [book.held(snapshot, prepared.request.namespace, facts) for facts in prepared.chosen]
    return _subject(planned.plan, {item.curves.fingerprint: item.curves for item in held}, fingerprint)


def of_kept(kept: KeptPlan, release: str, fingerprint: str) -> Subject:
    """Plan what a kept plan asks on the runs it holds and return its candidate."""
    base = replace(kept, request=replace(kept.request, depth=Depth.BASE))
    planned, curves = replay_usecase.planned_on(base, release)
    return _subject(planned, curves, fingerprint)


def steps(subject: Subject, asked: SimulationRequest) -> Generator[float, None, Simulation | None]:
    """Return what is found of the subject, None where no candidate serves; yield the share done."""
    if subject.candidate is None or subject.curves is None:
        return None
    found: Simulation = yield from simulate(asked, subject.plan.request, subject.candidate, subject.curves)
    return found


def _by_arithmetic(prepared: Prepared) -> Prepared:
    return replace(prepared, request=replace(prepared.request, depth=Depth.BASE))


def _subject(plan: Plan, curves: dict[str, CandidateCurves], fingerprint: str) -> Subject:
    if not plan.candidates and not fingerprint:
        return Subject(plan, None, None)
    for item in plan.candidates:
        if fingerprint in ("", item.configuration.fingerprint):
            return Subject(plan, item, curves[item.configuration.fingerprint])
    raise InvalidInput.field("fingerprint", fingerprint, "is no candidate of this plan", "leave it out for the best")

"""One curve: its points against an SLO, its capacity, its knee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage.capacity import lengths, notes
from tonnage.capacity.slo import admissibility, slo_capacity
from tonnage.capacity.sweeps import capacity_of, choose
from tonnage.errors import NotStored, at
from tonnage.planning.usecase.lookup import only_one

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.capacity.curves import Curve
    from tonnage.capacity.planner import SweepCurve
    from tonnage.domain.configuration import Configuration
    from tonnage.domain.finding import Evidence, Finding
    from tonnage.domain.measurement import Level, Work
    from tonnage.domain.plan import CapacityPolicy, SloCapacity
    from tonnage.domain.workload import Slo
    from tonnage.planning.usecase.book import CurveBook
    from tonnage.store.base import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveAsked:
    """Which curve: one configuration, then a sweep by its id, the nearest to a request size, or the newest."""

    namespace: str
    configuration: Configuration
    fingerprint: str | None
    work: Work | None
    slo: Slo | None
    policy: CapacityPolicy
    sweep_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One level; rates are of one replica, absent for a level that carries nothing."""

    level: Level
    offered_load: float
    evidence: Evidence
    requests_per_s: float | None = None
    output_tokens_per_s: float | None = None
    admissible: bool | None = None
    miss: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveAnswer:
    """A curve with what an SLO makes of it."""

    curve: Curve
    sweep_id: str
    work: Work
    points: tuple[Point, ...]
    capacity: SloCapacity | None
    findings: tuple[Finding, ...]
    other_sweep_ids: tuple[str, ...]
    data_version: int


def curve(asked: CurveAsked, snapshot: Snapshot, book: CurveBook) -> CurveAnswer:
    """Return the curve that is asked.

    Raises ``NotStored`` for a configuration or sweep that is not there, ``InvalidInput`` when several configurations
    are left.
    """
    with at("configuration"):
        held = only_one(snapshot, book, asked.namespace, asked.configuration, asked.fingerprint)
    sweeps = held.curves.sweeps
    chosen = _chosen(sweeps, asked)
    slo = asked.slo
    if slo is not None and asked.work is not None:
        slo = lengths.slo_for(slo, chosen.work, asked.work)
    return CurveAnswer(
        curve=chosen.curve,
        sweep_id=chosen.sweep_id,
        work=chosen.work,
        points=_points(chosen.curve, slo),
        capacity=_capacity(chosen, asked),
        findings=notes.ordered(_findings(chosen, asked)),
        other_sweep_ids=tuple(dict.fromkeys(item.sweep_id for item in sweeps if item is not chosen)),
        data_version=snapshot.data_version,
    )


def _chosen(sweeps: Sequence[SweepCurve], asked: CurveAsked) -> SweepCurve:
    if asked.sweep_id is not None:
        named = [item for item in sweeps if item.sweep_id == asked.sweep_id]
        if not named:
            ids = ", ".join(dict.fromkeys(item.sweep_id for item in sweeps))
            raise NotStored(
                f"the configuration has no sweep {asked.sweep_id!r}; it has {ids}", kind="sweep", name=asked.sweep_id
            )
        sweeps = named
    if asked.work is not None:
        return choose(sweeps, asked.work).sweep
    usable = [item for item in sweeps if item.curve.unusable is None] or list(sweeps)
    return max(usable, key=lambda item: (item.age_key, item.sweep_id, item.curve.tool))


def _capacity(chosen: SweepCurve, asked: CurveAsked) -> SloCapacity | None:
    if asked.slo is None:
        return None
    if asked.work is None:
        return slo_capacity(chosen.curve, asked.slo, asked.policy)
    return capacity_of(chosen, asked.work, asked.slo, asked.policy)


def _findings(chosen: SweepCurve, asked: CurveAsked) -> Iterable[Finding]:
    yield from chosen.curve.findings
    if chosen.curve.unusable is not None:
        yield chosen.curve.unusable
    if asked.work is None:
        return
    apart = lengths.distance(chosen.work, asked.work)
    if apart.too_far:
        yield lengths.too_far(chosen.work, asked.work, apart)


def _points(curve: Curve, slo: Slo | None) -> tuple[Point, ...]:
    """Return the levels of a curve with those that carry nothing between them, in order of load."""
    unused = [
        Point(
            level=item.level,
            offered_load=item.offered_load,
            evidence=item.evidence,
            admissible=None if slo is None else False,
            miss=f"not used: {item.reason}",
        )
        for item in curve.unused
        if item.offered_load is not None
    ]
    return tuple(sorted((*_used(curve, slo), *unused), key=lambda point: point.offered_load))


def _used(curve: Curve, slo: Slo | None) -> Iterable[Point]:
    judged = [None] * len(curve.levels) if slo is None else admissibility(curve, slo)
    for level, row in zip(curve.levels, judged, strict=True):
        yield Point(
            level=level.level,
            offered_load=level.offered_load,
            evidence=level.evidence[0],
            requests_per_s=level.requests_per_s,
            output_tokens_per_s=level.output_tokens_per_s,
            admissible=None if row is None else row.inside,
            miss="" if row is None or row.inside else row.text,
        )

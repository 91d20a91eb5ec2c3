"""One load of a curve: a measured level, or repeats of it, brought to one replica."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Final

from tonnage.capacity.exact import exact, quotient, shown
from tonnage.capacity.qualified import Doubt, Qualified, Refusal, qualify
from tonnage.capacity.shape import DELIVERED_RATIO
from tonnage.capacity.works import mean_work
from tonnage.domain.finding import Evidence, Origin, weakest
from tonnage.domain.measurement import METRICS, STATISTICS, ArrivalKind, Latency, TextWork

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.domain.measurement import Level, Run

_MEDIANS: Final = ("requests_per_s", "output_tokens_per_s", "total_tokens_per_s", "duration_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveLevel:
    """One load; rates are of one replica, ``offered_load`` and ``level`` of the whole system under test.

    ``qualified`` holds the statistics that may carry a capacity. Of several repeats each figure is the median, and
    ``spread_ratio`` is (largest - smallest) / median of their throughput.
    """

    offered_load: float
    arrival_kind: ArrivalKind
    requests_per_s: float
    output_tokens_per_s: float | None
    level: Level
    qualified: Qualified
    origin: Origin
    evidence: tuple[Evidence, ...]
    repeat_count: int = 1
    spread_ratio: float | None = None
    label: str = field(init=False)
    capacity_evidence: Evidence = field(init=False)

    def __post_init__(self) -> None:
        """Name the load for people, and prepare what a capacity cites."""
        object.__setattr__(self, "capacity_evidence", replace(self.evidence[0], quantity="q_slo", origin=self.origin))
        object.__setattr__(self, "label", load_label(self.arrival_kind, self.offered_load))

    @property
    def saturated(self) -> bool:
        """Tell whether an open loop completed clearly less than was offered."""
        if self.arrival_kind is ArrivalKind.CLOSED or self.level.requests_per_s is None:
            return False
        return self.level.requests_per_s < DELIVERED_RATIO * self.offered_load


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedLevel:
    """A level that is shown and carries nothing."""

    level: Level
    label: str
    reason: str
    evidence: Evidence
    offered_load: float | None = None


def load_label(kind: ArrivalKind | None, load: float | None) -> str:
    """Return "concurrency 8" or "8 offered requests/s"."""
    if load is None:
        return "unstated load"
    return f"{shown(load)} offered requests/s" if kind is ArrivalKind.OPEN else f"concurrency {shown(load)}"


def place(runs: Iterable[Run], kind: ArrivalKind | None) -> tuple[list[CurveLevel], tuple[UnusedLevel, ...]]:
    """Return each usable level of some runs on the axis of ``kind``, and the others with the reason.

    Runs whose replica count is unknown are placed as one system; their curve is refused elsewhere.
    """
    placed: list[CurveLevel] = []
    unused: list[UnusedLevel] = []
    for run in runs:
        for level in run.levels:
            found = _placed(run, level, kind)
            (placed if isinstance(found, CurveLevel) else unused).append(found)  # type: ignore[arg-type]
    unused.sort(key=lambda item: (item.offered_load or 0.0, item.evidence.run, item.level.index))
    return placed, tuple(unused)


def _placed(run: Run, level: Level, kind: ArrivalKind | None) -> CurveLevel | UnusedLevel:
    load = level.offered_requests_per_s if kind is ArrivalKind.OPEN else level.concurrency
    rates = _rates(level)
    evidence = _evidence(run, level, Origin.MEASURED)
    problem = _problem(level, load, rates)
    if problem is not None or rates is None or load is None or kind is None:
        reason = problem or "no throughput"
        return UnusedLevel(
            level=level, label=load_label(kind, load), reason=reason, evidence=evidence, offered_load=load
        )
    requests, output, origin = rates
    replicas = run.replicas_under_test or 1
    origin = origin if replicas == 1 else weakest(origin, Origin.DERIVED)
    return CurveLevel(
        offered_load=load,
        arrival_kind=kind,
        requests_per_s=quotient(requests, replicas),
        output_tokens_per_s=None if output is None else quotient(output, replicas),
        level=level if level.requests_per_s is not None else replace(level, requests_per_s=requests),
        qualified=qualify(level),
        origin=origin,
        evidence=(replace(evidence, origin=origin),),
    )


def _problem(level: Level, load: float | None, rates: tuple[float, float | None, Origin] | None) -> str | None:
    if not level.usable:
        codes = dict.fromkeys(finding.code for finding in level.findings)
        return "barred by " + (", ".join(codes) or "its reader")
    if load is None or not 0 < load < math.inf:
        return "no offered load on this axis"
    if rates is None:
        return "neither requests/s nor tokens/s with their mean lengths are stated"
    return None


def _rates(level: Level) -> tuple[float, float | None, Origin] | None:
    """Return requests/s, output tokens/s and the origin; requests/s come from tokens/s where only those are stated."""
    work = level.work if isinstance(level.work, TextWork) else TextWork()
    given, out = work.input_tokens_mean, work.output_tokens_mean
    requests, origin = level.requests_per_s, Origin.MEASURED
    if requests is None and level.output_tokens_per_s is not None and out is not None and out > 0:
        requests, origin = quotient(level.output_tokens_per_s, out), Origin.DERIVED
    elif requests is None and level.total_tokens_per_s is not None and given is not None and out is not None:
        requests, origin = float(exact(level.total_tokens_per_s) / (exact(given) + exact(out))), Origin.DERIVED
    if requests is None or not 0 < requests < math.inf:
        return None
    output = level.output_tokens_per_s
    if output is None and out is not None:
        output = float(exact(requests) * exact(out))
    return requests, output, origin


def _evidence(run: Run, level: Level, origin: Origin) -> Evidence:
    return Evidence(
        origin=origin,
        quantity="requests_per_s",
        run=run.name,
        point_index=level.index,
        report_id=run.report_id,
        source=run.source or run.filename,
        tool=run.tool,
        location=level.location,
    )


def combine(placed: Sequence[CurveLevel]) -> tuple[CurveLevel, ...]:
    """Return one level a load, in order of load; repeats are combined by the median of each figure."""
    by_load: defaultdict[float, list[CurveLevel]] = defaultdict(list)
    for item in placed:
        by_load[item.offered_load].append(item)
    return tuple(_combined(by_load[load]) for load in sorted(by_load))


def _combined(repeats: list[CurveLevel]) -> CurveLevel:
    if len(repeats) == 1:
        return repeats[0]
    repeats = sorted(repeats, key=lambda item: (item.evidence[0].run, item.level.index))
    rates = [item.requests_per_s for item in repeats]
    outputs = [item.output_tokens_per_s for item in repeats if item.output_tokens_per_s is not None]
    middle = median(rates)
    qualified = _combined_statistics([item.qualified for item in repeats])
    return CurveLevel(
        offered_load=repeats[0].offered_load,
        arrival_kind=repeats[0].arrival_kind,
        requests_per_s=middle,
        output_tokens_per_s=median(outputs) if len(outputs) == len(repeats) else None,
        level=_combined_level([item.level for item in repeats], qualified),
        qualified=qualified,
        origin=weakest(Origin.DERIVED, *(item.origin for item in repeats)),
        evidence=tuple(
            replace(item.evidence[0], note=f"one of {len(repeats)} repeats, combined by median") for item in repeats
        ),
        repeat_count=len(repeats),
        spread_ratio=(max(rates) - min(rates)) / middle,
    )


def _combined_statistics(repeats: Sequence[Qualified]) -> Qualified:
    """Return the median of each statistic over the repeats that have it; one impossible repeat bars it for all."""
    values: dict[str, float] = {}
    refusals: dict[str, Refusal] = {}
    for name in dict.fromkeys(name for item in repeats for name in (*item.refusals, *item.values)):
        refused = [item.refusals[name] for item in repeats if name in item.refusals]
        known = [item.values[name] for item in repeats if name in item.values]
        impossible = [item for item in refused if item.doubt is Doubt.IMPOSSIBLE]
        if impossible or not known:
            refusals[name] = (impossible or refused)[0]
        else:
            values[name] = median(known)
    return Qualified(values, refusals)


def _combined_level(levels: Sequence[Level], qualified: Qualified) -> Level:
    medians = {name: _median([getattr(level, name) for level in levels]) for name in _MEDIANS}
    latencies = {
        metric: Latency(**{f"{key}_ms": qualified.values.get(f"{metric}_{key}_ms") for key in STATISTICS})
        for metric in METRICS
    }
    return replace(
        levels[0],
        work=mean_work(levels),
        completed_count=_sum([level.completed_count for level in levels]),
        failed_count=_sum([level.failed_count for level in levels]),
        findings=tuple(dict.fromkeys(finding for level in levels for finding in level.findings)),
        **medians,  # type: ignore[arg-type]
        **latencies,  # type: ignore[arg-type]
    )


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if len(known) == len(values) else None


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None

"""The curve of one sweep: warm, usable levels in order of offered load, as one replica would show them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tonnage.capacity import notes
from tonnage.capacity.exact import shown
from tonnage.capacity.levels import CurveLevel, UnusedLevel, combine, place
from tonnage.capacity.shape import Shape, shape_of
from tonnage.capacity.works import mean_work, spread_of_lengths
from tonnage.domain.finding import Evidence, Finding, Origin
from tonnage.domain.measurement import ArrivalKind, TestState, TextWork
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.domain.configuration import Configuration
    from tonnage.domain.measurement import Run, Work

_LENGTHS_NOTED: Final = 1.1
_LENGTHS_REFUSED: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Levels of one sweep of one configuration, ordered by offered load.

    ``levels`` are per replica, repeats of one load combined; ``repeats`` are the same apart; ``unused`` are levels that
    carry nothing, with the reason. ``unusable`` is a finding when the whole curve answers nothing. The axis is the
    offered load of the whole system under test: requests in flight (closed) or requests/s (open).
    """

    configuration: Configuration
    tool: str
    metric_definitions: str
    arrival_kind: ArrivalKind | None
    replicas_under_test: int | None
    work: Work
    levels: tuple[CurveLevel, ...]
    shape: Shape
    unused: tuple[UnusedLevel, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    findings: tuple[Finding, ...] = ()
    unusable: Finding | None = None
    run_names: tuple[str, ...] = field(default=())
    repeats: tuple[CurveLevel, ...] = ()

    @property
    def knee_offered_load(self) -> float | None:
        """Return the load behind which more load buys less than half its share of throughput; None when not reached."""
        return self.shape.knee_offered_load

    @property
    def saturation_requests_per_s(self) -> float | None:
        """Return the largest throughput of one replica, whatever the latency; None on an empty curve."""
        return self.shape.saturation_requests_per_s


def curve_of(runs: Sequence[Run]) -> Curve:
    """Return the curve of the runs of one sweep; their order never matters.

    Raises ``InvalidInput`` for no runs, and for runs that differ in configuration, tool, metric definitions or
    arrival kind: such are never pooled.
    """
    ordered = tuple(sorted(runs, key=lambda run: (run.run_id, run.report_id, run.ordinal, run.filename)))
    first = _one_sweep(ordered)
    warm = tuple(run for run in ordered if run.state is not TestState.COLD)
    kind = first.arrival_kind or _evident_kind(warm)
    placed, unused = place(warm, kind)
    levels = combine(placed)
    replicas = {run.replicas_under_test for run in warm}
    unusable = _unusable(ordered, warm, replicas, levels, unused)
    if unusable is not None:
        levels = ()
    shape = shape_of(levels, kind)
    return Curve(
        configuration=first.configuration,
        tool=first.tool,
        metric_definitions=first.metric_definitions,
        arrival_kind=kind,
        replicas_under_test=next(iter(replicas)) if len(replicas) == 1 else None,
        work=mean_work([item.level for item in placed]),
        levels=levels,
        shape=shape,
        unused=unused,
        evidence=tuple(evidence_of(run) for run in warm),
        findings=notes.ordered(_findings(levels, unused, shape, replicas, kind)),
        unusable=unusable,
        run_names=tuple(run.name for run in warm),
        repeats=tuple(sorted(placed, key=lambda item: (item.offered_load, item.evidence[0].run, item.level.index))),
    )


def evidence_of(run: Run) -> Evidence:
    """Return what names a whole run."""
    return Evidence(
        origin=Origin.MEASURED,
        quantity="curve",
        run=run.name,
        report_id=run.report_id,
        source=run.source or run.filename,
        tool=run.tool,
    )


def _one_sweep(runs: Sequence[Run]) -> Run:
    if not runs:
        raise InvalidInput.field("runs", None, "is empty", "give the runs of one sweep")
    first = runs[0]
    for run in runs[1:]:
        for name in ("configuration", "tool", "metric_definitions", "arrival_kind"):
            if getattr(run, name) != getattr(first, name):
                raise InvalidInput.field(
                    "runs",
                    getattr(run, name),
                    f"differ in {name}",
                    "give runs of one sweep; unlike runs are not pooled",
                )
    return first


def _evident_kind(runs: Iterable[Run]) -> ArrivalKind | None:
    """Return the kind that most levels show: a stated rate means open, a cap alone closed."""
    seen = Counter(
        ArrivalKind.CLOSED if level.offered_requests_per_s is None else ArrivalKind.OPEN
        for run in runs
        for level in run.levels
        if level.offered_requests_per_s is not None or level.concurrency is not None
    )
    return max(seen, key=lambda kind: (seen[kind], kind)) if seen else None


def _unusable(
    runs: Sequence[Run],
    warm: Sequence[Run],
    replicas: set[int | None],
    levels: Sequence[CurveLevel],
    unused: Sequence[UnusedLevel],
) -> Finding | None:
    evidence = tuple(evidence_of(run) for run in runs)
    if not warm:
        return notes.error(
            "ONLY_COLD_RUNS", "all runs are cold starts", remedy="measure the warm server", evidence=evidence
        )
    if None in replicas:
        return notes.error(
            "REPLICAS_UNDER_TEST_NOT_KNOWN",
            "how many replicas shared the load is not stated, so no rate of one replica follows",
            remedy="upload again with replicas_under_test",
            evidence=evidence,
        )
    if len(replicas) > 1:
        return notes.error(
            "MIXED_REPLICA_COUNTS",
            f"one sweep holds runs on {', '.join(map(str, sorted(filter(None, replicas))))} replicas",
            remedy="give each count its own sweep_id",
            evidence=evidence,
        )
    return _no_levels(levels, unused, evidence) or _mixed_lengths(levels, evidence)


def _no_levels(
    levels: Sequence[CurveLevel], unused: Sequence[UnusedLevel], evidence: tuple[Evidence, ...]
) -> Finding | None:
    if levels:
        return None
    reasons = "; ".join(dict.fromkeys(item.reason for item in unused)) or "the runs hold no levels"
    return notes.error("NO_USABLE_LEVEL", f"no level can be used: {reasons}", remedy="measure again", evidence=evidence)


def _mixed_lengths(levels: Sequence[CurveLevel], evidence: tuple[Evidence, ...]) -> Finding | None:
    if spread_of_lengths(levels) <= _LENGTHS_REFUSED:
        return None
    return notes.error(
        "MIXED_LENGTHS",
        "mean lengths differ more than twofold between the levels of this sweep; it is not one curve",
        remedy="give each request size its own sweep_id",
        evidence=evidence,
    )


def _findings(
    levels: Sequence[CurveLevel],
    unused: Sequence[UnusedLevel],
    shape: Shape,
    replicas: set[int | None],
    kind: ArrivalKind | None,
) -> Iterable[Finding]:
    yield from shape.findings
    if unused:
        yield _left_out(unused)
    if not levels:
        return
    for count in replicas:
        if count is not None and count > 1:
            yield _scaled(count)
    if spread_of_lengths(levels) > _LENGTHS_NOTED:
        yield _uneven_lengths(levels)
    if kind is ArrivalKind.OPEN and shape.overloaded_from is not None:
        yield notes.warning(
            "SATURATED",
            f"from {shown(shape.overloaded_from)} offered requests/s on, under nine tenths of the offered rate "
            "was completed",
        )


def _left_out(unused: Sequence[UnusedLevel]) -> Finding:
    reasons = "; ".join(f"{item.label}: {item.reason}" for item in unused)
    return notes.warning(
        "LEVELS_NOT_USED",
        f"{len(unused)} measured level(s) are kept and not used: {reasons}",
        evidence=tuple(item.evidence for item in unused),
    )


def _scaled(count: int) -> Finding:
    return notes.warning(
        "SCALED_FROM_MANY",
        f"rates of one replica are those of {count} replicas together, divided by {count}",
        remedy="measure one replica, or keep the count of the test",
    )


def _uneven_lengths(levels: Sequence[CurveLevel]) -> Finding:
    outputs = [
        item.level.work.output_tokens_mean
        for item in levels
        if isinstance(item.level.work, TextWork) and item.level.work.output_tokens_mean is not None
    ]
    span = f"; output {shown(min(outputs))} to {shown(max(outputs))} tokens" if outputs else ""
    return notes.warning(
        "UNEVEN_LENGTHS",
        f"mean lengths differ by more than a tenth between the levels of this sweep{span}",
        remedy="fix the lengths of a sweep, or draw every level from the same sample set",
    )

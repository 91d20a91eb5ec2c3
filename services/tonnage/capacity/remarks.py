"""What is said beside a capacity: bounds not reached, levels marked or passed over, statistics that stood in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.capacity import notes
from tonnage.capacity.levels import load_label
from tonnage.capacity.limits import Standing, Verdict
from tonnage.capacity.qualified import named_statistic
from tonnage.domain.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.curves import Curve
    from tonnage.capacity.levels import CurveLevel
    from tonnage.capacity.walk import Walk
    from tonnage.domain.workload import Slo

_DOUBT_CODE: Final = {
    Standing.ABSENT: "STATISTIC_NOT_MEASURED",
    Standing.TOO_FEW: "TOO_FEW_REQUESTS_FOR_STATISTIC",
    Standing.IMPOSSIBLE: "IMPOSSIBLE_STATISTIC",
}
_DOUBT_REMEDY: Final = {
    Standing.ABSENT: "measure it, or allow another statistic to stand in for it",
    Standing.TOO_FEW: "measure that load for longer, or limit a statistic that fewer requests support",
    Standing.IMPOSSIBLE: "measure that load again",
}


def remarks(curve: Curve, slo: Slo, walk: Walk, best: CurveLevel, *, lacks_crossing: bool) -> list[Finding]:
    """Return what a reader of a capacity should know, in no order; ``best`` is the level it stands on."""
    found = [*curve.findings, *_marked(best)]
    if slo.is_empty:
        found.append(_no_slo())
    if walk.end is not None and not walk.missed:
        found.append(replace(doubtful((walk.end,)), severity=Severity.WARNING))
    if not walk.missed:
        found.append(_not_reached(curve, walk))
    if walk.skipped:
        found.append(replace(doubtful(walk.skipped), severity=Severity.WARNING, code="LEVELS_PASSED_OVER"))
    if lacks_crossing:
        found.append(_no_crossing())
    found.extend(_stood_in(asked, used) for asked, used in walk.stood_in)
    return found


def _marked(best: CurveLevel) -> list[Finding]:
    """Repeat what was found in the level the capacity stands on; marked statistics are dealt with apart."""
    doubts = [
        item
        for item in best.level.findings
        if item.severity is not Severity.INFO and named_statistic(item.path) is None
    ]
    if not doubts:
        return []
    said = "; ".join(f"{item.code}: {item.message}" for item in doubts)
    remedy = doubts[0].remedy
    return [notes.warning("LEVEL_MARKED", f"{best.label} is marked: {said}", remedy=remedy, evidence=best.evidence)]


def _no_slo() -> Finding:
    return notes.warning(
        "NO_SLO",
        "no limit was asked, so the capacity is the largest throughput measured, whatever the latency there",
        path="slo",
        remedy="state the limits that the users need",
    )


def _not_reached(curve: Curve, walk: Walk) -> Finding:
    last = walk.inside[-1]
    if curve.shape.drops_at is not None:
        return notes.info(
            "LIMIT_NOT_REACHED",
            "no load missed a limit; throughput already falls from "
            f"{load_label(curve.arrival_kind, curve.shape.drops_at)} on, so more load is not likely to carry more",
        )
    rung = _next_rung(curve)
    return notes.warning(
        "LIMIT_NOT_REACHED",
        f"no load missed a limit up to {last.label}: the capacity is at least this much, and counts of servers are at "
        "most what is said",
        remedy=f"measure {load_label(curve.arrival_kind, rung)} next",
        evidence=last.evidence,
    )


def _next_rung(curve: Curve) -> float:
    """Return the load one more step of the ladder away, at least half as much again, at most double."""
    loads = [level.offered_load for level in curve.levels]
    step = loads[-1] / loads[-2] if len(loads) > 1 else 2.0
    return float(f"{loads[-1] * min(2.0, max(1.5, step)):.3g}")


def _no_crossing() -> Finding:
    return notes.warning(
        "CROSSING_NOT_KNOWN",
        "the statistic that is limited is not known on both sides of the crossing; the best measured load was used",
    )


def _stood_in(asked: str, used: str) -> Finding:
    def words(name: str) -> str:
        return name.removesuffix("_ms").replace("_", " ")

    return notes.warning(
        "STATISTIC_SUBSTITUTED",
        f"{words(used)} stood in for {words(asked)}, as the request allows",
        path=asked,
        remedy=f"measure {words(asked)}",
    )


def doubtful(levels: Sequence[tuple[CurveLevel, Verdict]]) -> Finding:
    """Return one finding over the levels that cannot be told; the first names the code and the cure."""
    standing = levels[0][1].standing
    texts = dict.fromkeys(f"{level.label}: {verdict.text}" for level, verdict in levels)
    return notes.error(
        _DOUBT_CODE[standing],
        "; ".join(texts),
        path=levels[0][1].name,
        remedy=_DOUBT_REMEDY[standing],
        evidence=tuple(evidence for level, _ in levels for evidence in level.evidence),
    )

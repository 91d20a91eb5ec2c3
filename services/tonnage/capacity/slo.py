"""Q_slo: the largest sustained rate of one replica that keeps every limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.capacity import notes
from tonnage.capacity.contradictions import contradictions
from tonnage.capacity.crossing import crossing_requests_per_s
from tonnage.capacity.exact import shown
from tonnage.capacity.levels import load_label
from tonnage.capacity.limits import Limit, Standing, Verdict, judge, ready
from tonnage.domain.finding import Finding, Origin, Severity, weakest
from tonnage.domain.plan import Bottleneck, CapacityBound, CapacityPolicy, SloCapacity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.curves import Curve
    from tonnage.capacity.levels import CurveLevel
    from tonnage.domain.workload import Slo

_DOUBT_CODE = {
    Standing.ABSENT: "STATISTIC_NOT_MEASURED",
    Standing.TOO_FEW: "TOO_FEW_REQUESTS_FOR_STATISTIC",
    Standing.IMPOSSIBLE: "IMPOSSIBLE_STATISTIC",
}
_DOUBT_REMEDY = {
    Standing.ABSENT: "measure it, or allow another statistic to stand in for it",
    Standing.TOO_FEW: "measure that load for longer, or limit a statistic that fewer requests support",
    Standing.IMPOSSIBLE: "measure that load again",
}


@dataclass(frozen=True, slots=True)
class Admissibility:
    """One level of a curve against an SLO, for the picture.

    ``keeps`` tells whether the level alone keeps every limit, ``inside`` whether it also lies before the first miss;
    ``text`` says why not.
    """

    level: CurveLevel
    keeps: bool
    inside: bool
    text: str


@dataclass(frozen=True, slots=True)
class _Walk:
    """Levels inside, levels whose statistic is too thin to tell, and the level that ended the walk."""

    inside: tuple[CurveLevel, ...]
    skipped: tuple[tuple[CurveLevel, Verdict], ...]
    end: tuple[CurveLevel, Verdict] | None
    stood_in: tuple[tuple[str, str], ...]


def slo_capacity(
    curve: Curve, slo: Slo, policy: CapacityPolicy = CapacityPolicy.MEASURED, noise_ratio: float = 0.0
) -> SloCapacity:
    """Return the largest sustained rate of one replica inside the SLO.

    Levels are walked in order of offered load up to the first that misses a limit by more than ``noise_ratio``;
    what lies behind it does not count, however fast it looks. ``measured`` is the largest throughput before it;
    ``crossing`` the rate where the limit is reached, by straight lines in logs between the last load inside and the
    miss. Without a miss the rate is a lower bound. A level whose statistic rests on too few requests is passed over;
    one that lacks the statistic, or whose statistic cannot be, ends the walk.

    Raises ``InvalidInput`` for a noise below 0.
    """
    checks.not_negative("noise_ratio", noise_ratio)
    if curve.unusable is not None:
        return _none(curve, policy, curve.unusable, Bottleneck.EVIDENCE)
    limits = ready(slo)
    walk = _walk(curve.levels, limits, slo.max_failure_ratio, noise_ratio)
    if not walk.inside:
        return _rejected(curve, policy, walk)
    best = max(walk.inside, key=lambda item: item.requests_per_s)
    missed = walk.end is not None and walk.end[1].standing is Standing.MISSES
    crossing = _crossing(walk, best, limits, slo.max_failure_ratio) if missed else None
    used = crossing if policy is CapacityPolicy.INTERPOLATED and crossing is not None else best.requests_per_s
    interpolated = used > best.requests_per_s
    return SloCapacity(
        bound=CapacityBound.EXACT if missed else CapacityBound.AT_LEAST,
        policy=policy,
        reason=_reason(slo, walk, best),
        q_slo_requests_per_s=used,
        measured_requests_per_s=best.requests_per_s,
        crossing_requests_per_s=crossing,
        measured_at=replace(best.evidence[0], quantity="q_slo", origin=best.origin),
        output_tokens_per_s=_output(best, used),
        offered_load=best.offered_load,
        arrival_kind=curve.arrival_kind,
        binding=_binding(curve, slo, walk, missed=missed),
        origin=weakest(best.origin, Origin.INTERPOLATED) if interpolated else best.origin,
        findings=notes.ordered(
            _findings(curve, slo, walk, missed=missed, lacks_crossing=_lacks(policy, missed, crossing))
        ),
    )


def admissibility(curve: Curve, slo: Slo, noise_ratio: float = 0.0) -> tuple[Admissibility, ...]:
    """Return each level of a curve against an SLO, in order of load."""
    limits = ready(slo)
    rows: list[Admissibility] = []
    ended = ""
    for level in curve.levels:
        verdict = judge(level, limits, slo.max_failure_ratio, noise_ratio)
        keeps = verdict.standing is Standing.PASSES
        behind = f"keeps the limits, and lies behind the first miss ({ended})" if keeps and ended else verdict.text
        rows.append(Admissibility(level, keeps, keeps and not ended, behind))
        if not ended and not keeps and verdict.standing is not Standing.TOO_FEW:
            ended = level.label
    return tuple(rows)


def _walk(
    levels: Sequence[CurveLevel], limits: tuple[Limit, ...], max_failure_ratio: float | None, noise_ratio: float
) -> _Walk:
    inside: list[CurveLevel] = []
    skipped: list[tuple[CurveLevel, Verdict]] = []
    stood_in: dict[tuple[str, str], None] = {}
    end = None
    for level in levels:
        verdict = judge(level, limits, max_failure_ratio, noise_ratio)
        if verdict.standing is Standing.PASSES:
            inside.append(level)
            stood_in.update(dict.fromkeys(verdict.stood_in))
        elif verdict.standing is Standing.TOO_FEW:
            skipped.append((level, verdict))
        else:
            end = (level, verdict)
            break
    return _Walk(tuple(inside), tuple(skipped), end, tuple(stood_in))


def _crossing(
    walk: _Walk, best: CurveLevel, limits: tuple[Limit, ...], max_failure_ratio: float | None
) -> float | None:
    if walk.end is None:
        return None
    found = crossing_requests_per_s(walk.inside[-1], walk.end[0], limits, max_failure_ratio)
    return None if found is None else max(found, best.requests_per_s)


def _lacks(policy: CapacityPolicy, missed: bool, crossing: float | None) -> bool:
    return policy is CapacityPolicy.INTERPOLATED and missed and crossing is None


def _output(best: CurveLevel, used: float) -> float | None:
    if best.output_tokens_per_s is None or used == best.requests_per_s:
        return best.output_tokens_per_s
    return best.output_tokens_per_s * used / best.requests_per_s


def _none(curve: Curve, policy: CapacityPolicy, finding: Finding, binding: Bottleneck) -> SloCapacity:
    return SloCapacity(
        bound=CapacityBound.NONE,
        policy=policy,
        reason=finding.message,
        arrival_kind=curve.arrival_kind,
        binding=binding,
        findings=(finding,),
    )


def _rejected(curve: Curve, policy: CapacityPolicy, walk: _Walk) -> SloCapacity:
    """Say why no level is inside: nothing can be told of the lowest loads, or the lowest load misses."""
    if walk.skipped:
        return _none(curve, policy, _doubtful(walk.skipped), Bottleneck.EVIDENCE)
    level, verdict = walk.end if walk.end is not None else (curve.levels[0], Verdict(Standing.ABSENT))
    if verdict.standing is not Standing.MISSES:
        return _none(curve, policy, _doubtful(((level, verdict),)), Bottleneck.EVIDENCE)
    finding = notes.error(
        "SLO_NOT_MET",
        f"the lowest load that was measured ({level.label}) is outside: {verdict.text}",
        remedy="more replicas do not mend what the lowest load misses; measure a lower load, loosen the limit, or "
        "change the configuration",
        evidence=level.evidence,
    )
    return _none(curve, policy, finding, verdict.bottleneck)


def _doubtful(levels: Sequence[tuple[CurveLevel, Verdict]]) -> Finding:
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


def _binding(curve: Curve, slo: Slo, walk: _Walk, *, missed: bool) -> Bottleneck:
    if walk.end is not None and missed:
        return walk.end[1].bottleneck
    if slo.is_empty or curve.shape.drops_at is not None:
        return Bottleneck.THROUGHPUT
    return Bottleneck.EVIDENCE


def _reason(slo: Slo, walk: _Walk, best: CurveLevel) -> str:
    rate = f"{shown(best.requests_per_s)} requests/s at {best.label}"
    if slo.is_empty:
        return f"no limit was asked: the largest throughput measured, {rate}"
    if walk.end is None:
        return f"{rate} keeps every limit, and so does the highest load that can be told ({walk.inside[-1].label})"
    return f"{rate} is the most inside the limits; at {walk.end[0].label} {walk.end[1].text}"


def _findings(curve: Curve, slo: Slo, walk: _Walk, *, missed: bool, lacks_crossing: bool) -> list[Finding]:
    found = list(curve.findings)
    if slo.is_empty:
        found.append(_no_slo())
    if walk.end is not None and not missed:
        found.append(replace(_doubtful((walk.end,)), severity=Severity.WARNING))
    if not missed:
        found.append(_not_reached(curve, walk))
    if walk.skipped:
        found.append(_passed_over(walk.skipped))
    if lacks_crossing:
        found.append(_no_crossing())
    found.extend(_stood_in(asked, used) for asked, used in walk.stood_in)
    return found


def _no_slo() -> Finding:
    return notes.warning(
        "NO_SLO",
        "no limit was asked, so the capacity is the largest throughput measured, whatever the latency there",
        path="slo",
        remedy="state the limits that the users need",
    )


def _not_reached(curve: Curve, walk: _Walk) -> Finding:
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


def _passed_over(skipped: Sequence[tuple[CurveLevel, Verdict]]) -> Finding:
    return replace(
        _doubtful(skipped),
        severity=Severity.WARNING,
        code="LEVELS_PASSED_OVER",
    )


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


__all__ = ["Admissibility", "admissibility", "contradictions", "slo_capacity"]

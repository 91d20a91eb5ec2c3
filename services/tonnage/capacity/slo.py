"""Q_slo: the largest sustained rate of one replica that keeps every limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.capacity import notes
from tonnage.capacity.contradictions import contradictions
from tonnage.capacity.crossing import crossing_requests_per_s
from tonnage.capacity.exact import shown
from tonnage.capacity.limits import Limit, Standing, Verdict, judge, ready
from tonnage.capacity.remarks import doubtful, remarks
from tonnage.capacity.walk import Walk, walk_of
from tonnage.domain.finding import Finding, Origin, weakest
from tonnage.domain.plan import Bottleneck, CapacityBound, CapacityPolicy, SloCapacity

if TYPE_CHECKING:
    from tonnage.capacity.curves import Curve
    from tonnage.capacity.levels import CurveLevel
    from tonnage.domain.workload import Slo


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
    walk = walk_of(curve.levels, limits, slo.max_failure_ratio, noise_ratio)
    if not walk.inside:
        return _rejected(curve, policy, walk)
    best = max(walk.inside, key=lambda item: item.requests_per_s)
    crossing = _crossing(walk, best, limits, slo.max_failure_ratio) if walk.missed else None
    used = crossing if policy is CapacityPolicy.INTERPOLATED and crossing is not None else best.requests_per_s
    interpolated = used > best.requests_per_s
    lacks_crossing = policy is CapacityPolicy.INTERPOLATED and walk.missed and crossing is None
    return SloCapacity(
        bound=CapacityBound.EXACT if walk.missed else CapacityBound.AT_LEAST,
        policy=policy,
        reason=_reason(slo, walk, best, interpolated=used if interpolated else None),
        q_slo_requests_per_s=used,
        measured_requests_per_s=best.requests_per_s,
        crossing_requests_per_s=crossing,
        measured_at=best.capacity_evidence,
        output_tokens_per_s=_output(best, used),
        offered_load=best.offered_load,
        arrival_kind=curve.arrival_kind,
        binding=_binding(curve, slo, walk),
        origin=weakest(best.origin, Origin.INTERPOLATED) if interpolated else best.origin,
        findings=notes.ordered(remarks(curve, slo, walk, best, lacks_crossing=lacks_crossing)),
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


def _crossing(walk: Walk, best: CurveLevel, limits: tuple[Limit, ...], max_failure_ratio: float | None) -> float | None:
    if walk.end is None:
        return None
    found = crossing_requests_per_s(walk.inside[-1], walk.end[0], limits, max_failure_ratio)
    return None if found is None else max(found, best.requests_per_s)


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


def _rejected(curve: Curve, policy: CapacityPolicy, walk: Walk) -> SloCapacity:
    """Say why no level is inside: nothing can be told of the lowest loads, or the lowest load misses."""
    if walk.skipped:
        return _none(curve, policy, doubtful(walk.skipped), Bottleneck.EVIDENCE)
    level, verdict = walk.end if walk.end is not None else (curve.levels[0], Verdict(Standing.ABSENT))
    if verdict.standing is not Standing.MISSES:
        return _none(curve, policy, doubtful(((level, verdict),)), Bottleneck.EVIDENCE)
    finding = notes.error(
        "SLO_NOT_MET",
        f"the lowest load that was measured ({level.label}) is outside: {verdict.text}",
        remedy="more replicas do not mend what the lowest load misses; measure a lower load, loosen the limit, or "
        "change the configuration",
        evidence=level.evidence,
    )
    return _none(curve, policy, finding, verdict.bottleneck)


def _binding(curve: Curve, slo: Slo, walk: Walk) -> Bottleneck:
    if walk.end is not None and walk.missed:
        return walk.end[1].bottleneck
    if slo.is_empty or curve.shape.drops_at is not None:
        return Bottleneck.THROUGHPUT
    return Bottleneck.EVIDENCE


def _reason(slo: Slo, walk: Walk, best: CurveLevel, *, interpolated: float | None) -> str:
    rate = f"{shown(best.requests_per_s)} requests/s at {best.label}"
    if slo.is_empty:
        return f"no limit was asked: the largest throughput measured, {rate}"
    if walk.end is None:
        return f"{rate} keeps every limit, and so does the highest load that can be told ({walk.inside[-1].label})"
    text = f"{rate} is the most inside the limits; at {walk.end[0].label} {walk.end[1].text}"
    if interpolated is None:
        return text
    return f"{text}; between the two the limit is reached at {shown(interpolated)} requests/s"


__all__ = ["Admissibility", "admissibility", "contradictions", "slo_capacity"]

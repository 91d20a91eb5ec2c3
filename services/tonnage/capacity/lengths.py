"""Request sizes that were not measured: how far they are, what a curve says of them, and when it says nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final

from tonnage.capacity import notes
from tonnage.capacity.exact import shown
from tonnage.capacity.works import described
from tonnage.domain.buckets import kind_of
from tonnage.domain.finding import Origin, weakest
from tonnage.domain.measurement import TextWork
from tonnage.domain.plan import Bottleneck, CapacityBound, SloCapacity

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Work
    from tonnage.domain.workload import Slo

SAME_RATIO: Final = 1.1
"""Sizes within a tenth of the measured ones use its rate as it is."""
FARTHEST_RATIO: Final = 2.0
"""Beyond this ratio in any length nothing is predicted."""


@dataclass(frozen=True, slots=True)
class Distance:
    """How a wanted request compares with the measured one; ratios are wanted / measured.

    ``prefill_ratio`` compares input tokens that the prefix cache does not hold. ``factor`` is the largest ratio
    either way, infinite where the two cannot be compared; ``why`` says why not.
    """

    factor: float
    prefill_ratio: float = 1.0
    output_ratio: float = 1.0
    why: str = ""

    @property
    def same(self) -> bool:
        """Tell whether the measured rate holds as it is."""
        return self.factor <= SAME_RATIO

    @property
    def too_far(self) -> bool:
        """Tell whether nothing is predicted."""
        return self.factor > FARTHEST_RATIO


def distance(measured: Work, wanted: Work) -> Distance:
    """Return how far a wanted request size is from a measured one."""
    if type(measured) is not type(wanted):
        return Distance(math.inf, why=f"it is {kind_of(measured)} work, {kind_of(wanted)} work was asked")
    if isinstance(measured, TextWork) and isinstance(wanted, TextWork):
        return _of_text(measured, wanted)
    factor = 1.0
    for item in fields(wanted):
        asked, seen = getattr(wanted, item.name), getattr(measured, item.name)
        if asked is None:
            continue
        if seen is None or not seen > 0 or not asked > 0:
            return Distance(math.inf, why=f"its {item.name} is not stated")
        factor = max(factor, asked / seen, seen / asked)
    return Distance(factor)


def _of_text(measured: TextWork, wanted: TextWork) -> Distance:
    seen, asked = _tokens(measured), _tokens(wanted)
    if seen is None or asked is None:
        return Distance(math.inf, why="its mean lengths are not stated")
    prefill = _prefill_ratio(measured, wanted)
    ratios = (asked[0] / seen[0], asked[1] / seen[1], prefill)
    factor = max(max(ratio, 1 / ratio) if ratio > 0 else math.inf for ratio in ratios)
    why = "its prompts came from the prefix cache" if prefill > FARTHEST_RATIO >= ratios[0] else ""
    return Distance(factor, prefill, ratios[1], why)


def _tokens(work: TextWork) -> tuple[float, float] | None:
    given, out = work.input_tokens_mean, work.output_tokens_mean
    if given is None or out is None or not given > 0 or not out > 0:
        return None
    return given, out


def _prefill_ratio(measured: TextWork, wanted: TextWork) -> float:
    """Return the ratio of uncached input tokens; hits are compared only where the run states its own.

    A request that states no hit ratio expects none: a run that was flattered by its cache does not answer it.
    """
    whole = (wanted.input_tokens_mean or 0.0) / (measured.input_tokens_mean or 1.0)
    hit = measured.prefix_cache_hit_ratio
    if hit is None:
        return whole
    expected = 0.0 if wanted.prefix_cache_hit_ratio is None else wanted.prefix_cache_hit_ratio
    return whole * (1 - expected) / (1 - hit) if hit < 1 else math.inf


def slo_for(slo: Slo, measured: Work, wanted: Work) -> Slo:
    """Return the SLO as the measured requests must keep it so that the wanted ones may.

    TTFT grows with the uncached input, e2e and queue time with the longer of both: limits are tightened by that
    ratio. Shorter requests never loosen a limit, and limits per token stay.
    """
    apart = distance(measured, wanted)
    if apart.same or apart.too_far:
        return slo
    slower = {"ttft": max(1.0, apart.prefill_ratio)}
    slower["e2e"] = slower["queue"] = max(1.0, apart.prefill_ratio, apart.output_ratio)
    limits = tuple(replace(item, max_ms=item.max_ms / slower.get(item.metric, 1.0)) for item in slo.latency_limits)
    return replace(slo, latency_limits=limits)


def convert(capacity: SloCapacity, measured_work: Work, wanted_work: Work) -> SloCapacity:
    """Return the capacity for a request size other than the measured one.

    Within a tenth it is used as it is. Up to twofold it is predicted as the smaller of what the measured output
    tokens/s and the measured uncached input tokens/s allow: Q' = Q x min(out / out', in / in'). Published runs show
    that the first alone promises too much where inputs grow. Beyond twofold the answer is none, with what to measure.
    """
    if capacity.bound is CapacityBound.NONE or capacity.q_slo_requests_per_s is None:
        return capacity
    apart = distance(measured_work, wanted_work)
    if apart.same:
        return capacity
    if apart.too_far:
        return refused(capacity, measured_work, wanted_work, apart)
    scale = min(1 / apart.output_ratio, 1 / apart.prefill_ratio)
    q_slo = capacity.q_slo_requests_per_s * scale
    output = wanted_work.output_tokens_mean if isinstance(wanted_work, TextWork) else None
    finding = _predicted(measured_work, wanted_work, scale)
    return replace(
        capacity,
        q_slo_requests_per_s=q_slo,
        measured_requests_per_s=_scaled(capacity.measured_requests_per_s, scale),
        crossing_requests_per_s=_scaled(capacity.crossing_requests_per_s, scale),
        output_tokens_per_s=None if output is None else q_slo * output,
        origin=weakest(capacity.origin, Origin.PREDICTED),
        reason=f"{capacity.reason}; {finding.message}",
        findings=notes.ordered((*capacity.findings, finding)),
    )


def brackets(one: Work, other: Work, wanted: Work) -> bool:
    """Tell whether two sizes hold the wanted output within a tenth and have the wanted fresh input between them."""
    if not (isinstance(one, TextWork) and isinstance(other, TextWork) and isinstance(wanted, TextWork)):
        return False
    first, second = distance(one, wanted), distance(other, wanted)
    alike = all(1 / SAME_RATIO <= item.output_ratio <= SAME_RATIO for item in (first, second))
    low, high = sorted((first.prefill_ratio, second.prefill_ratio))
    return alike and math.isfinite(first.factor) and math.isfinite(second.factor) and low < 1 < high


def between(
    single: SloCapacity, one: tuple[SloCapacity, Work], other: tuple[SloCapacity, Work], wanted: Work
) -> SloCapacity:
    """Return the capacity between two measured inputs of one output length: 1 / Q straight in the fresh input.

    ``single`` is what the nearer size says alone, and stays the answer where either side has no capacity. A bound is
    exact only where both are: a lower bound on one side leaves a lower bound.
    """
    rates = [item[0].q_slo_requests_per_s for item in (one, other)]
    if rates[0] is None or rates[1] is None or single.bound is CapacityBound.NONE:
        return single
    inputs = [1 / distance(item[1], wanted).prefill_ratio for item in (one, other)]
    share = (1 - inputs[0]) / (inputs[1] - inputs[0])
    q_slo = 1 / ((1 - share) / rates[0] + share / rates[1])
    exact = all(item[0].bound is CapacityBound.EXACT for item in (one, other))
    output = wanted.output_tokens_mean if isinstance(wanted, TextWork) else None
    finding = _interpolated(one[1], other[1], wanted, q_slo)
    return replace(
        single,
        bound=CapacityBound.EXACT if exact else CapacityBound.AT_LEAST,
        q_slo_requests_per_s=q_slo,
        crossing_requests_per_s=q_slo,
        output_tokens_per_s=None if output is None else q_slo * output,
        origin=weakest(one[0].origin, other[0].origin, Origin.PREDICTED),
        reason=f"{one[0].reason}; {finding.message}",
        findings=notes.ordered((*one[0].findings, *other[0].findings, finding)),
    )


def _interpolated(one: Work, other: Work, wanted: Work, q_slo: float) -> Finding:
    return notes.warning(
        "LENGTHS_PREDICTED",
        f"{described(wanted)} was not measured; predicted between {described(one)} and {described(other)}: "
        f"{shown(q_slo)} requests/s, the time in service straight in the input",
        remedy=f"measure {described(wanted)}",
    )


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _predicted(measured: Work, wanted: Work, scale: float) -> Finding:
    return notes.warning(
        "LENGTHS_PREDICTED",
        f"{described(wanted)} was not measured; predicted from {described(measured)}: rate x {shown(scale)}, "
        "and limits that grow with length tightened",
        remedy=f"measure {described(wanted)}",
    )


def refused(capacity: SloCapacity, measured: Work, wanted: Work, apart: Distance) -> SloCapacity:
    """Return no capacity, because no sweep speaks of the wanted size; what else stands in the way is not told."""
    finding = too_far(measured, wanted, apart)
    return SloCapacity(
        bound=CapacityBound.NONE,
        policy=capacity.policy,
        reason=finding.message,
        arrival_kind=capacity.arrival_kind,
        binding=Bottleneck.EVIDENCE,
        findings=(finding,),
    )


def too_far(measured: Work, wanted: Work, apart: Distance) -> Finding:
    """Return the finding of a size that no sweep speaks of."""
    remedy = f"measure a sweep of {described(wanted)}"
    if type(measured) is not type(wanted):
        message = f"no stored run is of {kind_of(wanted)} work; the nearest sweep has {described(measured)}"
        return notes.error("NO_MEASURED_RUN", message, path="buckets", remedy=remedy)
    how_far = f"{shown(apart.factor)} times apart" if math.isfinite(apart.factor) else "not comparable"
    reason = f" ({apart.why})" if apart.why else ""
    return notes.error(
        "LENGTHS_NOT_MEASURED",
        f"{described(wanted)} was not measured; the nearest sweep has {described(measured)}, {how_far}{reason}; "
        f"nothing is predicted beyond {shown(FARTHEST_RATIO)} times",
        path="buckets",
        remedy=remedy,
    )

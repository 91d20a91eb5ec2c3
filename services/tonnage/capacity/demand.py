"""Demand: from what the caller knows to requests/s and tokens/s, at base and at peak."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.capacity import notes
from tonnage.capacity.exact import as_float, exact, product, shown
from tonnage.domain.buckets import kind_of
from tonnage.domain.finding import Finding, Origin
from tonnage.domain.measurement import EmbeddingWork, TextWork
from tonnage.domain.plan import BucketTokenDemand, DemandSummary, TokenDemand
from tonnage.domain.workload import BaseAndPeak, DailyUsers, PeakRate, Sessions, check_shares
from tonnage.errors import InvalidInput
from tonnage.units import S_PER_DAY, S_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.measurement import Work
    from tonnage.domain.workload import Demand, DemandBucket


@dataclass(frozen=True, slots=True)
class Rates:
    """Demand in exact requests/s; ``base`` is None when only the peak is known."""

    peak: Fraction
    base: Fraction | None
    equation: str
    origin: Origin
    source: str
    findings: tuple[Finding, ...] = ()


def rates(demand: Demand, buckets: Sequence[DemandBucket]) -> Rates:
    """Return base and peak of any kind of demand, without rounding.

    Raises ``InvalidInput`` when sessions meet buckets that do not generate tokens.
    """
    if isinstance(demand, BaseAndPeak):
        return _of_base_and_peak(demand)
    if isinstance(demand, PeakRate):
        return _of_peak_rate(demand)
    if isinstance(demand, DailyUsers):
        return _of_daily_users(demand)
    return _of_sessions(demand, buckets)


def summarize(demand: Demand, buckets: tuple[DemandBucket, ...]) -> tuple[DemandSummary, tuple[Finding, ...]]:
    """Return D_peak, D_base and the token demand T = rate x (input + output), per bucket and in sum.

    Cached input is shown apart and taken off prefill work alone. Raises ``InvalidInput`` for shares that do not
    sum to 1 and for figures too large to be meant.
    """
    check_shares(buckets)
    return summary_of(rates(demand, buckets), buckets)


def summary_of(known: Rates, buckets: Sequence[DemandBucket]) -> tuple[DemandSummary, tuple[Finding, ...]]:
    """Return the summary of rates that are already known; shares must sum to 1."""
    peak = as_float("demand", known.peak)
    base = None if known.base is None else as_float("demand", known.base)
    rows = tuple(row for bucket in buckets if (row := _bucket_tokens(bucket, peak, base)) is not None)
    summary = DemandSummary(
        peak_requests_per_s=peak,
        base_requests_per_s=base,
        peak_factor=None if known.base is None or known.base == 0 else float(known.peak / known.base),
        equation=known.equation,
        origin=known.origin,
        source=known.source,
        peak_tokens=_sum([row.peak for row in rows]),
        base_tokens=_sum([row.base for row in rows if row.base is not None]),
        buckets=rows,
    )
    return summary, (*known.findings, *_no_tokens(buckets, known.peak))


def _of_base_and_peak(demand: BaseAndPeak) -> Rates:
    peak = product(demand.base_requests_per_s, demand.peak_factor)
    equation = (
        f"D_peak = {shown(demand.base_requests_per_s)} requests/s x {shown(demand.peak_factor)} "
        f"= {shown(peak)} requests/s"
    )
    return Rates(peak, exact(demand.base_requests_per_s), equation, Origin.DECLARED, demand.peak_factor_source)


def _of_peak_rate(demand: PeakRate) -> Rates:
    base = None if demand.base_requests_per_s is None else exact(demand.base_requests_per_s)
    equation = f"D_peak = {shown(demand.peak_requests_per_s)} requests/s as stated"
    return Rates(exact(demand.peak_requests_per_s), base, equation, Origin.DECLARED, "stated by the caller")


def _of_daily_users(demand: DailyUsers) -> Rates:
    factor = demand.peak_within_hour_factor
    daily = product(demand.daily_active_users, demand.requests_per_user_per_day)
    peak = daily * product(demand.peak_hour_share, 1 if factor is None else factor) / exact(S_PER_HOUR)
    within = "" if factor is None else f" x {shown(factor)}"
    equation = (
        f"D_peak = {shown(demand.daily_active_users)} users x {shown(demand.requests_per_user_per_day)} requests a day "
        f"x {shown(demand.peak_hour_share)} in the busiest hour / 3600 s{within} = {shown(peak)} requests/s"
    )
    findings = () if factor is not None else (_flat_hour(),)
    origin = Origin.DERIVED if factor is not None else Origin.ASSUMED
    return Rates(peak, daily / exact(S_PER_DAY), equation, origin, demand.source, findings)


def _flat_hour() -> Finding:
    return notes.warning(
        "PEAK_HOUR_TAKEN_AS_FLAT",
        "no peak within the busiest hour was stated, so the hour counts as flat; a real minute lies above its hour",
        path="demand.daily_users.peak_within_hour_factor",
        remedy="state the busiest minute over the busiest hour, from a request log",
    )


def _of_sessions(demand: Sessions, buckets: Sequence[DemandBucket]) -> Rates:
    output = mean_output_tokens(buckets)
    if output is None:
        raise InvalidInput.field(
            "demand.sessions",
            demand.executing_sessions,
            "draws tokens, and a bucket generates none",
            "state a rate instead, or text buckets",
        )
    tokens = product(demand.executing_sessions, demand.output_tokens_per_s_per_session)
    peak = tokens / output
    equation = (
        f"D_peak = {shown(demand.executing_sessions)} sessions x "
        f"{shown(demand.output_tokens_per_s_per_session)} output tokens/s / {shown(output)} output tokens a request "
        f"= {shown(peak)} requests/s"
    )
    return Rates(peak, None, equation, Origin.DERIVED, demand.source)


def mean_output_tokens(buckets: Sequence[DemandBucket]) -> Fraction | None:
    """Return the mean output tokens of a request over all buckets, or None when one generates no text."""
    total = Fraction(0)
    for bucket in buckets:
        if not isinstance(bucket.work, TextWork) or bucket.work.output_tokens_mean is None:
            return None
        total += product(bucket.share, bucket.work.output_tokens_mean)
    return total


def _tokens_of(work: Work) -> tuple[float, float, float] | None:
    """Return input, cached input and output tokens of one request, or None where tokens mean nothing."""
    if isinstance(work, EmbeddingWork):
        if work.input_tokens_mean is None:
            return None
        items = 1.0 if work.items_per_request is None else work.items_per_request
        return work.input_tokens_mean * items, 0.0, 0.0
    if not isinstance(work, TextWork) or work.input_tokens_mean is None or work.output_tokens_mean is None:
        return None
    hit = work.prefix_cache_hit_ratio
    cached = 0.0 if hit is None else work.input_tokens_mean * hit
    return work.input_tokens_mean, cached, work.output_tokens_mean


def _bucket_tokens(bucket: DemandBucket, peak: float, base: float | None) -> BucketTokenDemand | None:
    tokens = _tokens_of(bucket.work)
    if tokens is None:
        return None
    return BucketTokenDemand(
        work=bucket.work,
        share=bucket.share,
        peak=_rate(tokens, peak * bucket.share),
        base=None if base is None else _rate(tokens, base * bucket.share),
    )


def _rate(tokens: tuple[float, float, float], requests_per_s: float) -> TokenDemand:
    given, cached, output = (requests_per_s * count for count in tokens)
    checks.finite("demand", given + output)
    return TokenDemand(input_tokens_per_s=given, cached_input_tokens_per_s=cached, output_tokens_per_s=output)


def _sum(parts: Sequence[TokenDemand]) -> TokenDemand | None:
    if not parts:
        return None
    return TokenDemand(
        input_tokens_per_s=math.fsum(part.input_tokens_per_s for part in parts),
        cached_input_tokens_per_s=math.fsum(part.cached_input_tokens_per_s for part in parts),
        output_tokens_per_s=math.fsum(part.output_tokens_per_s for part in parts),
    )


def _no_tokens(buckets: Sequence[DemandBucket], peak: Fraction) -> tuple[Finding, ...]:
    return tuple(
        notes.info(
            "NO_TOKEN_DEMAND",
            f"a bucket of {kind_of(bucket.work)} work has no token demand; "
            f"it asks for {shown(peak * exact(bucket.share))} requests/s at peak and is left out of the token sums",
            path=f"buckets[{place}].work",
        )
        for place, bucket in enumerate(buckets)
        if _tokens_of(bucket.work) is None
    )

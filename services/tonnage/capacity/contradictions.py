"""Limits that contradict each other: no number of servers mends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage.capacity import notes
from tonnage.capacity.exact import shown
from tonnage.capacity.works import described
from tonnage.domain.measurement import TextWork

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Metric, StatisticName
    from tonnage.domain.workload import DemandBucket, Slo


def contradictions(slo: Slo, buckets: Sequence[DemandBucket]) -> tuple[Finding, ...]:
    """Return where a first token and the tokens after it, each at its limit, take longer than the whole may.

    For each statistic with limits on TTFT, TPOT and e2e: TTFT + TPOT x (n - 1) > e2e, n being a bucket's mean
    output tokens. Percentiles do not add up exactly; the sum is what the three limits promise together.
    """
    limits = {(limit.metric, limit.statistic): limit.max_ms for limit in slo.latency_limits}
    bounded = [limit.statistic for limit in slo.latency_limits if limit.metric == "e2e"]
    return notes.ordered(
        finding
        for bucket in buckets
        for statistic in bounded
        if (finding := _contradiction(bucket, statistic, limits)) is not None
    )


def _contradiction(
    bucket: DemandBucket, statistic: StatisticName, limits: Mapping[tuple[Metric, StatisticName], float]
) -> Finding | None:
    ttft, tpot, e2e = limits.get(("ttft", statistic)), limits.get(("tpot", statistic)), limits[("e2e", statistic)]
    output = bucket.work.output_tokens_mean if isinstance(bucket.work, TextWork) else None
    if ttft is None or tpot is None or output is None or output <= 1:
        return None
    implied = implied_e2e_ms(ttft, tpot, output)
    if implied <= e2e:
        return None
    return notes.error(
        "CONTRADICTING_LIMITS",
        f"{statistic} of {described(bucket.work)}: TTFT {shown(ttft)} ms + {shown(output - 1)} x TPOT {shown(tpot)} ms "
        f"= {shown(implied)} ms, over the e2e limit of {shown(e2e)} ms",
        path="slo.latency_limits",
        remedy=_cure(statistic, ttft, e2e, output, implied),
    )


def implied_e2e_ms(ttft_ms: float, tpot_ms: float, output_tokens: float) -> float:
    """Return TTFT + TPOT x (n - 1), milliseconds."""
    return ttft_ms + tpot_ms * (output_tokens - 1)


def _cure(statistic: str, ttft: float, e2e: float, output: float, implied: float) -> str:
    loosen = f"raise e2e {statistic} to {shown(implied)} ms"
    if e2e <= ttft:
        return f"{loosen}, or lower both other limits"
    return f"lower tpot {statistic} to {shown((e2e - ttft) / (output - 1))} ms, or {loosen}"

"""What to do with the distribution of N: the count of least expected regret, and the servers that run now."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tonnage.capacity.exact import rounded
from tonnage.domain.confidence import (
    CountChoice,
    CurrentAgainstPlanned,
    CurrentVerdict,
    LeastRegret,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.confidence.counts import Bar
    from tonnage.domain.confidence import ConfidenceOptions
    from tonnage.domain.plan import ServerCount


def least_regret(bars: Sequence[Bar], planned: ServerCount, options: ConfidenceOptions) -> LeastRegret | None:
    """Return the count of least expected regret among those that some world needs, and the planned one.

    With S servers and the servers S_w that world w needs, regret an hour is
    price of one too many x E[max(0, S - S_w)] + price of a broken SLO x P(S_w > S); worlds in which no count serves are
    broken at any count. Of equal regrets the smaller count is taken. None unless both prices are stated.
    """
    many, broken = options.server_too_many_per_hour, options.slo_broken_per_hour
    if many is None or broken is None or not bars:
        return None
    prices = many.amount, broken.amount
    choices, enough, kept = [], 0.0, 0.0
    for bar in bars:
        enough += bar.probability
        kept += bar.probability * bar.server_count
        choices.append(_choice((bar.server_count, bar.replica_count), enough, bar.server_count * enough - kept, prices))
    best = min(choices, key=lambda item: (item.regret_per_hour, item.server_count, -item.replica_count))
    held = [bar for bar in bars if bar.server_count <= planned.server_count]
    share = math.fsum(bar.probability for bar in held)
    idle = planned.server_count * share - math.fsum(bar.probability * bar.server_count for bar in held)
    counts = planned.server_count, planned.replica_count
    return LeastRegret(choice=best, planned=_choice(counts, share, idle, prices), currency=many.currency)


def _choice(counts: tuple[int, int], enough: float, idle: float, prices: tuple[float, float]) -> CountChoice:
    """Return the regret of (servers, replicas): expected servers too many and share of broken worlds, priced."""
    return CountChoice(
        server_count=counts[0],
        replica_count=counts[1],
        sufficient_probability=rounded(enough),
        regret_per_hour=rounded(max(0.0, prices[0] * idle + prices[1] * (1 - enough))),
    )


def sufficient(bars: Sequence[Bar], server_count: int) -> float:
    """Return the share of worlds in which so many servers are enough."""
    return math.fsum(bar.probability for bar in bars if bar.server_count <= server_count)


def against_current(
    bars: Sequence[Bar], planned: ServerCount, band: tuple[int | None, int | None], options: ConfidenceOptions
) -> CurrentAgainstPlanned | None:
    """Return what to do with the servers that run now.

    ``band`` holds the servers that are enough in half and in 95 of 100 worlds, None where none are; it is widened to
    the planned count, and by what is not worth a change. Inside it a change follows noise.
    """
    current = options.current_server_count
    if current is None:
        return None
    slack = options.not_worth_server_count or 0
    low, high = band
    lowest = max(0, min(planned.server_count, planned.server_count if low is None else low) - slack)
    highest = None if high is None else max(planned.server_count, high) + slack
    return CurrentAgainstPlanned(
        verdict=_verdict(current, planned.server_count, lowest, highest),
        server_count_change=planned.server_count - current,
        sufficient_probability=rounded(sufficient(bars, current)),
        band_low_server_count=lowest,
        band_high_server_count=highest,
    )


def _verdict(current: int, planned: int, low: int, high: int | None) -> CurrentVerdict:
    if current == planned:
        return CurrentVerdict.KEEP
    if current < low:
        return CurrentVerdict.ADD
    return CurrentVerdict.DO_NOT_BOTHER if high is None or current <= high else CurrentVerdict.REMOVE

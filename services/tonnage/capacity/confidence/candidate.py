"""How sure one candidate is: its worlds, and what is told of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity.confidence.counts import Bar, Counter, Needs, at_shares
from tonnage.capacity.confidence.money import against_current, least_regret
from tonnage.capacity.confidence.swings import swings_of
from tonnage.capacity.exact import exact, rounded
from tonnage.domain.confidence import (
    CandidateConfidence,
    CapacityConfidence,
    CountAtConfidence,
    CountProbability,
    NextCount,
    Quantiles,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tonnage.capacity.confidence.draws import Worlds
    from tonnage.capacity.confidence.inputs import Inputs
    from tonnage.capacity.confidence.rates import Rate
    from tonnage.domain.confidence import ConfidenceOptions
    from tonnage.domain.plan import Candidate, PlanRequest, ServerCount
    from tonnage.domain.workload import Money

    Floats = NDArray[np.float64]

CONFIDENCES: Final = (0.5, 0.8, 0.95)
_SHARES: Final = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)


@dataclass(frozen=True, slots=True)
class Setting:
    """What all candidates over the same worlds share; demand and need are numbers where nothing of them is unsure."""

    inputs: Inputs
    worlds: Worlds
    shares: Sequence[Floats | float]
    needed: Floats | float
    demand: Floats | float

    @classmethod
    def of(cls, inputs: Inputs, worlds: Worlds) -> Setting:
        """Return the setting of one request over some worlds."""
        return cls(inputs, worlds, inputs.drawn_shares(worlds), inputs.needed(worlds), inputs.demand(worlds))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Needed replicas, quantiles of U, and ln Q of each bucket."""

    needs: Needs
    utilization: list[float]
    rates: tuple[Floats, ...]


def confidence_of(
    request: PlanRequest, options: ConfidenceOptions, candidate: Candidate, rates: Sequence[Rate], setting: Setting
) -> CandidateConfidence:
    """Return how sure one candidate is, over the worlds of the setting."""
    server, count, worlds = request.workload.server, candidate.count, setting.worlds
    counter = Counter(
        request.workload.failover, candidate.configuration.accelerators_per_replica, server.accelerators_per_server
    )
    drawn = _draw(setting, rates, count.replica_count)
    needs = drawn.needs
    found = needs.bars(counter)
    at = {share: _count_at(needs, share, counter, server.price_per_hour) for share in CONFIDENCES}
    return CandidateConfidence(
        world_count=worlds.count,
        counts=tuple(at.values()),
        distribution=tuple(_probability(bar) for bar in found),
        unserved_probability=rounded(needs.unserved),
        sufficient_probability=rounded(needs.share_served_by(count.needed_replica_count)),
        at_most=candidate.upper_bound,
        utilization_ratio=_quantiles(drawn.utilization),
        buckets=tuple(_bucket(rate, row) for rate, row in zip(rates, drawn.rates, strict=True)),
        next_count=next_count(count),
        swings=swings_of(setting.inputs, rates, counter),
        per_hour=_money(needs, counter, server.price_per_hour),
        least_regret=least_regret(found, count, options),
        current=against_current(found, count, (at[0.5].server_count, at[0.95].server_count), options),
    )


def _draw(setting: Setting, rates: Sequence[Rate], replica_count: int) -> _Drawn:
    """Return N_w before failover = ceil(D_w (1 + R_w) x sum of share_bw / Q_bw), and U_w = D_w x that sum / N."""
    curve, model = setting.worlds.column("curve"), setting.worlds.column("model")
    rows = [rate.drawn(curve, model) for rate in rates]
    load: Floats = np.zeros(setting.worlds.count)
    for share, row in zip(setting.shares, rows, strict=True):
        load += share * np.exp(-row)
    replicas = load * setting.needed
    if setting.inputs.reserve_is_certain:
        used = at_shares(replicas, _SHARES)
        planned = setting.inputs.kept * max(1, replica_count)
    else:
        used = at_shares(load * setting.demand, _SHARES)
        planned = float(max(1, replica_count))
    return _Drawn(Needs.of(replicas), [item / planned for item in used], tuple(rows))


def _count_at(needs: Needs, share: float, counter: Counter, price: Money | None) -> CountAtConfidence:
    found = needs.enough_in(share)
    if found is None:
        return CountAtConfidence(confidence=share)
    replicas, servers = counter.of(found)
    money = None if price is None else replace(price, amount=float(exact(price.amount) * servers))
    return CountAtConfidence(confidence=share, replica_count=replicas, server_count=servers, per_hour=money)


def _probability(bar: Bar) -> CountProbability:
    return CountProbability(
        replica_count=bar.replica_count, server_count=bar.server_count, probability=rounded(bar.probability)
    )


def _bucket(rate: Rate, drawn: Floats) -> CapacityConfidence:
    served = drawn if rate.always_served else drawn[drawn > -np.inf]
    found = [math.exp(item) for item in at_shares(served, _SHARES)] if served.size else [math.inf] * len(_SHARES)
    return CapacityConfidence(
        q_slo_requests_per_s=_quantiles(found),
        unserved_probability=rounded(1 - served.size / drawn.size),
        at_least=rate.at_least,
        spread=rate.spread.said(),
    )


def _quantiles(found: Sequence[float]) -> Quantiles:
    """Return central intervals of values at their shares; what has no bound is None."""
    low_95, low_80, low_50, median, high_50, high_80, high_95 = map(_bound, found)
    return Quantiles(
        low_95=low_95,
        low_80=low_80,
        low_50=low_50,
        median=median,
        high_50=high_50,
        high_80=high_80,
        high_95=high_95,
    )


def _bound(value: float) -> float | None:
    return rounded(value) if math.isfinite(value) else None


def _money(needs: Needs, counter: Counter, price: Money | None) -> Quantiles | None:
    """Return the cost of the servers that are enough; servers rise with the need, so quantiles carry over."""
    if price is None:
        return None
    found = [needs.enough_in(share) for share in _SHARES]
    return _quantiles([math.inf if item is None else price.amount * counter.of(item)[1] for item in found])


def next_count(count: ServerCount) -> NextCount:
    """Return how far the next count lies, from the plan's exact ratios: Q / (1 + g) does what demand x (1 + g) does."""
    grows, falls = count.demand_headroom_ratio, count.demand_surplus_ratio
    return NextCount(
        demand_growth_ratio=grows,
        demand_fall_ratio=falls,
        capacity_fall_ratio=None if grows is None else float(1 - 1 / (1 + exact(grows))),
        capacity_rise_ratio=None if falls is None or falls >= 1 else float(1 / (1 - exact(falls)) - 1),
    )

"""How unsure a request is, and how sure its answer: options and the confidence of a candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tonnage import checks
from tonnage.domain.confidence import ConfidenceOptions, CurrentVerdict, LikelyRange
from tonnage.errors import at
from tonnage.planning.codec.presence import LARGEST_RATE, at_most, needed, optional, text
from tonnage.planning.codec.workload import decode_money, encode_money
from tonnage.v1 import confidence_pb2 as pb

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tonnage.domain.confidence import (
        CandidateConfidence,
        CapacityConfidence,
        CountAtConfidence,
        CountChoice,
        CurrentAgainstPlanned,
        LeastRegret,
        NextCount,
        Quantiles,
        Swing,
    )

_RANGES: Final = (
    "base_requests_per_s",
    "peak_factor",
    "peak_requests_per_s",
    "whole",
    "growth",
    "burst",
    "drift",
    "colocation",
)
_COUNTS: Final = ("share_sample_count", "current_server_count", "not_worth_server_count")
_PRICES: Final = ("server_too_many_per_hour", "slo_broken_per_hour")
_LARGEST_COUNT: Final = 10**12
VERDICT: Final = {
    pb.CURRENT_VERDICT_KEEP: CurrentVerdict.KEEP,
    pb.CURRENT_VERDICT_DO_NOT_BOTHER: CurrentVerdict.DO_NOT_BOTHER,
    pb.CURRENT_VERDICT_ADD: CurrentVerdict.ADD,
    pb.CURRENT_VERDICT_REMOVE: CurrentVerdict.REMOVE,
}
_VERDICT_NUMBER: Final = {value: number for number, value in VERDICT.items()}


def decode_options(message: pb.ConfidenceOptions) -> ConfidenceOptions | None:
    """Return how unsure the figures are, None where nothing is stated; raise ``InvalidInput``."""
    if not message.ListFields():
        return None
    stated: dict[str, Any] = {}
    for name in (*_RANGES, *_PRICES):
        if _has(message, name):
            with at(name):
                inner = getattr(message, name)
                stated[name] = decode_money(inner) if name in _PRICES else _range(inner)
    for name in _COUNTS:
        stated[name] = optional(message, name)
        at_most(name, stated[name], _LARGEST_COUNT)
    return ConfidenceOptions(**stated, planned_engine_version=text(message.planned_engine_version))


def _has(message: Message, name: str) -> bool:
    """Tell whether a field with presence is stated."""
    return bool(message.HasField(name))


def _range(message: pb.LikelyRange) -> LikelyRange:
    low, high = needed(message, "low"), needed(message, "high")
    checks.not_negative("low", low)
    at_most("high", high, LARGEST_RATE)
    return LikelyRange(low=low, high=high)


def encode_options(options: ConfidenceOptions | None) -> pb.ConfidenceOptions | None:
    """Return how unsure the figures are as a message, None for None."""
    if options is None:
        return None
    stated: dict[str, Any] = {name: getattr(options, name) for name in _COUNTS}
    for name in _PRICES:
        stated[name] = encode_money(getattr(options, name))
    for name in _RANGES:
        found: LikelyRange | None = getattr(options, name)
        stated[name] = None if found is None else pb.LikelyRange(low=found.low, high=found.high)
    return pb.ConfidenceOptions(**stated, planned_engine_version=options.planned_engine_version or "")


def encode_confidence(found: CandidateConfidence | None) -> pb.CandidateConfidence | None:
    """Return how sure a candidate is as a message, None for None."""
    if found is None:
        return None
    return pb.CandidateConfidence(
        world_count=found.world_count,
        counts=[_count(item) for item in found.counts],
        distribution=[
            pb.CountProbability(
                replica_count=item.replica_count, server_count=item.server_count, probability=item.probability
            )
            for item in found.distribution
        ],
        unserved_probability=found.unserved_probability,
        sufficient_probability=found.sufficient_probability,
        at_most=found.at_most,
        utilization_ratio=encode_quantiles(found.utilization_ratio),
        buckets=[_bucket(item) for item in found.buckets],
        per_hour=None if found.per_hour is None else encode_quantiles(found.per_hour),
        next_count=_next(found.next_count),
        swings=[_swing(item) for item in found.swings],
        least_regret=None if found.least_regret is None else _regret(found.least_regret),
        current=None if found.current is None else _current(found.current),
    )


def encode_quantiles(found: Quantiles) -> pb.Quantiles:
    """Return central intervals as a message."""
    return pb.Quantiles(
        low_95=found.low_95,
        low_80=found.low_80,
        low_50=found.low_50,
        median=found.median,
        high_50=found.high_50,
        high_80=found.high_80,
        high_95=found.high_95,
    )


def _count(item: CountAtConfidence) -> pb.CountAtConfidence:
    return pb.CountAtConfidence(
        confidence=item.confidence,
        replica_count=item.replica_count,
        server_count=item.server_count,
        per_hour=encode_money(item.per_hour),
    )


def _bucket(item: CapacityConfidence) -> pb.CapacityConfidence:
    spread = item.spread
    return pb.CapacityConfidence(
        q_slo_requests_per_s=encode_quantiles(item.q_slo_requests_per_s),
        unserved_probability=item.unserved_probability,
        at_least=item.at_least,
        spread=pb.CurveSpread(
            run_count=spread.run_count,
            run_to_run=spread.run_to_run,
            within_run=spread.within_run,
            used_half_width_90=spread.used_half_width_90,
            age_days=spread.age_days,
            other_version=spread.other_version,
        ),
    )


def _next(item: NextCount) -> pb.NextCount:
    return pb.NextCount(
        demand_growth_ratio=item.demand_growth_ratio,
        demand_fall_ratio=item.demand_fall_ratio,
        capacity_fall_ratio=item.capacity_fall_ratio,
        capacity_rise_ratio=item.capacity_rise_ratio,
    )


def _swing(item: Swing) -> pb.Swing:
    return pb.Swing(
        input=item.input,
        low_replicas=item.low_replicas,
        low_replica_count=item.low_replica_count,
        high_replicas=item.high_replicas,
        high_replica_count=item.high_replica_count,
    )


def _regret(item: LeastRegret) -> pb.LeastRegret:
    return pb.LeastRegret(choice=_choice(item.choice), planned=_choice(item.planned), currency=item.currency)


def _choice(item: CountChoice) -> pb.CountChoice:
    return pb.CountChoice(
        server_count=item.server_count,
        replica_count=item.replica_count,
        sufficient_probability=item.sufficient_probability,
        regret_per_hour=item.regret_per_hour,
    )


def _current(item: CurrentAgainstPlanned) -> pb.CurrentAgainstPlanned:
    return pb.CurrentAgainstPlanned(
        verdict=_VERDICT_NUMBER[item.verdict],
        server_count_change=item.server_count_change,
        sufficient_probability=item.sufficient_probability,
        band_low_server_count=item.band_low_server_count,
        band_high_server_count=item.band_high_server_count,
    )

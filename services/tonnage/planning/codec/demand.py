"""Demand and bucket messages, and the summary that answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.workload import BaseAndPeak, DailyUsers, DemandBucket, PeakRate, Sessions
from tonnage.errors import InvalidInput, at
from tonnage.planning.codec.presence import LARGEST_LENGTH, LARGEST_RATIO, at_most, chosen, needed, optional, rate
from tonnage.rpc.codec.finding import encode_origin
from tonnage.rpc.codec.work import decode_work, encode_work
from tonnage.v1 import plan_pb2, run_pb2, workload_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.measurement import Work
    from tonnage.domain.plan import BucketTokenDemand, DemandSummary, TokenDemand
    from tonnage.domain.workload import Demand

_FACTOR_CURE: Final = "state the measured factor and its source, or give peak_rate; it is never defaulted"
_LARGEST_USERS: Final = 1e11


def decode_demand(message: workload_pb2.Demand) -> Demand:
    """Return how much is asked; raise ``InvalidInput`` when no kind is set or a figure is absent."""
    kind = chosen(message, "kind", "", "state base_and_peak, peak_rate, daily_users or sessions")
    with at(kind):
        if kind == "base_and_peak":
            return _base_and_peak(message.base_and_peak)
        if kind == "peak_rate":
            return _peak_rate(message.peak_rate)
        if kind == "daily_users":
            return _daily_users(message.daily_users)
        return _sessions(message.sessions)


def _base_and_peak(message: workload_pb2.BaseAndPeak) -> BaseAndPeak:
    base = needed(message, "base_requests_per_s")
    rate("base_requests_per_s", base)
    factor = needed(message, "peak_factor", _FACTOR_CURE)
    at_most("peak_factor", factor, LARGEST_RATIO)
    if not message.peak_factor_source:
        raise InvalidInput.field("peak_factor_source", None, "is required and absent", _FACTOR_CURE)
    return BaseAndPeak(base_requests_per_s=base, peak_factor=factor, peak_factor_source=message.peak_factor_source)


def _peak_rate(message: workload_pb2.PeakRate) -> PeakRate:
    peak = needed(message, "peak_requests_per_s")
    rate("peak_requests_per_s", peak)
    return PeakRate(peak_requests_per_s=peak, base_requests_per_s=optional(message, "base_requests_per_s"))


def _daily_users(message: workload_pb2.DailyUsers) -> DailyUsers:
    users = needed(message, "daily_active_users")
    at_most("daily_active_users", users, _LARGEST_USERS)
    requests = needed(message, "requests_per_user_per_day")
    at_most("requests_per_user_per_day", requests, LARGEST_RATIO)
    factor = optional(message, "peak_within_hour_factor")
    at_most("peak_within_hour_factor", factor, LARGEST_RATIO)
    return DailyUsers(
        daily_active_users=users,
        requests_per_user_per_day=requests,
        peak_hour_share=needed(message, "peak_hour_share"),
        peak_within_hour_factor=factor,
        source=message.source,
    )


def _sessions(message: workload_pb2.Sessions) -> Sessions:
    sessions = needed(message, "executing_sessions")
    rate("executing_sessions", sessions)
    drawn = needed(message, "output_tokens_per_s_per_session")
    rate("output_tokens_per_s_per_session", drawn)
    return Sessions(executing_sessions=sessions, output_tokens_per_s_per_session=drawn, source=message.source)


def encode_demand(demand: Demand) -> workload_pb2.Demand:
    """Return demand as a message, of the kind it was stated in."""
    if isinstance(demand, BaseAndPeak):
        return workload_pb2.Demand(
            base_and_peak=workload_pb2.BaseAndPeak(
                base_requests_per_s=demand.base_requests_per_s,
                peak_factor=demand.peak_factor,
                peak_factor_source=demand.peak_factor_source,
            )
        )
    if isinstance(demand, PeakRate):
        return workload_pb2.Demand(
            peak_rate=workload_pb2.PeakRate(
                peak_requests_per_s=demand.peak_requests_per_s, base_requests_per_s=demand.base_requests_per_s
            )
        )
    if isinstance(demand, DailyUsers):
        return workload_pb2.Demand(
            daily_users=workload_pb2.DailyUsers(
                daily_active_users=demand.daily_active_users,
                requests_per_user_per_day=demand.requests_per_user_per_day,
                peak_hour_share=demand.peak_hour_share,
                peak_within_hour_factor=demand.peak_within_hour_factor,
                source=demand.source,
            )
        )
    return workload_pb2.Demand(
        sessions=workload_pb2.Sessions(
            executing_sessions=demand.executing_sessions,
            output_tokens_per_s_per_session=demand.output_tokens_per_s_per_session,
            source=demand.source,
        )
    )


def decode_buckets(messages: Sequence[workload_pb2.DemandBucket]) -> tuple[DemandBucket, ...]:
    """Return the classes of request sizes; raise ``InvalidInput`` naming the place under ``buckets``."""
    buckets = []
    for place, message in enumerate(messages):
        with at(f"buckets[{place}]"):
            with at("work"):
                work = needed_work(message.work)
            share = needed(message, "share", "state the share of requests; 1 when this is the only size")
            buckets.append(DemandBucket(work=work, share=share))
    return tuple(buckets)


def needed_work(message: run_pb2.WorkSize) -> Work:
    """Return the size of a wanted request; raise ``InvalidInput`` when none is stated or it is beyond reason."""
    work = decode_work(message)
    if work is None:
        raise InvalidInput.field("", None, "is required and absent", "state text, image, audio, video or embedding")
    kind = message.WhichOneof("work")
    for name in work.__dataclass_fields__:
        at_most(f"{kind}.{name}", getattr(work, name), LARGEST_LENGTH)
    return work


def encode_buckets(buckets: Sequence[DemandBucket]) -> list[workload_pb2.DemandBucket]:
    """Return classes of request sizes as messages."""
    return [workload_pb2.DemandBucket(work=encode_work(item.work), share=item.share) for item in buckets]


def encode_token_demand(tokens: TokenDemand | None) -> plan_pb2.TokenDemand | None:
    """Return totals as a message, None for None."""
    if tokens is None:
        return None
    return plan_pb2.TokenDemand(
        input_tokens_per_s=tokens.input_tokens_per_s,
        cached_input_tokens_per_s=tokens.cached_input_tokens_per_s,
        uncached_input_tokens_per_s=tokens.uncached_input_tokens_per_s,
        output_tokens_per_s=tokens.output_tokens_per_s,
        total_tokens_per_s=tokens.total_tokens_per_s,
    )


def _bucket_tokens(item: BucketTokenDemand) -> plan_pb2.BucketTokenDemand:
    return plan_pb2.BucketTokenDemand(
        work=encode_work(item.work),
        share=item.share,
        base=encode_token_demand(item.base),
        peak=encode_token_demand(item.peak),
    )


def encode_summary(summary: DemandSummary) -> plan_pb2.DemandSummary:
    """Return demand after its sums as a message."""
    return plan_pb2.DemandSummary(
        base_requests_per_s=summary.base_requests_per_s,
        peak_requests_per_s=summary.peak_requests_per_s,
        peak_factor=summary.peak_factor,
        equation=summary.equation,
        origin=encode_origin(summary.origin),
        source=summary.source,
        base_tokens=encode_token_demand(summary.base_tokens),
        peak_tokens=encode_token_demand(summary.peak_tokens),
        buckets=[_bucket_tokens(item) for item in summary.buckets],
    )

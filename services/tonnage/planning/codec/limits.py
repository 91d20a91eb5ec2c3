"""SLO messages."""

from __future__ import annotations

from tonnage.domain.workload import LatencyLimit, Slo
from tonnage.errors import at
from tonnage.planning.codec import enums
from tonnage.planning.codec.presence import at_most, member, optional
from tonnage.v1 import workload_pb2

_LONGEST_LIMIT_MS = 1e10


def decode_slo(message: workload_pb2.Slo) -> Slo:
    """Return the limits; raise ``InvalidInput`` for an unknown metric, statistic or limit not above 0."""
    limits = []
    for place, item in enumerate(message.latency_limits):
        with at(f"latency_limits[{place}]"):
            limits.append(_limit(item))
    return Slo(
        latency_limits=tuple(limits),
        max_failure_ratio=optional(message, "max_failure_ratio"),
        min_output_tokens_per_s_per_user=optional(message, "min_output_tokens_per_s_per_user"),
        allow_statistic_substitution=message.allow_statistic_substitution,
    )


def _limit(message: workload_pb2.LatencyLimit) -> LatencyLimit:
    at_most("max_ms", message.max_ms, _LONGEST_LIMIT_MS)
    return LatencyLimit(
        metric=member(enums.METRIC, message.metric, "metric"),
        statistic=member(enums.STATISTIC, message.statistic, "statistic"),
        max_ms=message.max_ms,
    )


def encode_slo(slo: Slo) -> workload_pb2.Slo:
    """Return the limits as a message."""
    return workload_pb2.Slo(
        latency_limits=[
            workload_pb2.LatencyLimit(
                metric=enums.METRIC_NUMBER[item.metric],
                statistic=enums.STATISTIC_NUMBER[item.statistic],
                max_ms=item.max_ms,
            )
            for item in slo.latency_limits
        ],
        max_failure_ratio=slo.max_failure_ratio,
        min_output_tokens_per_s_per_user=slo.min_output_tokens_per_s_per_user,
        allow_statistic_substitution=slo.allow_statistic_substitution,
    )

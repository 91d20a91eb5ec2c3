"""Axes of an exploration and its points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.errors import at
from tonnage.planning.codec import enums
from tonnage.planning.codec.plan import encode_candidate
from tonnage.planning.codec.presence import LARGEST_LENGTH, at_most, chosen, member
from tonnage.planning.usecase.explore import Axis, ExploreField, spaced
from tonnage.v1 import planning_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.planning.usecase.explore import Point

_FIELD: Final = {
    pb.EXPLORE_FIELD_PEAK_REQUESTS_PER_S: ExploreField.PEAK_REQUESTS_PER_S,
    pb.EXPLORE_FIELD_PEAK_FACTOR: ExploreField.PEAK_FACTOR,
    pb.EXPLORE_FIELD_RESERVE_RATIO: ExploreField.RESERVE_RATIO,
    pb.EXPLORE_FIELD_LATENCY_LIMIT_MS: ExploreField.LATENCY_LIMIT_MS,
    pb.EXPLORE_FIELD_INPUT_TOKENS_MEAN: ExploreField.INPUT_TOKENS_MEAN,
    pb.EXPLORE_FIELD_OUTPUT_TOKENS_MEAN: ExploreField.OUTPUT_TOKENS_MEAN,
    pb.EXPLORE_FIELD_LOST_REPLICA_COUNT: ExploreField.LOST_REPLICA_COUNT,
}


def decode_axes(messages: Sequence[pb.ExploreAxis]) -> tuple[Axis, ...]:
    """Return the axes; raise ``InvalidInput`` for none and for a range that is none."""
    checks.not_empty("axes", messages)
    axes = []
    for place, message in enumerate(messages):
        with at(f"axes[{place}]"):
            axes.append(_axis(message))
    return tuple(axes)


def _axis(message: pb.ExploreAxis) -> Axis:
    kind = chosen(message, "range", "", "state values or span")
    with at(kind):
        values = tuple(message.values.values) if kind == "values" else _span(message.span)
        for value in values:
            at_most("values", value, LARGEST_LENGTH)
    return Axis(
        field=member(_FIELD, message.field, "field"),
        values=values,
        metric=member(enums.METRIC, message.metric, "metric") if message.metric else None,
        statistic=member(enums.STATISTIC, message.statistic, "statistic") if message.statistic else None,
    )


def _span(message: pb.ExploreSpan) -> tuple[float, ...]:
    return spaced(message.low, message.high, message.count, geometric=message.geometric)


def encode_point(point: Point) -> pb.ExplorePlansResponse:
    """Return the answer at one point as a message."""
    plan = point.plan
    return pb.ExplorePlansResponse(
        index=point.index,
        total_count=point.total_count,
        values=point.values,
        verdict=enums.VERDICT_NUMBER[plan.verdict],
        best=encode_candidate(plan.candidates[0]) if plan.candidates else None,
        reason=_reason(point),
        summary=plan.summary,
        plan_id=plan.plan_id,
        data_version=plan.data_version,
    )


def _reason(point: Point) -> str:
    plan = point.plan
    if plan.candidates:
        return ""
    if plan.rejections:
        return plan.rejections[0].reason
    return plan.findings[0].message if plan.findings else ""

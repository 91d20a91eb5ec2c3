"""What-ifs: one request over ranges, a plan at each point."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.capacity import planner
from tonnage.domain.measurement import TextWork
from tonnage.domain.workload import BaseAndPeak, Failover, LatencyLimit, PeakRate, Reserve, ReservePart, Workload
from tonnage.errors import InvalidInput, at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tonnage.domain.measurement import Metric, StatisticName
    from tonnage.domain.plan import Plan, PlanRequest
    from tonnage.domain.workload import Demand
    from tonnage.planning.usecase.book import CurveBook
    from tonnage.planning.usecase.plan import Prepared
    from tonnage.store.base import Snapshot

MOST_AXES: Final = 3
MOST_POINTS: Final = 4096
_DIGITS: Final = 12


class ExploreField(StrEnum):
    """What an axis varies."""

    PEAK_REQUESTS_PER_S = "peak-requests-per-s"
    PEAK_FACTOR = "peak-factor"
    RESERVE_RATIO = "reserve-ratio"
    LATENCY_LIMIT_MS = "latency-limit-ms"
    INPUT_TOKENS_MEAN = "input-tokens-mean"
    OUTPUT_TOKENS_MEAN = "output-tokens-mean"
    LOST_REPLICA_COUNT = "lost-replica-count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One direction: a field and its values; metric and statistic with a latency limit alone."""

    field: ExploreField
    values: tuple[float, ...]
    metric: Metric | None = None
    statistic: StatisticName | None = None

    def __post_init__(self) -> None:
        """Hold the axis to what it can vary."""
        checks.not_empty("values", self.values)
        for value in self.values:
            checks.finite("values", value)
        if len(set(self.values)) != len(self.values):
            raise InvalidInput.field("values", None, "holds a value twice", "give each value once")
        limits = self.field is ExploreField.LATENCY_LIMIT_MS
        for name in ("metric", "statistic"):
            if limits and getattr(self, name) is None:
                raise InvalidInput.field(name, None, "is required with a latency limit", "state it")
            if not limits and getattr(self, name) is not None:
                raise InvalidInput.field(name, getattr(self, name), "means nothing on this axis", "leave it out")

    @property
    def key(self) -> tuple[object, ...]:
        """Return what two axes may not share."""
        return self.field, self.metric, self.statistic


def spaced(low: float, high: float, count: int, *, geometric: bool) -> tuple[float, ...]:
    """Return evenly spaced values, both ends included; raise ``InvalidInput`` for a span that is none."""
    checks.finite("low", low)
    checks.finite("high", high)
    if count < 2 or count > MOST_POINTS:  # noqa: PLR2004 -- a span has two ends
        raise InvalidInput.field("count", count, "is out of range", f"give 2 to {MOST_POINTS}")
    if not low < high:
        raise InvalidInput.field("high", high, "is not above low", "give a higher end")
    if geometric:
        checks.positive("low", low)
    if not math.isfinite(high / low if geometric else high - low):
        raise InvalidInput.field("high", high, "is too far from low", "give a nearer end")
    last = count - 1
    steps = [low * (high / low) ** (i / last) if geometric else low + (high - low) * i / last for i in range(count)]
    return (low, *(float(f"{value:.{_DIGITS}g}") for value in steps[1:-1]), high)


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of values and its plan."""

    index: int
    total_count: int
    values: tuple[float, ...]
    plan: Plan


def check_axes(axes: Sequence[Axis]) -> int:
    """Return how many points the axes make; raise ``InvalidInput`` for none, too many, or the same axis twice."""
    checks.not_empty("axes", axes)
    if len(axes) > MOST_AXES:
        raise InvalidInput.field("axes", len(axes), "are too many", f"give at most {MOST_AXES}")
    total = math.prod(len(axis.values) for axis in axes)
    if total > MOST_POINTS:
        raise InvalidInput.field("axes", total, "make too many points", f"keep their product at {MOST_POINTS}")
    keys = [axis.key for axis in axes]
    for place, key in enumerate(keys):
        if key in keys[:place]:
            raise InvalidInput.field(f"axes[{place}].field", axes[place].field, "is varied twice", "vary it once")
    return total


def requests(request: PlanRequest, axes: Sequence[Axis]) -> list[tuple[tuple[float, ...], PlanRequest]]:
    """Return the request at each point, the last axis moving fastest.

    All are made before the first is planned, so that a value that cannot be stops the exploration at once.
    """
    check_axes(axes)
    found = []
    for values in itertools.product(*(axis.values for axis in axes)):
        varied = request
        for place, (axis, value) in enumerate(zip(axes, values, strict=True)):
            with at(f"axes[{place}].values"):
                varied = replace(varied, workload=_vary(varied.workload, axis, value))
        found.append((values, varied))
    return found


def points(
    prepared: Prepared,
    varied: Sequence[tuple[tuple[float, ...], PlanRequest]],
    snapshot: Snapshot,
    book: CurveBook,
    release: str,
) -> Iterator[Point]:
    """Yield the plan at each point, in order; curves are looked up once."""
    curves = [book.held(snapshot, prepared.request.namespace, facts).curves for facts in prepared.chosen]
    for index, (values, request) in enumerate(varied):
        plan = planner.plan(request, curves, snapshot.data_version, release)
        yield Point(index, len(varied), values, plan)


def _vary(workload: Workload, axis: Axis, value: float) -> Workload:
    return _VARY[axis.field](workload, axis, value)


def _peak(workload: Workload, _axis: Axis, value: float) -> Workload:
    checks.not_negative("", value)
    demand = workload.demand
    varied: Demand
    if isinstance(demand, BaseAndPeak):
        varied = replace(demand, base_requests_per_s=value / demand.peak_factor)
    elif isinstance(demand, PeakRate):
        base = demand.base_requests_per_s
        scaled = None if base is None or not demand.peak_requests_per_s else base / demand.peak_requests_per_s * value
        varied = PeakRate(peak_requests_per_s=value, base_requests_per_s=None if scaled is None else min(scaled, value))
    else:
        raise InvalidInput.field(
            "", value, "needs a demand stated as a rate", "state base_and_peak or peak_rate in the request"
        )
    return replace(workload, demand=varied)


def _factor(workload: Workload, _axis: Axis, value: float) -> Workload:
    if not isinstance(workload.demand, BaseAndPeak):
        raise InvalidInput.field("", value, "needs a demand of base and factor", "state base_and_peak in the request")
    return replace(workload, demand=replace(workload.demand, peak_factor=value))


def _reserve(workload: Workload, _axis: Axis, value: float) -> Workload:
    return replace(workload, reserve=Reserve(whole=ReservePart(ratio=value, source="varied by the exploration")))


def _limit(workload: Workload, axis: Axis, value: float) -> Workload:
    if axis.metric is None or axis.statistic is None:
        raise InvalidInput.field("", value, "limits no latency", "state metric and statistic")
    limit = LatencyLimit(metric=axis.metric, statistic=axis.statistic, max_ms=value)
    slo = workload.slo
    others = tuple(
        item for item in slo.latency_limits if (item.metric, item.statistic) != (axis.metric, axis.statistic)
    )
    return replace(workload, slo=replace(slo, latency_limits=(*others, limit)))


def _length(name: str) -> Callable[[Workload, Axis, float], Workload]:
    def vary(workload: Workload, _axis: Axis, value: float) -> Workload:
        (bucket, *others) = workload.buckets
        if others or not isinstance(bucket.work, TextWork):
            raise InvalidInput.field("", value, "needs one bucket of text", "state one bucket in the request")
        checks.positive("", value)
        return replace(workload, buckets=(replace(bucket, work=replace(bucket.work, **{name: value})),))

    return vary


def _lost(workload: Workload, _axis: Axis, value: float) -> Workload:
    if not value.is_integer() or not 0 <= value <= checks.LARGEST_COUNT:
        raise InvalidInput.field("", value, "is no count of replicas", "give whole numbers, 0 or more")
    return replace(workload, failover=Failover(lost_replica_count=int(value)))


_VARY: Final[dict[ExploreField, Callable[[Workload, Axis, float], Workload]]] = {
    ExploreField.PEAK_REQUESTS_PER_S: _peak,
    ExploreField.PEAK_FACTOR: _factor,
    ExploreField.RESERVE_RATIO: _reserve,
    ExploreField.LATENCY_LIMIT_MS: _limit,
    ExploreField.INPUT_TOKENS_MEAN: _length("input_tokens_mean"),
    ExploreField.OUTPUT_TOKENS_MEAN: _length("output_tokens_mean"),
    ExploreField.LOST_REPLICA_COUNT: _lost,
}

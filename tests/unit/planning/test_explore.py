"""Axes of an exploration and what they vary."""

from __future__ import annotations

import pytest

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import TextWork
from tonnage.domain.plan import PlanRequest
from tonnage.domain.workload import (
    BaseAndPeak,
    DailyUsers,
    Demand,
    DemandBucket,
    LatencyLimit,
    PeakRate,
    Reserve,
    Slo,
    Workload,
)
from tonnage.errors import InvalidInput
from tonnage.planning.usecase.explore import MOST_POINTS, Axis, ExploreField, check_axes, requests, spaced

USERS = DailyUsers(daily_active_users=10, requests_per_user_per_day=5, peak_hour_share=0.2, source="a log")


def a_request(demand: Demand | None = None, buckets: int = 1) -> PlanRequest:
    """Return a request of one limit and no reserve."""
    works = [TextWork(input_tokens_mean=1000.0 + place, output_tokens_mean=100.0) for place in range(buckets)]
    workload = Workload(
        model="a model",
        demand=demand or PeakRate(peak_requests_per_s=10, base_requests_per_s=5),
        buckets=tuple(DemandBucket(work=work, share=1 / buckets) for work in works),
        slo=Slo(latency_limits=(LatencyLimit(metric="ttft", statistic="p90", max_ms=500),)),
        reserve=Reserve(),
    )
    return PlanRequest(namespace="default", workload=workload, configuration=Configuration(), as_of_date="2026-11-30")


def varied(field: ExploreField, value: float, demand: Demand | None = None, **more: object) -> Workload:
    """Return the workload with one value varied."""
    ((_, request),) = requests(a_request(demand), [Axis(field=field, values=(float(value),), **more)])  # type: ignore[arg-type]
    return request.workload


def test_a_varied_peak_keeps_its_ratio_to_the_base() -> None:
    assert varied(ExploreField.PEAK_REQUESTS_PER_S, 40).demand == PeakRate(
        peak_requests_per_s=40, base_requests_per_s=20
    )
    base = BaseAndPeak(base_requests_per_s=5, peak_factor=2, peak_factor_source="a log")
    assert varied(ExploreField.PEAK_REQUESTS_PER_S, 40, base).demand == BaseAndPeak(
        base_requests_per_s=20, peak_factor=2, peak_factor_source="a log"
    )


def test_a_varied_limit_replaces_its_own_and_leaves_the_others() -> None:
    replaced = varied(ExploreField.LATENCY_LIMIT_MS, 100, metric="ttft", statistic="p90")
    added = varied(ExploreField.LATENCY_LIMIT_MS, 100, metric="tpot", statistic="mean")
    assert [str(limit) for limit in replaced.slo.latency_limits] == ["ttft p90 <= 100 ms"]
    assert [str(limit) for limit in added.slo.latency_limits] == ["tpot mean <= 100 ms", "ttft p90 <= 500 ms"]


def test_a_varied_reserve_names_its_source() -> None:
    whole = varied(ExploreField.RESERVE_RATIO, 0.3).reserve.whole
    assert whole is not None
    assert (whole.ratio, bool(whole.source)) == (0.3, True)


def test_varied_lengths_and_losses_reach_the_workload() -> None:
    (bucket,) = varied(ExploreField.INPUT_TOKENS_MEAN, 2000).buckets
    assert bucket.work == TextWork(input_tokens_mean=2000, output_tokens_mean=100)
    failover = varied(ExploreField.LOST_REPLICA_COUNT, 2).failover
    assert failover is not None
    assert failover.lost_replica_count == 2


@pytest.mark.parametrize(
    ("field", "value", "demand"),
    [
        (ExploreField.PEAK_REQUESTS_PER_S, -1, None),
        (ExploreField.PEAK_REQUESTS_PER_S, 10, USERS),
        (ExploreField.PEAK_FACTOR, 2, None),
        (ExploreField.RESERVE_RATIO, -0.1, None),
        (ExploreField.INPUT_TOKENS_MEAN, 0, None),
        (ExploreField.LOST_REPLICA_COUNT, 1.5, None),
    ],
)
def test_a_value_the_request_cannot_take_is_refused(field: ExploreField, value: float, demand: Demand | None) -> None:
    with pytest.raises(InvalidInput) as refused:
        varied(field, value, demand)
    assert refused.value.violations[0].path.startswith("axes[0].values")


def test_lengths_of_several_buckets_are_not_varied() -> None:
    with pytest.raises(InvalidInput):
        requests(a_request(buckets=2), [Axis(field=ExploreField.OUTPUT_TOKENS_MEAN, values=(10.0,))])


def test_points_are_every_combination_with_the_last_axis_fastest() -> None:
    axes = [
        Axis(field=ExploreField.PEAK_REQUESTS_PER_S, values=(1.0, 2.0)),
        Axis(field=ExploreField.RESERVE_RATIO, values=(0.0, 0.1, 0.2)),
    ]
    assert [values for values, _ in requests(a_request(), axes)] == [
        (1.0, 0.0),
        (1.0, 0.1),
        (1.0, 0.2),
        (2.0, 0.0),
        (2.0, 0.1),
        (2.0, 0.2),
    ]


def test_a_span_holds_its_ends_and_no_rounding_noise() -> None:
    assert spaced(0, 0.5, 6, geometric=False) == (0, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert spaced(1, 1000, 4, geometric=True) == (1, 10, 100, 1000)


@pytest.mark.parametrize(
    ("low", "high", "count", "geometric"),
    [(1, 1, 3, False), (2, 1, 3, False), (1, 2, 1, False), (0, 2, 3, True), (1, float("inf"), 3, False)],
)
def test_a_span_that_is_none_is_refused(low: float, high: float, count: int, geometric: bool) -> None:
    with pytest.raises(InvalidInput):
        spaced(low, high, count, geometric=geometric)


def test_too_many_points_are_refused() -> None:
    values = tuple(float(value) for value in range(65))
    axes = [
        Axis(field=ExploreField.PEAK_REQUESTS_PER_S, values=values),
        Axis(field=ExploreField.RESERVE_RATIO, values=values),
    ]
    assert len(values) ** 2 > MOST_POINTS
    with pytest.raises(InvalidInput, match="too many points"):
        check_axes(axes)


def test_a_metric_means_nothing_beside_a_latency_limit() -> None:
    with pytest.raises(InvalidInput):
        Axis(field=ExploreField.RESERVE_RATIO, values=(0.1,), metric="ttft", statistic="p90")

"""Between the last load inside and the first miss."""

from __future__ import annotations

import math

import pytest
from builders import a_level, a_run
from builders_capacity import a_curve, an_slo

from tonnage.capacity.crossing import crossing_requests_per_s
from tonnage.capacity.curves import curve_of
from tonnage.capacity.limits import ready
from tonnage.capacity.prediction.shapes import Bracket, latency_at, rate_at
from tonnage.domain.measurement import Latency


def test_a_limit_met_at_a_load_between_gives_the_rate_of_that_load() -> None:
    inside, miss = a_curve((4, 4.0, 100.0), (16, 8.0, 400.0)).levels
    limit = latency_at(Bracket(4, 100.0, 16, 400.0), 8.0)
    found = crossing_requests_per_s(inside, miss, ready(an_slo(ttft_p95=limit)), None)
    assert found == pytest.approx(rate_at(Bracket(4, 4.0, 16, 8.0), 8.0))
    # Straight in logs it would be 5.66; with straight service time, of 1 s and 2 s, it would be 6.
    assert found == pytest.approx(math.sqrt(math.sqrt(32) * 6))


@pytest.mark.parametrize(("limit", "expected"), [(100.0, 4.0), (400.0, 9.0)])
def test_at_either_end_it_is_that_end(limit: float, expected: float) -> None:
    inside, miss = a_curve((4, 4.0, 100.0), (8, 9.0, 400.0)).levels
    assert crossing_requests_per_s(inside, miss, ready(an_slo(ttft_p95=limit)), None) == pytest.approx(expected)


def test_a_level_inside_by_noise_alone_is_the_crossing() -> None:
    inside, miss = a_curve((4, 4.0, 210.0), (8, 9.0, 400.0)).levels
    assert crossing_requests_per_s(inside, miss, ready(an_slo(ttft_p95=200)), None) == pytest.approx(4.0)


def test_the_first_of_two_limits_decides() -> None:
    made = [
        a_level(4, 4.0, ttft=Latency(p95_ms=100.0), tpot=Latency(p95_ms=10.0)),
        a_level(8, 9.0, index=1, ttft=Latency(p95_ms=400.0), tpot=Latency(p95_ms=1000.0)),
    ]
    inside, miss = curve_of([a_run(*made)]).levels
    both = crossing_requests_per_s(inside, miss, ready(an_slo(ttft_p95=200, tpot_p95=20)), None)
    alone = crossing_requests_per_s(inside, miss, ready(an_slo(tpot_p95=20)), None)
    assert both == alone
    assert both is not None
    assert both < 6.0


def test_failures_cross_on_a_straight_line() -> None:
    made = [
        a_level(4, 4.0, completed_count=1000, failed_count=0),
        a_level(8, 9.0, index=1, completed_count=980, failed_count=20),
    ]
    inside, miss = curve_of([a_run(*made)]).levels
    expected = rate_at(Bracket(4, 4.0, 8, 9.0), math.sqrt(32))
    assert crossing_requests_per_s(inside, miss, (), 0.01) == pytest.approx(expected)


def test_an_empty_queue_that_fills_has_no_place_between() -> None:
    made = [
        a_level(4, 4.0, queue=Latency(p95_ms=0.0)),
        a_level(8, 9.0, index=1, queue=Latency(p95_ms=400.0)),
    ]
    inside, miss = curve_of([a_run(*made)]).levels
    assert crossing_requests_per_s(inside, miss, ready(an_slo(queue_p95=200)), None) == pytest.approx(4.0)


def test_a_statistic_missing_on_one_side_leaves_the_place_unknown() -> None:
    made = [a_level(4, 4.0, ttft=Latency(p95_ms=100.0)), a_level(8, 9.0, index=1)]
    inside, miss = curve_of([a_run(*made)]).levels
    assert crossing_requests_per_s(inside, miss, ready(an_slo(ttft_p95=200)), None) is None
    unknown = [a_level(4, 4.0, failed_count=None), a_level(8, 9.0, index=1)]
    inside, miss = curve_of([a_run(*unknown)]).levels
    assert crossing_requests_per_s(inside, miss, (), 0.01) is None

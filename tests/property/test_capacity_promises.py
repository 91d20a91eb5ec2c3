"""What always holds of Q_slo and N, for one configuration and measured capacity."""

from __future__ import annotations

import math
from dataclasses import replace

from builders import a_level, a_run
from builders_capacity import a_candidate, a_request, an_slo, whole
from hypothesis import given
from hypothesis import strategies as st

from tonnage.capacity.curves import Curve, curve_of
from tonnage.capacity.planner import plan
from tonnage.capacity.slo import admissibility, slo_capacity
from tonnage.domain.measurement import Latency, Level
from tonnage.domain.plan import CapacityBound, CapacityPolicy
from tonnage.domain.workload import PeakRate, Slo

LIMITS = st.floats(1, 5000)
RATES = st.floats(0.01, 1000)
LATENCIES = st.one_of(st.floats(1, 5000), st.floats(1, 100), st.floats(1, 1000), st.none())


@st.composite
def levels(draw: st.DrawFn) -> list[Level]:
    """Return one to eight levels of any shape; counts are sometimes too small for a percentile."""
    loads = draw(st.lists(st.integers(1, 512), min_size=1, max_size=8, unique=True))
    return [
        replace(
            a_level(load, draw(RATES), index=index, e2e=Latency()),
            completed_count=draw(st.sampled_from([None, 400, 400, 64, 16])),
            failed_count=draw(st.sampled_from([None, 0, 2])),
            ttft=Latency(p50_ms=draw(LATENCIES), p90_ms=draw(LATENCIES), p95_ms=draw(LATENCIES)),
            tpot=Latency(mean_ms=draw(LATENCIES)),
        )
        for index, load in enumerate(loads)
    ]


def q_slo(curve: Curve, slo: Slo, policy: CapacityPolicy = CapacityPolicy.MEASURED) -> float:
    """Return the capacity, 0 where there is none."""
    return slo_capacity(curve, slo, policy).q_slo_requests_per_s or 0.0


def replicas(curve: Curve, *, peak: float = 10.0, limit: float = 500.0, reserve: float = 0.2) -> float:
    """Return N of a plan, infinite where it is rejected."""
    request = a_request(demand=PeakRate(peak_requests_per_s=peak), slo=an_slo(ttft_p95=limit), reserve=whole(reserve))
    candidates = plan(request, [a_candidate(curve)], 1, "0.1").candidates
    return candidates[0].count.replica_count if candidates else math.inf


@given(levels(), LIMITS, st.floats(0, 5000))
def test_a_looser_limit_never_carries_less(measured: list[Level], limit: float, slack: float) -> None:
    curve = curve_of([a_run(*measured)])
    for policy in CapacityPolicy:
        tight, loose = (q_slo(curve, an_slo(ttft_p95=most), policy) for most in (limit, limit + slack))
        assert loose >= tight * (1 - 1e-12)


@given(levels(), LIMITS, LIMITS)
def test_one_more_limit_never_carries_more(measured: list[Level], ttft: float, tpot: float) -> None:
    curve = curve_of([a_run(*measured)])
    assert q_slo(curve, an_slo(ttft_p90=ttft, tpot_mean=tpot)) <= q_slo(curve, an_slo(ttft_p90=ttft))
    limited = Slo(latency_limits=an_slo(ttft_p90=ttft).latency_limits, max_failure_ratio=0.001)
    assert q_slo(curve, limited) <= q_slo(curve, an_slo(ttft_p90=ttft))


@given(levels(), LIMITS, st.floats(0, 1))
def test_known_noise_never_carries_less(measured: list[Level], limit: float, noise: float) -> None:
    curve = curve_of([a_run(*measured)])
    with_noise = slo_capacity(curve, an_slo(ttft_p95=limit), noise_ratio=noise).q_slo_requests_per_s or 0.0
    assert with_noise >= q_slo(curve, an_slo(ttft_p95=limit))


@given(levels(), LIMITS)
def test_removing_a_passing_level_never_carries_more(measured: list[Level], limit: float) -> None:
    slo = an_slo(ttft_p95=limit)
    curve = curve_of([a_run(*measured)])
    whole_curve = q_slo(curve, slo)
    for gone in (row.level.offered_load for row in admissibility(curve, slo) if row.inside):
        rest = [level for level in measured if level.concurrency != gone]
        assert not rest or q_slo(curve_of([a_run(*rest)]), slo) <= whole_curve


@given(levels(), LIMITS)
def test_the_order_of_levels_never_matters(measured: list[Level], limit: float) -> None:
    slo = an_slo(ttft_p95=limit)
    assert curve_of([a_run(*measured)]) == curve_of([a_run(*measured[::-1])])
    assert slo_capacity(curve_of([a_run(*measured)]), slo) == slo_capacity(curve_of([a_run(*measured[::-1])]), slo)


@given(levels(), LIMITS)
def test_a_capacity_is_a_measured_rate_that_keeps_the_limit(measured: list[Level], limit: float) -> None:
    found = slo_capacity(curve_of([a_run(*measured)]), an_slo(ttft_p95=limit))
    if found.bound is CapacityBound.NONE:
        assert found.q_slo_requests_per_s is None
        assert found.reason
        return
    level = next(item for item in measured if item.concurrency == found.offered_load)
    assert level.requests_per_s == found.q_slo_requests_per_s
    assert level.ttft.p95_ms is not None
    assert level.ttft.p95_ms <= limit
    assert level.completed_count is None or level.completed_count >= 20


@given(levels(), LIMITS)
def test_a_crossing_lies_between_measured_rates(measured: list[Level], limit: float) -> None:
    found = slo_capacity(curve_of([a_run(*measured)]), an_slo(ttft_p95=limit), CapacityPolicy.INTERPOLATED)
    if found.crossing_requests_per_s is None or found.measured_requests_per_s is None:
        return
    highest = max(level.requests_per_s or 0.0 for level in measured)
    assert found.measured_requests_per_s <= found.crossing_requests_per_s <= highest * (1 + 1e-12)


@given(levels(), st.floats(0, 1e4), st.floats(0, 1e4))
def test_more_demand_never_needs_fewer(measured: list[Level], peak: float, more: float) -> None:
    curve = curve_of([a_run(*measured)])
    assert replicas(curve, peak=peak + more) >= replicas(curve, peak=peak)


@given(levels(), LIMITS, st.floats(0, 5000))
def test_a_tighter_limit_never_needs_fewer(measured: list[Level], limit: float, slack: float) -> None:
    curve = curve_of([a_run(*measured)])
    assert replicas(curve, limit=limit) >= replicas(curve, limit=limit + slack)


@given(levels(), st.floats(0, 5), st.floats(0, 5))
def test_a_larger_reserve_never_needs_fewer(measured: list[Level], reserve: float, more: float) -> None:
    curve = curve_of([a_run(*measured)])
    assert replicas(curve, reserve=reserve + more) >= replicas(curve, reserve=reserve)

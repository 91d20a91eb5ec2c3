"""What always holds of how sure a plan is: monotony, and that more evidence never widens it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from builders import a_run
from builders_capacity import LADDER, a_candidate, a_curve, a_request, an_slo, levels, whole
from hypothesis import given, settings
from hypothesis import strategies as st

from tonnage.capacity.curves import curve_of
from tonnage.capacity.planner import plan
from tonnage.capacity.spread import repeats
from tonnage.domain.confidence import CandidateConfidence, ConfidenceOptions, LikelyRange
from tonnage.domain.plan import Depth
from tonnage.domain.workload import PeakRate

if TYPE_CHECKING:
    from tonnage.capacity.levels import CurveLevel

PEAKS = st.floats(0.5, 500)
CURVE = a_curve()


def sure(peak: float, *, limit: float = 500.0, reserve: float = 0.2, spread: float = 1.0) -> CandidateConfidence:
    """Return how sure a plan of one ladder is; the peak lies within a factor ``spread`` nine times in ten."""
    options = ConfidenceOptions(peak_requests_per_s=LikelyRange(low=peak / spread, high=peak * spread))
    request = a_request(
        depth=Depth.CONFIDENCE,
        confidence=options,
        demand=PeakRate(peak_requests_per_s=peak),
        slo=an_slo(ttft_p95=limit),
        reserve=whole(reserve),
    )
    found = plan(request, [a_candidate(CURVE)], 1, "0.1").candidates[0].confidence
    assert found is not None
    return found


def counts(found: CandidateConfidence) -> list[float]:
    """Return N at each confidence, infinite where no count is enough."""
    return [math.inf if item.replica_count is None else item.replica_count for item in found.counts]


@settings(max_examples=40)
@given(PEAKS, st.floats(1, 3), st.floats(1, 2))
def test_more_demand_never_lowers_the_count_at_any_confidence(peak: float, more: float, spread: float) -> None:
    low, high = counts(sure(peak, spread=spread)), counts(sure(peak * more, spread=spread))
    assert low == sorted(low)
    assert all(one <= other for one, other in zip(low, high, strict=True))


@settings(max_examples=40)
@given(PEAKS, st.floats(60, 900), st.floats(0, 900), st.floats(0, 1))
def test_a_larger_reserve_never_lowers_a_count(peak: float, limit: float, slack: float, reserve: float) -> None:
    kept, bare = counts(sure(peak, limit=limit, reserve=reserve)), counts(sure(peak, limit=limit, reserve=0))
    assert all(one >= other for one, other in zip(kept, bare, strict=True))
    assert sure(peak, limit=limit + slack).unserved_probability <= sure(peak, limit=limit).unserved_probability


@settings(max_examples=20)
@given(st.floats(0, 0.02), st.integers(2, 5), st.randoms())
def test_fewer_repeats_of_the_same_spread_never_narrow_the_interval(apart: float, count: int, shuffle: object) -> None:
    def half_width(runs: int) -> float:
        # Equal offsets either way, so that every even count has the same deviation about the same middle.
        made = [
            a_run(
                *levels([(load, rate * math.exp(apart * (-1) ** place), ttft) for load, rate, ttft in LADDER]),
                run_id=f"00000000-0000-0000-0000-{place:012d}",
            )
            for place in range(2 * runs)
        ]
        shuffle.shuffle(made)  # type: ignore[attr-defined]  # a Random
        found = (
            plan(a_request(depth=Depth.CONFIDENCE), [a_candidate(curve_of(made))], 1, "0.1").candidates[0].confidence
        )
        assert found is not None
        return found.buckets[0].spread.used_half_width_90

    assert half_width(count) <= half_width(count - 1) * (1 + 1e-9)


def test_components_of_simulated_runs_are_found_apart() -> None:
    drawn = np.random.default_rng(11)
    between, within = [], []
    for _ in range(40):
        found = repeats.components(_measured(drawn, 6, 0.05, 0.02), repeats.throughput_of)
        assert found.within is not None
        assert found.between is not None
        between.append(found.between**2)
        within.append(found.within**2)
    assert math.sqrt(np.mean(between)) == np.clip(math.sqrt(np.mean(between)), 0.042, 0.058)
    assert math.sqrt(np.mean(within)) == np.clip(math.sqrt(np.mean(within)), 0.018, 0.022)


def _measured(drawn: np.random.Generator, runs: int, between: float, within: float) -> list[repeats.Measured]:
    return [
        repeats.Measured(str(run), level.offered_load, level)
        for run in range(runs)
        for level in _rerun(drawn, between, within)
    ]


def _rerun(drawn: np.random.Generator, between: float, within: float) -> tuple[CurveLevel, ...]:
    shift = drawn.normal(0, between)
    rungs = [(load, rate * math.exp(shift + drawn.normal(0, within)), ttft) for load, rate, ttft in LADDER]
    return curve_of([a_run(*levels(rungs))]).repeats

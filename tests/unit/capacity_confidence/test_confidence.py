"""How sure a plan is: quantiles that keep their order, exact distances, prices that choose, and what is said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from builders import a_run
from builders_capacity import a_bucket, a_candidate, a_curve, a_request, an_slo, codes, levels, whole

from tonnage.capacity.curves import curve_of
from tonnage.capacity.planner import CandidateCurves, plan
from tonnage.domain.confidence import CandidateConfidence, ConfidenceOptions, CurrentVerdict, LikelyRange
from tonnage.domain.plan import Depth, Plan
from tonnage.domain.workload import Failover, Money, PeakRate, ServerShape
from tonnage.errors import InvalidInput


def money(amount: float, currency: str = "USD") -> Money:
    return Money(currency=currency, amount=amount, source="price list", as_of_date="2026-01-01")


def planned(*candidates: CandidateCurves, options: ConfidenceOptions | None = None, **changes: object) -> Plan:
    request = a_request(depth=Depth.CONFIDENCE, confidence=options, **changes)
    return plan(request, candidates or [a_candidate(a_curve())], 7, "0.1")


def sure(options: ConfidenceOptions | None = None, **changes: object) -> CandidateConfidence:
    found = planned(options=options, **changes).candidates[0].confidence
    assert found is not None
    return found


def width(found: CandidateConfidence) -> float:
    interval = found.buckets[0].q_slo_requests_per_s
    assert interval.low_80 is not None
    assert interval.high_80 is not None
    return interval.high_80 / interval.low_80


def test_counts_rise_with_confidence_and_the_bars_sum_to_one() -> None:
    found = sure(ConfidenceOptions(peak_requests_per_s=LikelyRange(low=60, high=140)), demand=peak(100))
    counts = [item.replica_count for item in found.counts]
    assert counts == sorted(counts, key=lambda item: item or 0)
    assert sum(bar.probability for bar in found.distribution) + found.unserved_probability == pytest.approx(1)
    assert 0.5 < found.sufficient_probability < 1


def peak(rate: float) -> PeakRate:
    return PeakRate(peak_requests_per_s=rate)


def test_base_depth_says_nothing_of_confidence() -> None:
    (found,) = plan(a_request(), [a_candidate(a_curve())], 7, "0.1").candidates
    assert found.confidence is None


def test_the_distance_to_the_next_count_is_exact_both_ways() -> None:
    found = sure(demand=peak(30), reserve=whole(0)).next_count  # 30 / 9 = 3.33 -> 4
    assert found.demand_growth_ratio == pytest.approx(36 / 30 - 1)
    assert found.demand_fall_ratio == pytest.approx(1 - 27 / 30)
    assert found.capacity_fall_ratio == pytest.approx(1 - 30 / 36)
    assert found.capacity_rise_ratio == pytest.approx(30 / 27 - 1)


def test_a_curve_without_a_knee_says_at_most() -> None:
    found = sure(slo=an_slo(ttft_p95=90_000))
    assert found.at_most
    assert found.buckets[0].at_least


def test_age_and_another_engine_version_widen_the_interval() -> None:
    def aged(day: datetime | None, options: ConfidenceOptions | None = None) -> float:
        found = planned(a_candidate(a_curve(), newest=day), options=options).candidates[0].confidence
        assert found is not None
        return width(found)

    fresh, old = aged(datetime(2025, 12, 31, tzinfo=UTC)), aged(datetime(2025, 9, 1, tzinfo=UTC))
    other = aged(datetime(2025, 12, 31, tzinfo=UTC), ConfidenceOptions(planned_engine_version="99.1"))
    assert fresh < old
    assert fresh < other


def test_runs_that_agree_narrow_the_interval() -> None:
    def repeated(count: int) -> float:
        runs = [a_run(*levels(), run_id=f"00000000-0000-0000-0000-{place:012d}") for place in range(count)]
        found = planned(a_candidate(curve_of(runs))).candidates[0].confidence
        assert found is not None
        return width(found)

    widths = [repeated(count) for count in (1, 2, 3, 5)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1]


def test_failover_and_servers_are_counted_as_the_plan_counts_them() -> None:
    shape = ServerShape(accelerators_per_server=4, price_per_hour=money(10))
    found = planned(failover=Failover(lost_replica_count=2), server=shape, demand=peak(100)).candidates[0]
    assert found.confidence is not None
    bars = {bar.replica_count: bar.server_count for bar in found.confidence.distribution}
    assert bars[found.count.replica_count] == found.count.server_count
    assert found.confidence.per_hour is not None
    median = found.confidence.counts[0]
    assert median.per_hour == money(10 * (median.server_count or 0))


def test_a_dearer_broken_slo_never_chooses_fewer_servers() -> None:
    def chosen(broken: float) -> int:
        options = ConfidenceOptions(
            peak_requests_per_s=LikelyRange(low=60, high=140),
            server_too_many_per_hour=money(4),
            slo_broken_per_hour=money(broken),
        )
        found = sure(options, demand=peak(100)).least_regret
        assert found is not None
        assert found.choice.regret_per_hour <= found.planned.regret_per_hour
        return found.choice.server_count

    counts = [chosen(price) for price in (0, 10, 100, 10_000)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_without_prices_no_count_is_chosen_and_what_to_state_is_said() -> None:
    answer = planned()
    assert answer.candidates[0].confidence is not None
    assert answer.candidates[0].confidence.least_regret is None
    assert {"REGRET_PRICES_NOT_STATED", "DEMAND_TAKEN_AS_CERTAIN"} <= set(codes(answer.findings))


@pytest.mark.parametrize(
    ("current", "verdict"),
    [
        (1, CurrentVerdict.ADD),
        (14, CurrentVerdict.KEEP),
        (15, CurrentVerdict.DO_NOT_BOTHER),
        (90, CurrentVerdict.REMOVE),
    ],
)
def test_servers_that_run_now_are_left_alone_inside_the_noise(current: int, verdict: CurrentVerdict) -> None:
    found = sure(ConfidenceOptions(current_server_count=current), demand=peak(100)).current
    assert found is not None
    assert found.verdict is verdict
    assert found.server_count_change == 14 - current


def test_the_largest_swing_stands_first_and_a_certain_input_has_none() -> None:
    options = ConfidenceOptions(
        peak_requests_per_s=LikelyRange(low=50, high=200), whole=LikelyRange(low=0.2, high=0.2), share_sample_count=100
    )
    buckets = (a_bucket(share=0.5), a_bucket(given=1900, share=0.5))
    swings = sure(options, demand=peak(100), buckets=buckets).swings
    assert swings[0].input == "demand.peak"
    assert [item.width for item in swings] == sorted((item.width for item in swings), reverse=True)
    names = {item.input for item in swings}
    assert {"mix", "curve.lengths", "curve.run_to_run"} <= names
    assert "reserve.whole" not in names


@pytest.mark.parametrize(
    ("options", "path"),
    [
        (ConfidenceOptions(peak_requests_per_s=LikelyRange(low=20, high=30)), "confidence.peak_requests_per_s"),
        (ConfidenceOptions(peak_factor=LikelyRange(low=1, high=3)), "confidence.peak_factor"),
        (ConfidenceOptions(burst=LikelyRange(low=0, high=3)), "confidence.burst"),
        (ConfidenceOptions(whole=LikelyRange(low=1, high=3)), "confidence.whole"),
    ],
)
def test_a_range_of_nothing_stated_is_refused(options: ConfidenceOptions, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        planned(options=options)
    assert caught.value.context["field"] == path


def test_prices_in_two_currencies_are_refused() -> None:
    with pytest.raises(InvalidInput, match="currency"):
        ConfidenceOptions(server_too_many_per_hour=money(1), slo_broken_per_hour=money(1, "EUR"))


def test_worlds_in_which_the_lowest_load_misses_are_said() -> None:
    found = sure(slo=an_slo(ttft_p95=51), demand=peak(1))
    assert 0 < found.unserved_probability < 1
    assert found.counts[-1].replica_count is None


def test_the_best_three_are_drawn_over_more_worlds() -> None:
    curve = a_curve()
    candidates = [
        a_candidate(replace(curve, configuration=replace(curve.configuration, max_model_len=1000 + place)))
        for place in range(4)
    ]
    counts = [item.confidence.world_count for item in planned(*candidates).candidates if item.confidence]
    assert counts == [10_000, 10_000, 10_000, 2_000]

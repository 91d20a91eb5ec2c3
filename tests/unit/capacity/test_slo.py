"""Q_slo of a curve."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import a_level, a_run
from builders_capacity import LADDER, a_curve, an_open_run, an_slo, codes, levels, marked

from tonnage.capacity.curves import Curve, curve_of
from tonnage.capacity.slo import admissibility, slo_capacity
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import Latency
from tonnage.domain.plan import Bottleneck, CapacityBound, CapacityPolicy
from tonnage.domain.workload import Slo
from tonnage.errors import InvalidInput


def test_the_best_load_before_the_first_miss_counts() -> None:
    found = slo_capacity(a_curve(), an_slo(ttft_p95=500))
    assert (found.q_slo_requests_per_s, found.measured_requests_per_s) == (9.0, 9.0)
    assert (found.bound, found.origin, found.binding) == (CapacityBound.EXACT, Origin.MEASURED, Bottleneck.TTFT)
    assert (found.offered_load, found.output_tokens_per_s) == (16, 900.0)
    assert found.measured_at is not None
    assert (found.measured_at.quantity, found.measured_at.point_index) == ("q_slo", 4)
    assert "at concurrency 32 ttft p95 of 900 ms misses" in found.reason


def test_what_lies_behind_the_first_miss_does_not_count() -> None:
    curve = a_curve((1, 1.0, 50.0), (2, 1.9, 600.0), (4, 9.0, 80.0))
    assert slo_capacity(curve, an_slo(ttft_p95=500)).q_slo_requests_per_s == 1.0


def test_the_largest_throughput_counts_and_not_the_largest_load() -> None:
    curve = a_curve((16, 3.8, 10.0), (32, 6.2, 20.0), (64, 4.4, 30.0), (128, 4.0, 900.0))
    found = slo_capacity(curve, an_slo(ttft_p95=500))
    assert (found.q_slo_requests_per_s, found.offered_load) == (6.2, 32)
    assert codes(found.findings) == ["SATURATED"]


def test_without_a_miss_the_rate_is_a_lower_bound_and_the_next_rung_is_named() -> None:
    found = slo_capacity(a_curve(), an_slo(ttft_p95=5000))
    assert (found.bound, found.q_slo_requests_per_s) == (CapacityBound.AT_LEAST, 10.0)
    assert (found.crossing_requests_per_s, found.binding) == (None, Bottleneck.EVIDENCE)
    finding = found.findings[0]
    assert (finding.code, finding.remedy) == ("LIMIT_NOT_REACHED", "measure concurrency 64 next")


def test_an_open_loop_names_the_next_rate() -> None:
    curve = curve_of([an_open_run((2, 2.0, 100.0), (3, 3.0, 120.0))])
    assert slo_capacity(curve, an_slo(ttft_p95=500)).findings[0].remedy == "measure 4.5 offered requests/s next"


def test_throughput_that_fell_makes_more_load_unlikely_to_help() -> None:
    curve = a_curve((16, 6.2, 10.0), (32, 4.4, 20.0))
    found = slo_capacity(curve, an_slo(ttft_p95=500))
    assert (found.bound, found.binding) == (CapacityBound.AT_LEAST, Bottleneck.THROUGHPUT)
    assert "not likely to carry more" in next(f for f in found.findings if f.code == "LIMIT_NOT_REACHED").message


def test_no_limit_gives_the_largest_throughput_and_says_so() -> None:
    found = slo_capacity(a_curve(), Slo())
    assert (found.q_slo_requests_per_s, found.binding) == (10.0, Bottleneck.THROUGHPUT)
    assert codes(found.findings) == ["LIMIT_NOT_REACHED", "NO_SLO"]


def test_a_limit_that_the_lowest_load_misses_rejects() -> None:
    found = slo_capacity(a_curve(), an_slo(ttft_p95=40))
    assert (found.bound, found.q_slo_requests_per_s, found.binding) == (CapacityBound.NONE, None, Bottleneck.TTFT)
    assert codes(found.findings) == ["SLO_NOT_MET"]
    assert "ttft p95 of 50 ms misses" in found.reason


def test_a_percentile_nobody_measured_rejects_and_names_what_is_known() -> None:
    found = slo_capacity(a_curve(), an_slo(ttft_p99=500))
    assert (found.bound, found.binding) == (CapacityBound.NONE, Bottleneck.EVIDENCE)
    assert codes(found.findings) == ["STATISTIC_NOT_MEASURED"]
    assert "of ttft it has p95" in found.reason


def test_an_allowed_substitution_is_said() -> None:
    found = slo_capacity(a_curve(), an_slo({"allow_statistic_substitution": True}, ttft_p99=500))
    assert found.q_slo_requests_per_s == 9.0
    assert codes(found.findings) == ["STATISTIC_SUBSTITUTED"]
    assert found.findings[0].message == "ttft p95 stood in for ttft p99, as the request allows"


def small_run_curve(*completed: int) -> Curve:
    made = (
        a_level(2**place, 2.0**place, index=place, completed_count=count, ttft=Latency(p50_ms=40.0, p99_ms=100.0))
        for place, count in enumerate(completed)
    )
    return curve_of([a_run(*made)])


def test_a_p99_of_sixteen_requests_is_refused_with_that_reason() -> None:
    found = slo_capacity(small_run_curve(16, 16, 16), an_slo(ttft_p99=500))
    assert (found.bound, found.binding) == (CapacityBound.NONE, Bottleneck.EVIDENCE)
    assert codes(found.findings) == ["TOO_FEW_REQUESTS_FOR_STATISTIC"]
    assert "p99 needs at least 100 completed requests, this level has 16" in found.reason
    assert slo_capacity(small_run_curve(16, 16, 16), an_slo(ttft_p50=500)).q_slo_requests_per_s == 4.0


def test_a_thin_low_load_is_passed_over_when_a_higher_one_tells() -> None:
    found = slo_capacity(small_run_curve(16, 160, 320), an_slo(ttft_p99=500))
    assert found.q_slo_requests_per_s == 4.0
    assert "LEVELS_PASSED_OVER" in codes(found.findings)


def test_a_thin_high_load_is_never_the_capacity() -> None:
    found = slo_capacity(small_run_curve(160, 160, 16), an_slo(ttft_p99=500))
    assert (found.q_slo_requests_per_s, found.bound) == (2.0, CapacityBound.AT_LEAST)


def test_a_miss_above_thin_loads_is_not_known_rather_than_not_feasible() -> None:
    thin = a_level(1, 1.0, completed_count=16, ttft=Latency(p99_ms=100.0))
    slow = a_level(8, 4.0, index=1, ttft=Latency(p99_ms=900.0))
    found = slo_capacity(curve_of([a_run(thin, slow)]), an_slo(ttft_p99=500))
    assert codes(found.findings) == ["TOO_FEW_REQUESTS_FOR_STATISTIC"]


def test_an_impossible_statistic_ends_the_walk_and_is_no_miss() -> None:
    made = list(levels())
    made[2] = marked(replace(made[2], ttft=Latency()), "NON_FINITE_STATISTIC", "ttft_p95_ms")
    found = slo_capacity(curve_of([a_run(*made)]), an_slo(ttft_p95=500))
    assert (found.q_slo_requests_per_s, found.bound) == (1.9, CapacityBound.AT_LEAST)
    assert "IMPOSSIBLE_STATISTIC" in codes(found.findings)


def test_an_absent_statistic_ends_the_walk() -> None:
    made = list(levels())
    made[2] = replace(made[2], ttft=Latency())
    found = slo_capacity(curve_of([a_run(*made)]), an_slo(ttft_p95=500))
    assert (found.q_slo_requests_per_s, found.bound) == (1.9, CapacityBound.AT_LEAST)


def test_noise_keeps_a_level_inside() -> None:
    found = slo_capacity(a_curve(), an_slo(ttft_p95=290), noise_ratio=0.05)
    assert found.q_slo_requests_per_s == 9.0
    assert slo_capacity(a_curve(), an_slo(ttft_p95=290)).q_slo_requests_per_s == 6.0


def test_noise_below_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="noise_ratio"):
        slo_capacity(a_curve(), Slo(), noise_ratio=-0.1)


def test_the_crossing_is_shown_and_used_only_on_request() -> None:
    slo = an_slo(ttft_p95=500)
    measured = slo_capacity(a_curve(), slo)
    asked = slo_capacity(a_curve(), slo, CapacityPolicy.INTERPOLATED)
    assert measured.crossing_requests_per_s == asked.crossing_requests_per_s == asked.q_slo_requests_per_s
    assert 9.0 < (asked.q_slo_requests_per_s or 0.0) < 10.0
    assert (measured.origin, asked.origin) == (Origin.MEASURED, Origin.INTERPOLATED)
    assert "between the two the limit is reached at 9.47321 requests/s" in asked.reason
    assert asked.output_tokens_per_s == pytest.approx((asked.q_slo_requests_per_s or 0.0) * 100)


def test_a_crossing_is_never_below_what_was_measured() -> None:
    curve = a_curve((8, 6.0, 100.0), (16, 4.0, 900.0))
    found = slo_capacity(curve, an_slo(ttft_p95=500), CapacityPolicy.INTERPOLATED)
    assert (found.q_slo_requests_per_s, found.origin) == (6.0, Origin.MEASURED)


def test_a_crossing_that_cannot_be_placed_is_said() -> None:
    inside = a_level(1, 1.0, ttft=Latency(p95_ms=100.0), e2e=Latency(p99_ms=900.0))
    miss = a_level(2, 1.5, index=1, ttft=Latency(p95_ms=900.0), e2e=Latency())
    slo = an_slo(ttft_p95=500, e2e_p99=1000)
    found = slo_capacity(curve_of([a_run(inside, miss)]), slo, CapacityPolicy.INTERPOLATED)
    assert (found.q_slo_requests_per_s, found.crossing_requests_per_s) == (1.0, None)
    assert codes(found.findings) == ["CROSSING_NOT_KNOWN"]


def test_an_unusable_curve_has_no_capacity() -> None:
    found = slo_capacity(a_curve(replicas_under_test=None), Slo())
    assert (found.bound, found.binding) == (CapacityBound.NONE, Bottleneck.EVIDENCE)
    assert codes(found.findings) == ["REPLICAS_UNDER_TEST_NOT_KNOWN"]


def test_what_the_lint_says_of_the_level_is_repeated() -> None:
    made = list(levels())
    made[4] = marked(made[4], "LITTLES_LAW", "")
    found = slo_capacity(curve_of([a_run(*made)]), an_slo(ttft_p95=500))
    assert codes(found.findings) == ["LEVEL_MARKED"]
    assert "LITTLES_LAW" in found.findings[0].message


def test_the_picture_tells_each_level() -> None:
    rows = admissibility(a_curve((1, 1.0, 50.0), (2, 1.9, 600.0), (4, 3.0, 80.0)), an_slo(ttft_p95=500))
    assert [(row.keeps, row.inside) for row in rows] == [(True, True), (False, False), (True, False)]
    assert rows[0].text == ""
    assert "misses ttft p95 <= 500 ms" in rows[1].text
    assert rows[2].text == "keeps the limits, and lies behind the first miss (concurrency 2)"


def test_the_picture_and_the_capacity_agree() -> None:
    slo = an_slo(ttft_p95=500)
    inside = [row.level.requests_per_s for row in admissibility(a_curve(*LADDER), slo) if row.inside]
    assert max(inside) == slo_capacity(a_curve(*LADDER), slo).q_slo_requests_per_s

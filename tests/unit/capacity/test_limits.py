"""One level against an SLO."""

from __future__ import annotations

import math

import pytest
from builders import a_level, a_run
from builders_capacity import an_slo, marked

from tonnage.capacity.curves import curve_of
from tonnage.capacity.limits import Standing, Verdict, judge, ready
from tonnage.domain.measurement import Latency, Level
from tonnage.domain.plan import Bottleneck
from tonnage.domain.workload import Slo


def verdict(level: Level, slo: Slo, noise_ratio: float = 0.0) -> Verdict:
    return judge(curve_of([a_run(level)]).levels[0], ready(slo), slo.max_failure_ratio, noise_ratio)


def with_ttft(**statistics: float) -> Level:
    return a_level(4, 4.0, ttft=Latency(**statistics))


def test_a_value_at_its_limit_passes() -> None:
    assert verdict(with_ttft(p95_ms=500.0), an_slo(ttft_p95=500)).standing is Standing.PASSES


def test_a_value_over_its_limit_misses_and_is_named() -> None:
    found = verdict(with_ttft(p95_ms=501.0), an_slo(ttft_p95=500))
    assert (found.standing, found.bottleneck) == (Standing.MISSES, Bottleneck.TTFT)
    assert found.text == "ttft p95 of 501 ms misses ttft p95 <= 500 ms"


def test_known_noise_widens_the_limit() -> None:
    assert verdict(with_ttft(p95_ms=520.0), an_slo(ttft_p95=500), 0.05).standing is Standing.PASSES
    assert verdict(with_ttft(p95_ms=526.0), an_slo(ttft_p95=500), 0.05).standing is Standing.MISSES


def test_the_worst_of_several_misses_is_named() -> None:
    level = a_level(4, 4.0, ttft=Latency(p95_ms=600.0), tpot=Latency(p95_ms=100.0))
    assert verdict(level, an_slo(ttft_p95=500, tpot_p95=50)).bottleneck is Bottleneck.TPOT


def test_a_missing_percentile_is_not_replaced_and_the_known_ones_are_named() -> None:
    found = verdict(with_ttft(mean_ms=10.0, p50_ms=9.0), an_slo(ttft_p95=500))
    assert found.standing is Standing.ABSENT
    assert "of ttft it has mean, p50" in found.text
    assert "ttft p95" in found.text


def test_a_missing_latency_is_said_to_be_missing_altogether() -> None:
    assert "no statistic of queue can be used" in verdict(with_ttft(p95_ms=1.0), an_slo(queue_p95=500)).text


@pytest.mark.parametrize("value", [math.nan, -5.0, 0.0, math.inf])
def test_what_cannot_be_never_satisfies(value: float) -> None:
    assert verdict(with_ttft(p95_ms=value), an_slo(ttft_p95=500)).standing is Standing.IMPOSSIBLE


def test_a_lower_percentile_over_the_limit_proves_the_miss() -> None:
    found = verdict(a_level(4, 4.0, completed_count=50, ttft=Latency(p50_ms=900.0, p99_ms=950.0)), an_slo(ttft_p99=500))
    assert (found.standing, found.name) == (Standing.MISSES, "ttft_p50_ms")


def test_a_lower_percentile_within_the_noise_proves_nothing() -> None:
    level = a_level(4, 4.0, completed_count=50, ttft=Latency(p50_ms=510.0, p99_ms=950.0))
    assert verdict(level, an_slo(ttft_p99=500), 0.05).standing is Standing.TOO_FEW


def test_a_mean_over_the_limit_proves_nothing_about_a_percentile() -> None:
    assert verdict(with_ttft(mean_ms=900.0), an_slo(ttft_p95=500)).standing is Standing.ABSENT


def test_an_allowed_stand_in_is_the_safest_one_and_is_told() -> None:
    slo = an_slo({"allow_statistic_substitution": True}, ttft_p95=500)
    found = verdict(with_ttft(mean_ms=10.0, p90_ms=20.0, p99_ms=400.0), slo)
    assert (found.standing, found.stood_in) == (Standing.PASSES, (("ttft_p95_ms", "ttft_p99_ms"),))
    lower = verdict(with_ttft(mean_ms=10.0, p50_ms=20.0, p90_ms=30.0), slo)
    assert lower.stood_in == (("ttft_p95_ms", "ttft_p90_ms"),)
    assert verdict(with_ttft(mean_ms=10.0), slo).stood_in == (("ttft_p95_ms", "ttft_mean_ms"),)


def test_nothing_stands_in_for_what_cannot_be() -> None:
    slo = an_slo({"allow_statistic_substitution": True}, ttft_p95=500)
    level = marked(with_ttft(p90_ms=20.0), "PERCENTILE_ORDER", "ttft_p95_ms")
    assert verdict(level, slo).standing is Standing.IMPOSSIBLE


def test_a_percentile_may_stand_in_for_a_mean_when_allowed() -> None:
    slo = an_slo({"allow_statistic_substitution": True}, ttft_mean=500)
    assert verdict(with_ttft(p50_ms=20.0), slo).stood_in == (("ttft_mean_ms", "ttft_p50_ms"),)


def test_speed_per_user_is_a_limit_on_tpot() -> None:
    slo = Slo(min_output_tokens_per_s_per_user=50)
    assert verdict(a_level(4, 4.0, tpot=Latency(mean_ms=20.0)), slo).standing is Standing.PASSES
    slow = verdict(a_level(4, 4.0, tpot=Latency(mean_ms=20.1)), slo)
    assert (slow.standing, slow.bottleneck) == (Standing.MISSES, Bottleneck.TPOT)
    assert "output tokens/s per user >= 50" in slow.text


def test_speed_per_user_takes_the_median_where_no_mean_was_measured() -> None:
    found = verdict(a_level(4, 4.0, tpot=Latency(p50_ms=15.0)), Slo(min_output_tokens_per_s_per_user=50))
    assert (found.standing, found.stood_in) == (Standing.PASSES, ())


def test_failures_are_limited_and_must_be_known() -> None:
    slo = Slo(max_failure_ratio=0.01)
    assert verdict(a_level(4, 4.0, completed_count=990, failed_count=10), slo).standing is Standing.PASSES
    over = verdict(a_level(4, 4.0, completed_count=980, failed_count=20), slo)
    assert (over.standing, over.bottleneck) == (Standing.MISSES, Bottleneck.FAILURES)
    assert verdict(a_level(4, 4.0, failed_count=None), slo).standing is Standing.ABSENT
    none = Slo(max_failure_ratio=0.0)
    assert verdict(a_level(4, 4.0, failed_count=1), none).standing is Standing.MISSES


def test_a_miss_outweighs_a_doubt() -> None:
    found = verdict(with_ttft(p95_ms=900.0), an_slo(ttft_p95=500, tpot_p95=20))
    assert found.standing is Standing.MISSES

"""What cannot be true is dropped, what is doubtful is marked, and both are said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from builders import a_level, a_run

from tonnage.domain.finding import Severity
from tonnage.domain.measurement import EmbeddingWork, Latency, Level, TextWork
from tonnage.formats import lint
from tonnage.formats.lint import lint_level, lint_run, marked_statistics

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding


def codes(level: Level) -> set[str]:
    return {item.code for item in lint_level(level).findings}


def finding(level: Level, code: str) -> Finding:
    return next(item for item in lint_level(level).findings if item.code == code)


def test_a_sound_level_is_left_alone() -> None:
    level = a_level(4, 2.0, ttft=Latency(mean_ms=100.0, p50_ms=90.0, p95_ms=150.0, p99_ms=200.0))
    assert lint_level(level) == level


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (float("nan"), "NON_FINITE_STATISTIC"),
        (float("inf"), "NON_FINITE_STATISTIC"),
        (-7.42, "IMPOSSIBLE_STATISTIC"),
        (0.0, "IMPOSSIBLE_STATISTIC"),
    ],
)
def test_a_latency_that_cannot_be_is_dropped_and_named(value: float, code: str) -> None:
    level = a_level(4, 2.0, tpot=Latency(mean_ms=value, p50_ms=9.0))
    assert lint_level(level).tpot == Latency(p50_ms=9.0)
    assert finding(level, code).path == "tpot_mean_ms"


def test_no_wait_in_a_queue_is_possible() -> None:
    level = a_level(4, 2.0, queue=Latency(mean_ms=0.0))
    assert lint_level(level).queue.mean_ms == 0.0


@pytest.mark.parametrize("name", ["requests_per_s", "duration_s", "concurrency", "completed_count", "failed_count"])
def test_a_negative_figure_is_dropped(name: str) -> None:
    level = replace(a_level(4, 2.0), **{name: -1})  # type: ignore[arg-type]
    assert getattr(lint_level(level), name) is None
    assert finding(level, "IMPOSSIBLE_STATISTIC").path == name


def test_a_request_size_that_cannot_be_is_dropped() -> None:
    level = a_level(4, 2.0, work=TextWork(input_tokens_mean=float("nan"), prefix_cache_hit_ratio=1.5))
    assert lint_level(level).work == TextWork()


def test_between_one_token_there_is_no_time() -> None:
    work = TextWork(input_tokens_mean=200.0, output_tokens_mean=1.0)
    level = a_level(4, 2.0, work=work, output_tokens_per_s=2.0, tpot=Latency(p99_ms=5.0), itl=Latency(p50_ms=5.0))
    found = lint_level(level)
    assert found.tpot == found.itl == Latency()


def test_disordered_percentiles_are_all_dropped_and_sound_ones_stay() -> None:
    level = a_level(4, 2.0, ttft=Latency(mean_ms=60.0, p50_ms=50.0, p90_ms=994.0, p95_ms=57.0, p99_ms=1100.0))
    assert lint_level(level).ttft == Latency(mean_ms=60.0, p50_ms=50.0, p99_ms=1100.0)
    assert {item.path for item in lint_level(level).findings} == {"ttft_p90_ms", "ttft_p95_ms"}


def test_equal_percentiles_are_in_order() -> None:
    level = a_level(4, 2.0, ttft=Latency(p50_ms=5.0, p90_ms=5.0, p95_ms=5.0, p99_ms=5.0))
    assert lint_level(level).ttft.p99_ms == 5.0
    assert finding(level, "TAIL_NOT_RESOLVED").severity is Severity.INFO


def test_a_mean_below_half_the_median_is_dropped() -> None:
    level = a_level(4, 2.0, ttft=Latency(mean_ms=49.0, p50_ms=100.0))
    assert lint_level(level).ttft == Latency(p50_ms=100.0)
    assert lint_level(a_level(4, 2.0, ttft=Latency(mean_ms=51.0, p50_ms=100.0))).ttft.mean_ms == 51.0


def test_a_request_that_ends_before_its_first_token_loses_both_figures() -> None:
    level = a_level(4, 2.0, ttft=Latency(p50_ms=500.0), e2e=Latency(p50_ms=400.0, p99_ms=900.0))
    found = lint_level(level)
    assert (found.ttft.p50_ms, found.e2e) == (None, Latency(p99_ms=900.0))


@pytest.mark.parametrize(
    ("count", "kept"),
    [
        (4, set[str]()),
        (5, {"mean", "p50"}),
        (10, {"mean", "p50", "p90"}),
        (20, {"mean", "p50", "p90", "p95"}),
        (100, {"mean", "p50", "p90", "p95", "p99"}),
    ],
)
def test_a_statistic_of_too_few_requests_is_shown_and_marked(count: int, kept: set[str]) -> None:
    ttft = Latency(mean_ms=100.0, p50_ms=100.0, p90_ms=110.0, p95_ms=120.0, p99_ms=130.0)
    level = a_level(4, 2.0, ttft=ttft, e2e=Latency(), completed_count=count, duration_s=count / 2.0)
    found = lint_level(level)
    assert found.ttft == ttft
    few = {item.path for item in found.findings if item.code == "TOO_FEW_REQUESTS_FOR_STATISTIC"}
    assert few == {f"ttft_{name}_ms" for name in ("mean", "p50", "p90", "p95", "p99") if name not in kept}
    assert few == marked_statistics(found)


def test_the_finding_says_the_value_the_count_and_what_is_needed() -> None:
    level = a_level(4, 2.0, ttft=Latency(p99_ms=130.5), completed_count=16, duration_s=8.0, location="line 3")
    found = finding(level, "TOO_FEW_REQUESTS_FOR_STATISTIC")
    assert found.message == "ttft_p99_ms is 130.5, of 16 completed requests; a p99 needs at least 100"
    assert found.evidence[0].location == "line 3"


def test_an_unknown_count_marks_nothing_and_is_said_once_a_run() -> None:
    levels = [a_level(cap, cap / 2, completed_count=None, ttft=Latency(p99_ms=9.0)) for cap in (1, 2)]
    run = lint_run(a_run(*levels))
    assert [item.code for item in run.findings] == ["COUNT_NOT_STATED"]
    assert not any(level.findings for level in run.levels)


def test_a_tpot_of_half_the_truth_is_marked_in_all_its_statistics() -> None:
    level = a_level(
        4, 2.0, ttft=Latency(mean_ms=30.0), tpot=Latency(mean_ms=9.0, p99_ms=10.0), e2e=Latency(mean_ms=2000.0)
    )
    assert marked_statistics(lint_level(level)) == {"tpot_mean_ms", "tpot_p99_ms"}
    assert "TPOT of 19.899" in finding(level, "E2E_MISMATCH").message


def test_a_tpot_a_little_off_is_noted_and_usable() -> None:
    level = a_level(4, 2.0, ttft=Latency(mean_ms=30.0), tpot=Latency(mean_ms=17.0), e2e=Latency(mean_ms=2000.0))
    assert finding(level, "E2E_MISMATCH").severity is Severity.INFO
    assert not marked_statistics(lint_level(level))


def test_more_in_flight_than_the_cap_is_impossible() -> None:
    level = a_level(4, 2.0, e2e=Latency(mean_ms=2400.0))
    assert not lint_level(level).usable
    assert "4.8 in flight, above the cap of 4" in finding(level, "LITTLES_LAW").message


def test_an_excess_within_15_per_cent_is_possible() -> None:
    assert lint_level(a_level(4, 2.0, e2e=Latency(mean_ms=2200.0))).usable


def test_first_tokens_alone_may_not_fill_the_cap() -> None:
    level = a_level(100, 1.27, ttft=Latency(mean_ms=84_610.0), e2e=Latency())
    assert not lint_level(level).usable
    assert "before a first token" in finding(level, "LITTLES_LAW").message


def test_far_fewer_in_flight_than_the_cap_is_doubtful_and_usable() -> None:
    level = a_level(10, 2.0, e2e=Latency(mean_ms=1000.0))
    assert lint_level(level).usable
    assert finding(level, "LITTLES_LAW").severity is Severity.WARNING


def test_with_an_offered_rate_few_in_flight_are_normal() -> None:
    level = a_level(10, 2.0, offered_requests_per_s=2.0, e2e=Latency(mean_ms=1000.0))
    assert "LITTLES_LAW" not in codes(level)


def test_a_level_whose_requests_all_failed_is_not_used() -> None:
    level = replace(a_level(4, 2.0), completed_count=0, failed_count=150, requests_per_s=0.0, output_tokens_per_s=0.0)
    assert not lint_level(level).usable
    assert "all 150 failed" in finding(level, "ALL_FAILED").message


def test_a_level_without_any_rate_is_not_used() -> None:
    level = replace(a_level(4, 2.0), requests_per_s=None, output_tokens_per_s=None)
    assert not lint_level(level).usable


def test_a_level_without_a_load_has_no_place() -> None:
    level = replace(a_level(4, 2.0), concurrency=None)
    assert lint_level(level).usable
    assert "LOAD_NOT_STATED" in codes(level)


def test_a_rate_that_counts_more_than_completed_is_said() -> None:
    assert "RATE_MISMATCH" in codes(a_level(4, 2.0, duration_s=600.0))
    assert "RATE_MISMATCH" not in codes(a_level(4, 2.0, duration_s=515.0))


def test_a_token_rate_with_input_in_it_is_said() -> None:
    assert "TOKEN_RATE_MISMATCH" in codes(a_level(4, 2.0, output_tokens_per_s=2200.0))


def test_an_open_loop_that_fell_behind_is_said() -> None:
    level = replace(a_level(4, 2.0), concurrency=None, offered_requests_per_s=4.0, e2e=Latency(mean_ms=900.0))
    assert "OFFERED_RATE_NOT_REACHED" in codes(level)
    short = replace(level, completed_count=10, duration_s=5.0, e2e=Latency(mean_ms=2600.0))
    assert "OFFERED_RATE_NOT_REACHED" not in codes(short)


def test_other_work_than_text_is_checked_without_tokens() -> None:
    level = a_level(4, 2.0, work=EmbeddingWork(input_tokens_mean=100.0), output_tokens_per_s=None)
    assert codes(level) == set()


def test_tenants_of_a_mixed_level_are_checked() -> None:
    part = a_level(2, 1.0, ttft=Latency(mean_ms=-1.0))
    found = lint_level(a_level(4, 2.0, tenants=(("chat", part),)))
    assert found.tenants[0][1].ttft == Latency()


def test_linting_again_says_nothing_new() -> None:
    level = a_level(4, 2.0, ttft=Latency(mean_ms=float("nan"), p99_ms=5.0), completed_count=16, duration_s=8.0)
    once = lint_run(a_run(level))
    assert lint_run(once) == once


def test_every_code_is_explained() -> None:
    level = a_level(
        4,
        2.0,
        ttft=Latency(mean_ms=float("nan"), p50_ms=9.0, p90_ms=5.0, p95_ms=20.0, p99_ms=20.0),
        e2e=Latency(mean_ms=9000.0, p50_ms=3.0),
        tpot=Latency(mean_ms=1.0, p50_ms=900.0),
        completed_count=16,
    )
    assert codes(level) <= lint.CODES.keys()
    assert codes(level) >= {"NON_FINITE_STATISTIC", "PERCENTILE_ORDER", "MEAN_OUTSIDE_RANGE", "LITTLES_LAW"}

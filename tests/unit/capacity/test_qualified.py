"""Which statistics may carry a capacity."""

from __future__ import annotations

import math

import pytest
from builders import a_level
from builders_capacity import marked

from tonnage.capacity.qualified import LEAST_COMPLETED, Doubt, named_statistic, qualify
from tonnage.domain.finding import Severity
from tonnage.domain.measurement import Latency
from tonnage.formats.checks.latencies import LEAST_COUNT

FULL = Latency(mean_ms=10.0, p50_ms=10.0, p90_ms=20.0, p95_ms=30.0, p99_ms=40.0)


@pytest.mark.parametrize(
    ("completed", "known"),
    [
        (4, []),
        (5, ["mean", "p50"]),
        (10, ["mean", "p50", "p90"]),
        (20, ["mean", "p50", "p90", "p95"]),
        (100, ["mean", "p50", "p90", "p95", "p99"]),
    ],
)
def test_a_statistic_needs_its_number_of_requests(completed: int, known: list[str]) -> None:
    found = qualify(a_level(1, 1.0, completed_count=completed, ttft=FULL, e2e=Latency()))
    assert sorted(found.values) == sorted(f"ttft_{name}_ms" for name in known)
    assert all(refusal.doubt is Doubt.TOO_FEW for refusal in found.refusals.values())


def test_too_few_is_said_with_both_counts() -> None:
    found = qualify(a_level(1, 1.0, completed_count=16, ttft=FULL))
    assert found.refusals["ttft_p99_ms"].reason == "p99 needs at least 100 completed requests, this level has 16"


def test_an_unknown_count_bars_nothing() -> None:
    assert "ttft_p99_ms" in qualify(a_level(1, 1.0, completed_count=None, ttft=FULL)).values


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 0.0])
def test_what_cannot_be_never_qualifies(value: float) -> None:
    found = qualify(a_level(1, 1.0, ttft=Latency(p95_ms=value)))
    assert "ttft_p95_ms" not in found.values
    assert found.refusals["ttft_p95_ms"].doubt is Doubt.IMPOSSIBLE


def test_a_queue_may_be_empty() -> None:
    assert qualify(a_level(1, 1.0, queue=Latency(p95_ms=0.0))).values["queue_p95_ms"] == 0.0


@pytest.mark.parametrize("path", ["ttft_p95_ms", "levels[3].ttft_p95_ms", "ttft.p95_ms"])
def test_a_warning_on_a_statistic_bars_it_alone(path: str) -> None:
    found = qualify(marked(a_level(1, 1.0, ttft=FULL), "PERCENTILE_ORDER", path))
    assert "ttft_p95_ms" not in found.values
    assert "ttft_p90_ms" in found.values


def test_a_remark_bars_nothing() -> None:
    level = marked(a_level(1, 1.0, ttft=FULL), "TAIL_NOT_RESOLVED", "ttft_p99_ms", Severity.INFO)
    assert "ttft_p99_ms" in qualify(level).values


def test_a_dropped_statistic_keeps_the_reason_of_the_lint() -> None:
    level = marked(a_level(1, 1.0, completed_count=16), "TOO_FEW_REQUESTS_FOR_STATISTIC", "ttft_p99_ms")
    refusal = qualify(level).refusals["ttft_p99_ms"]
    assert (refusal.doubt, "this level has 16" in refusal.reason) == (Doubt.TOO_FEW, True)


def test_impossible_outweighs_too_few() -> None:
    level = marked(a_level(1, 1.0), "TOO_FEW_REQUESTS_FOR_STATISTIC", "ttft_p99_ms")
    level = marked(level, "NON_FINITE_STATISTIC", "ttft_p99_ms")
    assert qualify(level).refusals["ttft_p99_ms"].doubt is Doubt.IMPOSSIBLE


@pytest.mark.parametrize("path", ["", "requests_per_s", "ttft", "work.text.input_tokens_mean", "my_ttft_p95_ms_note"])
def test_other_paths_name_no_statistic(path: str) -> None:
    assert named_statistic(path) is None


def test_the_lint_and_the_capacity_ask_for_the_same_number_of_requests() -> None:
    assert dict(LEAST_COMPLETED) == dict(LEAST_COUNT)

"""Levels of single requests that did not hold still are told from those that did."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from builders_formats import only_level

from tonnage.formats.lint import lint_level
from tonnage.formats.reading.requests import Requests
from tonnage.formats.reading.timeline import MAX_KEPT_COUNT, Timeline

if TYPE_CHECKING:
    from tonnage.domain.measurement import Level

COUNT = 1000
EVEN_S = np.linspace(0.0, 100.0, COUNT)
# Four times as many completions a second in the second half of the window.
RISING_S = np.concatenate((np.linspace(0.0, 50.0, COUNT // 5), np.linspace(50.1, 100.0, COUNT - COUNT // 5)))


def _noise(seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(4.0, 0.5, COUNT)


def _level(end_s: np.ndarray | None, ttft_ms: np.ndarray | None, e2e_ms: np.ndarray | None = None) -> Level:
    requests = Requests()
    count = len(next(column for column in (end_s, ttft_ms, e2e_ms) if column is not None))
    requests.completed_rows(end_s=end_s, ttft_ms=ttft_ms, e2e_ms=e2e_ms, count=count)
    return lint_level(requests.level(duration_s=100.0, failures_known=True, concurrency=16.0))


def _codes(level: Level) -> set[str]:
    return {item.code for item in level.findings} & {"UNSTEADY_LEVEL", "WARM_UP_INSIDE"}


@pytest.mark.parametrize("seed", range(5))
def test_a_poisson_stream_of_alike_latencies_is_steady(seed: int) -> None:
    arrivals_s = np.cumsum(np.random.default_rng(seed).exponential(0.1, COUNT))
    level = _level(arrivals_s, _noise(seed))
    assert (_codes(level), level.usable) == (set(), True)


def test_a_level_whose_throughput_rose_is_kept_and_never_used() -> None:
    level = _level(RISING_S, _noise())
    assert _codes(level) == {"UNSTEADY_LEVEL"}
    assert not level.usable
    assert level.requests_per_s == COUNT / 100.0
    (finding,) = [item for item in level.findings if item.code == "UNSTEADY_LEVEL"]
    assert "completions went from 200 to 800" in finding.message
    assert "TTFT" not in finding.message


def test_a_level_whose_ttft_grew_is_never_used() -> None:
    level = _level(EVEN_S, np.linspace(50.0, 5000.0, COUNT))
    assert (_codes(level), level.usable) == ({"UNSTEADY_LEVEL"}, False)
    assert any("the median TTFT went from 1286 to 3764 ms" in item.message for item in level.findings)


@pytest.mark.parametrize("factor", [1.0, 1.15, 1.4])
def test_a_drift_counts_from_twenty_percent_on(factor: float) -> None:
    ttft_ms = np.where(EVEN_S[-1] / 2 < EVEN_S, 100.0 * factor, 100.0) * np.tile([0.99, 1.01], COUNT // 2)
    assert _codes(_level(EVEN_S, ttft_ms)) == ({"UNSTEADY_LEVEL"} if factor > 1.25 else set())


def test_few_requests_tell_nothing_of_drift() -> None:
    level = _level(np.array([0.0, 60.0, 70.0, 80.0, 90.0, 100.0]), np.full(6, 50.0))
    assert (_codes(level), level.usable) == (set(), True)


def test_a_window_of_few_waves_tells_nothing_of_drift() -> None:
    waves_s = np.repeat([10.0, 20.0, 30.0], [400, 400, 200]) + np.tile(np.linspace(-0.1, 0.1, 200), 5)
    assert _codes(_level(waves_s, None, np.full(COUNT, 10_000.0))) == set()
    assert _codes(_level(waves_s, None, np.full(COUNT, 10.0))) == {"UNSTEADY_LEVEL"}


def test_the_order_of_rows_does_not_matter() -> None:
    order = np.random.default_rng(3).permutation(COUNT)
    assert _level(RISING_S[order], _noise()[order]).findings == _level(RISING_S, _noise()).findings


def test_without_clock_readings_nothing_is_said() -> None:
    assert _codes(_level(None, np.linspace(50.0, 5000.0, COUNT))) == set()


def test_absurd_clock_readings_do_not_break_the_reading() -> None:
    ends_s = np.array([np.nan, np.inf, -1e308, 1e308, *EVEN_S])
    assert _level(ends_s, np.full(ends_s.size, 1e308)).completed_count == ends_s.size


def test_slow_first_requests_are_a_warm_up_inside() -> None:
    ttft_ms = _noise()
    ttft_ms[: COUNT // 10] *= 20
    level = _level(EVEN_S, ttft_ms)
    assert (_codes(level), level.usable) == ({"WARM_UP_INSIDE"}, True)


def test_a_slow_start_is_seen_in_e2e_where_there_is_no_ttft() -> None:
    e2e_ms = _noise()
    e2e_ms[: COUNT // 10] *= 20
    assert _codes(_level(EVEN_S + e2e_ms / 1000, None, e2e_ms)) == {"WARM_UP_INSIDE"}


def test_slow_requests_all_along_are_no_warm_up() -> None:
    ttft_ms = _noise()
    ttft_ms[::10] *= 20
    assert _codes(_level(EVEN_S, ttft_ms)) == set()


@pytest.mark.parametrize("block", [1, 999, 70_000])
def test_a_timeline_keeps_every_nth_request_in_bounded_memory(block: int) -> None:
    count, timeline = 3 * MAX_KEPT_COUNT, Timeline()
    for first in range(0, count, block):
        ends_s = np.arange(first, min(first + block, count), dtype=np.float64)
        if block == 1:
            timeline.add(float(ends_s[0]), None, 5.0)
        else:
            timeline.add_rows(ends_s, None, np.full(ends_s.size, 5.0), ends_s.size)
    ends, ttfts, wholes = timeline.columns()
    assert timeline.stride == 4
    assert ends.tolist() == list(range(0, count, 4))
    assert np.isnan(ttfts).all()
    assert set(wholes.tolist()) == {5.0}


def test_a_thinned_timeline_still_tells_drift() -> None:
    ends_s = np.sort(np.concatenate((np.linspace(0.0, 50.0, 50_000), np.linspace(50.1, 100.0, 150_000))))
    (finding,) = [item for item in _level(ends_s, None).findings if item.code == "UNSTEADY_LEVEL"]
    assert "from about 50000 to about 150000" in finding.message


def _aiperf(ttft_ms: float, end_s: float) -> str:
    record = {
        "metadata": {
            "benchmark_phase": "profiling",
            "request_start_ns": (end_s - 0.01) * 1e9,
            "request_end_ns": end_s * 1e9,
        },
        "metrics": {
            "request_latency": {"value": ttft_ms + 10, "unit": "ms"},
            "time_to_first_token": {"value": ttft_ms, "unit": "ms"},
            "output_sequence_length": {"value": 8, "unit": "tokens"},
        },
    }
    return json.dumps(record)


def test_aiperf_records_of_a_growing_queue_are_unsteady() -> None:
    text = "\n".join(_aiperf(20.0 + index, 1.0 + index / 10) for index in range(400))
    level = only_level(text)
    assert (_codes(level), level.usable) == ({"UNSTEADY_LEVEL"}, False)


def test_a_jtl_of_a_ramp_is_unsteady() -> None:
    rows = [f"{int(end_s * 1000)},5,GET,true,1" for end_s in RISING_S + 1.7e9]
    level = only_level("timeStamp,elapsed,label,success,allThreads\n" + "\n".join(rows))
    assert (_codes(level), level.usable) == ({"UNSTEADY_LEVEL"}, False)


def test_heys_rows_of_a_ramp_are_unsteady() -> None:
    header = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n"
    rows = [f"0.005,0,0,0,0,0,200,{offset_s:.4f}" for offset_s in RISING_S]
    level = only_level(header + "\n".join(rows))
    assert (_codes(level), level.usable) == ({"UNSTEADY_LEVEL"}, False)


def test_lmbenchmarks_rows_of_a_ramp_are_unsteady() -> None:
    header = "prompt_tokens,generation_tokens,ttft,generation_time,launch_time,finish_time\n"
    rows = [f"100,8,0.02,0.03,{1.7e9 + end_s - 0.05:.4f},{1.7e9 + end_s:.4f}" for end_s in RISING_S]
    level = only_level(header + "\n".join(rows))
    assert (_codes(level), level.usable) == ({"UNSTEADY_LEVEL"}, False)

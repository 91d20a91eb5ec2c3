"""Traps of the tools that know requests and no tokens: failures hidden in rates and latencies, units by cell."""

from __future__ import annotations

import json

import pytest
from builders_formats import only_level, runs_of

from tonnage.domain.measurement import Latency, Level
from tonnage.errors import MalformedReport


def k6(**metrics: object) -> Level:
    whole = {
        "http_reqs": {"count": 100, "rate": 10.0},
        "http_req_failed": {"passes": 20, "fails": 80},
        "http_req_duration": {"avg": 50.0, "med": 40.0, "p(95)": 90.0},
        "vus": {"value": 4, "min": 4, "max": 4},
        "vus_max": {"value": 4, "max": 4},
    }
    return only_level(json.dumps({"metrics": {**whole, **metrics}, "root_group": {}}))


def test_k6_passes_of_a_failure_rate_are_the_failed() -> None:
    level = k6()
    assert (level.completed_count, level.failed_count, level.duration_s) == (80, 20, 10.0)
    assert (level.requests_per_s, level.reported_requests_per_s) == (8.0, 10.0)


def test_k6_users_are_a_cap_only_when_all_were_busy() -> None:
    assert k6().concurrency == 4.0
    assert k6(vus_max={"value": 10, "max": 10}).concurrency is None
    assert k6(dropped_iterations={"count": 3}).concurrency is None


def test_k6_expected_answers_are_preferred_to_all() -> None:
    assert k6().e2e == Latency(mean_ms=50.0, p50_ms=40.0, p95_ms=90.0)
    assert k6(**{"http_req_duration{expected_response:true}": {"avg": 60.0}}).e2e == Latency(mean_ms=60.0)


def test_k6_a_counter_of_the_users_is_said() -> None:
    level = k6(llm_output_tokens={"count": 1000, "rate": 100.0}, llm_ttft={"avg": 12.0})
    assert (level.output_tokens_per_s, level.ttft) == (100.0, Latency())
    assert "USER_METRIC_USED" in {item.code for item in level.findings}


LOCUST = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Requests/s,50%,90%,95%,99%\n"


def test_locust_timings_that_a_script_made_up_are_left_out_and_named() -> None:
    text = LOCUST + "POST,/v1,100,0,10,11.0,10.0,10,20,30,40\nTTFT,/v1,100,0,10,11.0,10.0,10,20,30,40\n"
    text += ",Aggregated,200,0,10,11.0,20.0,10,20,30,40\n"
    (first, pool) = runs_of(text)
    assert (first.levels[0].location, first.levels[0].usable) == ("POST /v1", True)
    assert (pool.levels[0].location, pool.levels[0].usable) == ("Aggregated", False)


def test_locust_latencies_with_failures_are_said() -> None:
    level = only_level(LOCUST + "GET,/,100,20,10,11.0,10.0,10,20,30,40\n")
    assert (level.completed_count, level.requests_per_s, level.e2e.p99_ms) == (80, 8.0, 40.0)
    assert "LATENCY_INCLUDES_FAILURES" in {item.code for item in level.findings}


def test_locust_histogram_gives_percentiles() -> None:
    entry = {
        "name": "/",
        "method": "GET",
        "num_requests": 100,
        "num_failures": 0,
        "num_none_requests": 0,
        "start_time": 1000.0,
        "last_request_timestamp": 1010.0,
        "total_response_time": 2000.0,
        "response_times": {"100": 2, "10": 90, "20": 8},
    }
    level = only_level(json.dumps([entry]))
    assert level.e2e == Latency(mean_ms=20.0, p50_ms=10.0, p90_ms=10.0, p95_ms=20.0, p99_ms=100.0)
    assert level.requests_per_s == 10.0


def test_wrk_cells_have_units_of_their_own() -> None:
    text = "Running 2m test @ http://x\n  2 threads and 8 connections\n"
    text += "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   850.00us  1.00ms   1.20s    83.02%\n"
    text += "  Latency Distribution\n     50%  900.00us\n     99%    1.10s\n"
    text += "  1000 requests in 2.00m, 1MB read\n  Socket errors: connect 0, read 1, write 0, timeout 2\n"
    text += "  Non-2xx or 3xx responses: 100\nRequests/sec:      8.33\n"
    level = only_level(text)
    assert (level.e2e.mean_ms, level.e2e.p50_ms, level.e2e.p99_ms) == (0.85, 0.9, 1100.0)
    assert (level.completed_count, level.failed_count, level.duration_s, level.concurrency) == (900, 103, 120.0, 8.0)


def test_hey_text_counts_answers_by_status() -> None:
    text = "Summary:\n  Total:\t2.0000 secs\n  Average:\t0.0100 secs\n  Requests/sec:\t50.0000\n\n"
    text += "Response time histogram:\n"
    text += "Latency distribution:\n  50% in 0.0090 secs\n  99% in 0.0500 secs\n\n"
    text += "Status code distribution:\n  [200]\t80 responses\n  [503]\t15 responses\n\n"
    text += "Error distribution:\n  [5]\tdial tcp\n"
    level = only_level(text)
    assert (level.completed_count, level.failed_count, level.requests_per_s) == (80, 20, 40.0)
    assert (level.e2e.mean_ms, level.e2e.p99_ms) == (10.0, 50.0)


def test_apache_bench_answers_of_another_length_are_no_failures() -> None:
    text = "This is ApacheBench, Version 2.3\nConcurrency Level:      4\nTime taken for tests:   2.000 seconds\n"
    text += "Complete requests:      100\nFailed requests:        94\n"
    text += "   (Connect: 1, Receive: 0, Length: 92, Exceptions: 1)\n"
    text += "Non-2xx responses:      10\nRequests per second:    50.00 [#/sec] (mean)\n"
    text += "Total:          0  116  43.1    128     155\n  50%    128\n 100%    155 (longest request)\n"
    level = only_level(text)
    assert (level.completed_count, level.failed_count, level.requests_per_s) == (90, 12, 45.0)
    assert level.e2e == Latency(mean_ms=116.0, p50_ms=128.0)


def test_vegeta_is_in_nanoseconds_and_a_code_of_zero_is_no_answer() -> None:
    report = {
        "latencies": {"mean": 2_000_000, "50th": 1_000_000, "99th": 9_000_000},
        "duration": 4_000_000_000,
        "wait": 1_000_000_000,
        "rate": 10.0,
        "throughput": 4.0,
        "status_codes": {"0": 20, "200": 20},
    }
    level = only_level(json.dumps(report))
    assert (level.e2e.mean_ms, level.duration_s, level.offered_requests_per_s) == (2.0, 5.0, 10.0)
    assert (level.completed_count, level.failed_count) == (20, 20)


def test_oha_without_any_answer_has_a_key_named_nan() -> None:
    report = {
        "summary": {"requestsPerSec": 0.0, "total": 2.0, "average": None},
        "responseTimeHistogram": {"NaN": 0},
        "latencyPercentiles": {"p50": None, "p99": None},
        "statusCodeDistribution": {},
        "errorDistribution": {"aborted due to deadline": 9},
    }
    level = only_level(json.dumps(report))
    assert (level.completed_count, level.failed_count, level.e2e) == (0, 9, Latency())


def test_jmeter_counts_parents_alone() -> None:
    text = "timeStamp,elapsed,label,responseMessage,success,allThreads\n"
    text += "1000000,500,Login,OK,true,5\n1000000,200,Login-0,OK,true,5\n1000200,300,Login-1,OK,true,5\n"
    text += '1000000,500,Whole,"Number of samples in transaction : 1, number of failing samples : 0",true,5\n'
    text += "1000500,500,Login,Bad,false,7\n"
    level = only_level(text)
    assert (level.completed_count, level.failed_count, level.concurrency, level.duration_s) == (1, 1, 7.0, 1.0)
    assert level.e2e.mean_ms == 500.0


def test_artillery_failures_are_codes_and_errors_not_its_own_count() -> None:
    counters = {"http.codes.200": 40, "http.codes.503": 6, "errors.ETIMEDOUT": 2, "vusers.failed": 0}
    summaries = {"http.response_time": {"mean": 1.0}, "http.response_time.2xx": {"mean": 200.0, "median": 190.0}}
    aggregate = {"counters": counters, "summaries": summaries, "firstCounterAt": 1000, "lastCounterAt": 9000}
    level = only_level(json.dumps({"aggregate": aggregate, "intermediate": []}))
    assert (level.completed_count, level.failed_count, level.requests_per_s) == (40, 8, 5.0)
    assert (level.e2e.mean_ms, level.e2e.p50_ms) == (200.0, 190.0)


def test_artillery_of_version_1_is_read() -> None:
    aggregate = {"latency": {"median": 190.0, "p95": 300.0}, "codes": {"200": 40, "503": 5}, "errors": {"x": 1}}
    level = only_level(json.dumps({"aggregate": aggregate, "intermediate": []}))
    assert (level.completed_count, level.failed_count, level.e2e.p95_ms) == (40, 6, 300.0)


def test_fortio_without_a_rate_offers_none() -> None:
    report = {
        "DurationHistogram": {"Avg": 0.005, "Percentiles": [{"Percentile": 99.9, "Value": 0.02}]},
        "RetCodes": {"200": 90, "503": 10},
        "ActualDuration": 10_000_000_000,
        "ActualQPS": 10.0,
        "NumThreads": 8,
        "RequestedQPS": "max",
    }
    level = only_level(json.dumps(report))
    assert (level.offered_requests_per_s, level.concurrency, level.requests_per_s) == (None, 8.0, 9.0)
    assert level.e2e == Latency(mean_ms=5.0)


def test_gatling_answers_that_were_ok_are_read() -> None:
    def split(ok: float, ko: float) -> dict[str, float]:
        return {"total": ok + ko, "ok": ok, "ko": ko}

    report = {
        "numberOfRequests": split(80, 20),
        "meanResponseTime": split(100, 900),
        "percentiles1": split(90, 0),
        "percentiles2": split(95, 0),
        "percentiles3": split(99, 0),
        "percentiles4": split(120, 0),
        "meanNumberOfRequestsPerSecond": split(8.0, 2.0),
    }
    level = only_level(json.dumps(report))
    assert (level.completed_count, level.failed_count, level.requests_per_s, level.duration_s) == (80, 20, 8.0, 10.0)
    assert level.e2e == Latency(mean_ms=100.0, p50_ms=90.0, p95_ms=99.0, p99_ms=120.0)


def test_autocannon_errors_hold_the_timeouts_already() -> None:
    report = {
        "2xx": 90,
        "non2xx": 6,
        "errors": 4,
        "timeouts": 4,
        "duration": 10.0,
        "connections": 5,
        "pipelining": 2,
        "latency": {"average": 20.0, "p50": 18.0, "p97_5": 30.0, "p99": 40.0},
        "requests": {"average": 9.6},
    }
    level = only_level(json.dumps(report))
    assert (level.completed_count, level.failed_count, level.concurrency) == (90, 10, 10.0)
    assert level.e2e == Latency(mean_ms=20.0, p50_ms=18.0, p99_ms=40.0)


@pytest.mark.parametrize(
    ("first", "axis"), [("Concurrency", "concurrency"), ("Request Rate", "offered_requests_per_s")]
)
def test_perf_analyzer_rows_are_by_cap_or_by_rate(first: str, axis: str) -> None:
    level = only_level(f"{first},Inferences/Second,p50 latency,p99 latency\n4,80.5,13891,21018\n")
    assert getattr(level, axis) == 4.0
    assert (level.e2e.p50_ms, level.e2e.p99_ms) == (13.891, 21.018)


@pytest.mark.parametrize(
    "text",
    [
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n",
        "timeStamp,elapsed,label,success\n",
        "prompt_tokens,generation_tokens,ttft,generation_time,launch_time,finish_time\n",
        '{"metadata": {"benchmark_phase": "warmup"}, "metrics": {}}\n',
    ],
    ids=["hey", "jmeter", "lmbenchmark", "aiperf"],
)
def test_a_file_of_no_request_is_no_level(text: str) -> None:
    with pytest.raises(MalformedReport, match="no load level"):
        runs_of(text)

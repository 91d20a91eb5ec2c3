"""Traps of the tools that know tokens: units, names and counts that changed between versions."""

from __future__ import annotations

import json

import pytest
from builders_formats import of_text, only_level, runs_of

from tonnage.domain.measurement import ArrivalKind, AudioWork, EmbeddingWork, Latency, Level, TextWork

VLLM = {
    "date": "20260101-120000",
    "backend": "openai",
    "model_id": "org/model",
    "num_prompts": 12,
    "request_rate": "inf",
    "max_concurrency": 4,
    "duration": 5.0,
    "completed": 10,
    "total_input_tokens": 1000,
    "total_output_tokens": 500,
    "request_throughput": 2.0,
    "output_throughput": 100.0,
    "mean_ttft_ms": 50.0,
    "median_ttft_ms": 45.0,
    "p99_ttft_ms": 90.0,
}
GUIDE_BLOCK = {
    "mean": 50.0,
    "median": 45.0,
    "count": 10,
    "percentiles": {"p001": 1.0, "p95": 80.0, "p99": 90.0, "p999": 99.0},
}


def vllm(**changes: object) -> Level:
    return only_level(json.dumps({**VLLM, **changes}))


def test_no_rate_and_a_cap_is_a_closed_loop() -> None:
    (run,) = runs_of(json.dumps(VLLM))
    assert run.arrival_kind is ArrivalKind.CLOSED
    assert (run.levels[0].concurrency, run.levels[0].offered_requests_per_s) == (4.0, None)
    assert [item.code for item in run.findings] == ["TIME_ZONE_NOT_STATED"]


def test_what_was_asked_and_did_not_complete_failed() -> None:
    assert vllm().failed_count == 2
    assert vllm(failed=1).failed_count == 1


def test_a_fork_without_units_means_seconds() -> None:
    fork = {key: value for key, value in VLLM.items() if not key.endswith("_ms")} | {
        "mean_ttft": 0.05,
        "p90_ttft": 0.08,
    }
    assert only_level(json.dumps(fork)).ttft == Latency(mean_ms=50.0, p90_ms=80.0)


def test_a_raised_rate_is_no_operating_point() -> None:
    level = vllm(ramp_up_strategy="linear", ramp_up_start_rps=1, ramp_up_end_rps=9)
    assert not level.usable
    assert level.findings[0].code == "RAMPED_LOAD"


def test_a_backend_that_many_servers_share_names_no_engine() -> None:
    assert runs_of(json.dumps(VLLM))[0].configuration.engine is None
    assert runs_of(json.dumps({**VLLM, "backend": "tgi"}))[0].configuration.engine == "tgi"


def test_embeddings_and_audio_are_work_of_their_own() -> None:
    assert vllm(endpoint_type="openai-embeddings").work == EmbeddingWork(input_tokens_mean=100.0)
    assert vllm(rtfx=20.0).work == AudioWork(audio_s=10.0)


def test_infinity_where_json_has_none_means_no_rate() -> None:
    line = '{"backend": "sglang", "request_rate": Infinity, "max_concurrency": 4, "completed": 10, "duration": 5.0, '
    line += '"output_throughput": 100.0, "total_input_tokens": 100, "total_output_tokens": 500, "concurrency": 3.7, '
    line += '"mean_e2e_latency_ms": 1900.0}\n'
    (run,) = runs_of(line)
    level = run.levels[0]
    assert (level.concurrency, level.offered_requests_per_s, level.failed_count) == (4.0, None, None)
    assert (level.requests_per_s, level.total_tokens_per_s) == (2.0, 120.0)
    assert run.configuration.engine == "sglang"


def guide(strategy: dict[str, object], **totals: object) -> Level:
    metrics = {
        "request_totals": {"successful": 10, "errored": 1, "incomplete": 0, **totals},
        "prompt_token_count": {"successful": {"mean": 100.0, "count": 10}},
        "output_token_count": {"successful": {"mean": 50.0, "count": 10}},
        "time_to_first_token_ms": {"successful": GUIDE_BLOCK},
        "time_per_output_token_ms": {"successful": {"mean": 999.0, "count": 10}},
        "inter_token_latency_ms": {"successful": {"mean": 7.0, "count": 375}},
        "request_latency": {"successful": {"mean": 0.4, "count": 10}},
        "requests_per_second": {"successful": {"mean": 1.1, "count": 10}},
    }
    benchmark = {"config": {"strategy": strategy}, "duration": 5.0, "metrics": metrics, "scheduler_state": {}}
    return only_level(json.dumps({"metadata": {"guidellm_version": "0.8.1"}, "benchmarks": [benchmark]}))


def test_guidellm_tenths_of_a_per_cent_are_no_percentiles_of_ours() -> None:
    assert guide({"type_": "concurrent", "streams": 4}).ttft == Latency(
        mean_ms=50.0, p50_ms=45.0, p95_ms=80.0, p99_ms=90.0
    )


def test_guidellm_throughput_is_counted_and_its_own_kept_apart() -> None:
    level = guide({"type_": "concurrent", "streams": 4})
    assert (level.requests_per_s, level.reported_requests_per_s) == (2.0, 1.1)
    assert (level.output_tokens_per_s, level.total_tokens_per_s) == (100.0, 300.0)
    assert (level.tpot.mean_ms, level.e2e.mean_ms) == (7.0, 400.0)


@pytest.mark.parametrize(
    ("strategy", "load"),
    [
        ({"type_": "synchronous"}, (1.0, None)),
        ({"type_": "throughput", "max_concurrency": 512}, (512.0, None)),
        ({"type_": "constant", "rate": 2.5, "max_concurrency": 512}, (None, 2.5)),
        ({"type_": "poisson", "rate": 3}, (None, 3.0)),
    ],
)
def test_guidellm_strategies_give_cap_or_rate(
    strategy: dict[str, object], load: tuple[float | None, float | None]
) -> None:
    level = guide(strategy)
    assert (level.concurrency, level.offered_requests_per_s) == load


def test_requests_cut_off_at_the_end_neither_completed_nor_failed() -> None:
    level = guide({"type_": "concurrent", "streams": 4}, incomplete=432)
    assert (level.completed_count, level.failed_count) == (10, 1)
    assert level.findings[0].code == "REQUESTS_CUT_OFF"


def test_aiperf_leaves_warm_up_and_cancelled_requests_out() -> None:
    def record(phase: str, start_s: int, **more: object) -> str:
        metadata = {
            "benchmark_phase": phase,
            "request_start_ns": start_s * 10**9,
            "request_end_ns": (start_s + 1) * 10**9,
        }
        metrics = {"request_latency": {"value": 1000.0, "unit": "ms"}, "inter_chunk_latency": {"value": [5.0, 15.0]}}
        return json.dumps({"metadata": {**metadata, **more}, "metrics": metrics})

    failed = json.dumps({"metadata": {"benchmark_phase": "profiling"}, "error": {"code": 503}})
    lines = [record("warmup", 0), record("profiling", 10), record("profiling", 12, was_cancelled=True), failed]
    level = only_level("\n".join(lines))
    assert (level.completed_count, level.failed_count, level.duration_s) == (1, 1, 3.0)
    assert (level.e2e.mean_ms, level.itl.mean_ms) == (1000.0, 10.0)


def test_a_record_with_nan_is_read_like_any_other() -> None:
    line = '{"metadata": {"benchmark_phase": "profiling"}, "metrics": {"request_latency": {"value": NaN}}}'
    assert only_level(line).completed_count == 1


def test_sessions_above_their_number_are_no_cap_on_requests() -> None:
    report = {
        "aiperf_version": "0.8.0",
        "input_config": {"loadgen": {"concurrency": 16}},
        "request_count": {"avg": 100},
        "request_throughput": {"avg": 2.0},
        "effective_concurrency": {"max": 31.0},
    }
    level = only_level(json.dumps(report))
    assert level.concurrency is None
    assert level.findings[0].code == "SESSIONS_NOT_REQUESTS"


def test_genai_perf_answers_without_output_are_said() -> None:
    report = {
        "input_config": {"perf_analyzer": {"stimulus": {"concurrency": 2}}, "model_names": ["m"]},
        "request_latency": {"unit": "ms", "avg": 900.0},
        "request_count": {"avg": 30},
        "request_throughput": {"avg": 3.0},
        "output_sequence_length": {"avg": 10.0},
        "output_token_throughput": {"avg": 10.0},
    }
    level = only_level(json.dumps(report))
    assert (level.requests_per_s, level.duration_s, level.reported_requests_per_s) == (1.0, 30.0, 3.0)
    assert level.findings[0].code == "ANSWERS_DROPPED"


def test_genai_perf_csv_may_group_thousands() -> None:
    text = "Metric,avg,min,max,p99,p95,p90,p75,p50,p25\n"
    text += 'Request Latency (ms),"1,234.56",1,2,"2,000.00",1,1,1,"1,200.00",1\n\n'
    text += 'Metric,Value\nRequest Throughput (per sec),2.50\nRequest Count (count),"1,000"\n'
    text += "Output Token Throughput (per sec),25.00\n"
    level = only_level(text)
    assert (level.e2e.mean_ms, level.e2e.p99_ms, level.completed_count) == (1234.56, 2000.0, 1000)


def test_a_pool_of_stages_is_kept_and_not_used() -> None:
    report = {"load_summary": {"count": 10}, "failures": {"count": 0}, "successes": {"count": 10, "latency": {}}}
    level = only_level(json.dumps(report))
    assert not level.usable
    assert level.findings[0].code == "POOLED_LEVELS"


def test_a_nominal_rate_beside_a_cap_is_not_an_offered_one() -> None:
    load = {"requested_rate": 12.0, "concurrency": 4}
    report = {"load_summary": load, "failures": {"count": 1}, "successes": {"count": 10, "latency": {}}}
    level = only_level(json.dumps(report))
    assert (level.concurrency, level.offered_requests_per_s, level.failed_count) == (4.0, None, 1)


def test_llm_d_units_are_obeyed_and_a_missing_one_is_not_guessed() -> None:
    report = {
        "version": "0.2",
        "run": {"model": "m"},
        "metrics": {
            "time_to_first_token": {"units": "ms", "mean": 504.05},
            "time_per_output_token": {"units": "s/token", "mean": 0.01265},
            "request_latency": {"units": "ns", "mean": 21558331447},
            "inter_token_latency": {"mean": 0.0125},
            "request_rate": {"units": "queries/s", "mean": 0.4658},
        },
    }
    level = only_level(json.dumps(report))
    assert (level.ttft.mean_ms, level.itl) == (504.05, Latency())
    assert level.tpot.mean_ms == pytest.approx(12.65)
    assert level.e2e.mean_ms == pytest.approx(21558.331447)
    assert [item.code for item in level.findings] == ["UNIT_NOT_STATED"]


def test_inferencex_figures_per_accelerator_become_the_whole_systems() -> None:
    row = {"hw": "b200", "conc": 8, "tp": 4, "framework": "vllm", "precision": "fp4", "isl": 1024, "osl": 1024}
    rates = {"tput_per_gpu": 100.0, "output_tput_per_gpu": 40.0, "mean_ttft": 0.5, "median_ttft": 0.4}
    (run,) = runs_of(json.dumps({**row, **rates}))
    level = run.levels[0]
    assert (level.total_tokens_per_s, level.output_tokens_per_s, level.ttft.mean_ms) == (400.0, 160.0, 500.0)
    assert level.work == TextWork()
    assert (run.configuration.accelerators_per_replica, run.configuration.accelerator) == (4, "b200")


def test_prefill_and_decode_apart_are_one_replica() -> None:
    row = {"hw": "gb200", "conc": 8, "disagg": True, "num_prefill_gpu": 4, "num_decode_gpu": 8, "tput_per_gpu": 1.0}
    (run,) = runs_of(json.dumps(row))
    assert (run.configuration.serving_mode, run.configuration.accelerators_per_replica) == ("split", 12)
    assert run.replicas_under_test == 1


def test_trtllm_bench_json_is_read_in_its_units() -> None:
    report = {
        "engine": {"model": "m", "backend": "pytorch", "version": "1.0"},
        "world_info": {"tp_size": 2, "pp_size": 1, "world_size": 2, "issue_rate": 1.05e15},
        "request_info": {"num_requests": 100, "avg_input_length": 128.0, "avg_output_length": 64.0},
        "performance": {
            "total_latency_ms": 5000.0,
            "request_throughput_req_s": 20.0,
            "system_output_throughput_tok_s": 1280.0,
            "avg_request_latency_ms": 900.0,
            "request_latency_percentiles_ms": {"p50": 880.0, "p99": 1200.0},
        },
        "streaming_metrics": {"avg_ttft_ms": 60.0, "ttft_percentiles": {"p95": 80.0}},
    }
    (run,) = runs_of(json.dumps(report))
    level = run.levels[0]
    assert (level.duration_s, level.offered_requests_per_s, level.concurrency) == (5.0, None, None)
    assert (level.e2e.mean_ms, level.e2e.p99_ms, level.ttft.p95_ms) == (900.0, 1200.0, 80.0)
    assert run.configuration.tensor_parallel == 2


def test_offline_queries_wait_in_a_queue_and_are_marked_so() -> None:
    text = "MLPerf Results Summary\nScenario : Offline\nMode     : PerformanceOnly\nSamples per second: 10\n"
    text += "Result is : INVALID\nMax latency (ns) : 100000000000\nMean latency (ns) : 50000000000\ntarget_qps : 12\n"
    (run,) = runs_of(text)
    level = run.levels[0]
    assert (level.completed_count, level.duration_s, level.offered_requests_per_s) == (1000, 100.0, None)
    assert {item.code for item in level.findings} == {"QUEUEING_NOT_LATENCY"}
    assert [item.code for item in run.findings] == ["RESULT_INVALID"]


@pytest.mark.parametrize(
    ("document", "work"),
    [
        (
            {"elapsed_time": 10.0, "num_requests": 100, "requests_per_second": 10.0, "tokens_per_second": 900.0},
            TextWork(),
        ),
        ({"avg_latency": 2.0, "latencies": [2.0, 2.0], "percentiles": {"50": 2.0, "99": 2.1}}, TextWork()),
        (
            [{"n_prompt": 0, "n_gen": 128, "avg_ts": 100.0, "model_filename": "/m/x.gguf"}],
            TextWork(output_tokens_mean=128.0),
        ),
        ({"load_model": {}, "prefill": {}, "decode": {"throughput": {"unit": "tokens/s", "value": 9.0}}}, TextWork()),
    ],
    ids=["vllm throughput", "vllm latency", "llama-bench", "optimum-benchmark"],
)
def test_a_fixed_batch_without_a_server_carries_no_capacity(document: object, work: TextWork) -> None:
    level = only_level(json.dumps(document))
    assert not level.usable
    assert level.work == work
    assert "NOT_UNDER_LOAD" in {item.code for item in level.findings}


def test_a_markdown_table_of_llama_bench_is_read() -> None:
    text = "| model | size | test | t/s |\n| --- | --: | --: | --: |\n"
    text += "| llama 8B | 4.3 GiB | pp512 @ d4096 | 2000.00 ± 1.00 |\n"
    text += "| llama 8B | 4.3 GiB | tg128 | 50.00 ± 0.10 |\n\nbuild: x\n"
    levels = [level for run in runs_of(text) for level in run.levels]
    assert [level.ttft.mean_ms for level in levels] == [256.0, None]
    assert [level.tpot.mean_ms for level in levels] == [None, 20.0]


def test_hf_inference_benchmarker_leaves_its_warm_up_out() -> None:
    def result(name: str, config: dict[str, object]) -> dict[str, object]:
        counts = {"total_requests": 12, "failed_requests": 2, "successful_requests": 10}
        block = {"p50": 40.0, "avg": 50.0}
        rates = {"request_rate": 2.0, "token_throughput_secs": 100.0, "duration_ms": 5000}
        return {"id": name, "executor_type": "x", "config": config, **counts, **rates, "time_to_first_token_ms": block}

    results = [
        result("warmup", {}),
        result("throughput", {"max_vus": 128}),
        result("constant@2.0", {"max_vus": 800, "rate": 2.0}),
    ]
    runs = runs_of(json.dumps({"config": {"model": "m"}, "results": results}))
    loads = [(level.concurrency, level.offered_requests_per_s) for run in runs for level in run.levels]
    assert loads == [(128.0, None), (None, 2.0)]
    assert runs[0].levels[0].ttft == Latency(mean_ms=50.0, p50_ms=40.0)


def test_ollama_loading_the_model_is_no_part_of_a_request() -> None:
    answer = {
        "model": "llama3",
        "created_at": "2026-01-01T00:00:00.000000Z",
        "total_duration": 5_000_000_000,
        "load_duration": 3_000_000_000,
        "prompt_eval_count": 26,
        "prompt_eval_duration": 500_000_000,
        "eval_count": 100,
        "eval_duration": 1_000_000_000,
    }
    (run,) = runs_of(json.dumps(answer))
    level = run.levels[0]
    assert (level.e2e.mean_ms, level.ttft.mean_ms, level.tpot.mean_ms) == (2000.0, 500.0, 10.0)
    assert (level.requests_per_s, run.configuration.engine) == (None, "ollama")


def test_the_pytorch_form_gives_latencies_and_the_load_of_its_arguments() -> None:
    def row(name: str, value: float) -> dict[str, object]:
        arguments = {"max_concurrency": "<function is not JSON serializable>", "request_rate": 4, "model": "org/m"}
        benchmark = {"name": "serve", "extra_info": {"args": arguments}}
        return {
            "benchmark": benchmark,
            "model": {"name": "org/m"},
            "metric": {"name": name, "benchmark_values": [value]},
        }

    (run,) = runs_of(json.dumps([row("mean_ttft_ms", 50.0), row("p99_ttft_ms", 90.0)]))
    level = run.levels[0]
    assert (level.ttft, level.concurrency, level.offered_requests_per_s) == (
        Latency(mean_ms=50.0, p99_ms=90.0),
        None,
        4.0,
    )
    assert run.configuration.model == "org/m"


def test_the_printed_result_of_sglang_is_told_from_vllms() -> None:
    text = "============ Serving Benchmark Result ============\nBackend:                  sglang\n"
    text += "Traffic request rate:     inf\nMax request concurrency:  not set\nSuccessful requests:      10\n"
    text += "Benchmark duration (s):   5.00\nTotal input tokens:       1000\nTotal generated tokens:   500\n"
    text += "Request throughput (req/s):  2.00\nMean E2E Latency (ms):    1900.00\n"
    (run,) = runs_of(text)
    assert (run.tool, run.configuration.engine) == ("sglang-bench-serving", "sglang")
    assert (run.levels[0].e2e.mean_ms, run.levels[0].concurrency) == (1900.0, None)


def test_a_log_without_a_result_is_refused() -> None:
    with pytest.raises(Exception, match="no load level"):
        runs_of("Starting main benchmark run...\nTraffic request rate: inf\n")


def test_yaml_says_the_same_as_json() -> None:
    text = "version: '0.2'\nrun:\n  model: m\nmetrics:\n  time_to_first_token:\n    units: s\n    mean: 0.5\n"
    assert only_level(text).ttft.mean_ms == 500.0
    assert of_text(text).head.kind == "yaml"

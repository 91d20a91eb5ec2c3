"""Every sample file is read to the values its expectation states, to 0.1 %."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Final

import pytest
from builders_formats import opened

from tonnage.domain.measurement import Level, Run, TextWork
from tonnage.formats import FORMATS, recognise
from tonnage.formats.reading.fields import as_number

if TYPE_CHECKING:
    from pathlib import Path

FILES: Final = (
    "ab/percentiles.csv",
    "ab/summary.txt",
    "aibrix/client_output.jsonl",
    "aiperf/2026-01_profile_export_aiperf_reasoning.json",
    "aiperf/v0.1.1_profile_export_aiperf.csv",
    "aiperf/v0.1.1_profile_export_aiperf.json",
    "aiperf/v0.13.0_conc4_with_errors.csv",
    "aiperf/v0.13.0_conc4_with_errors.json",
    "aiperf/v0.13.0_conc4_with_errors.jsonl",
    "aiperf/v0.13.0_nostream.csv",
    "aiperf/v0.13.0_sweep.csv",
    "aiperf/v0.8.0_agentic_conc16.json",
    "artillery/v2_report.json",
    "evalscope/docs_stdout_concurrency200.txt",
    "evalscope/v1.14.1_parallel2_benchmark_percentile.json",
    "evalscope/v1.14.1_parallel2_benchmark_summary.json",
    "evalscope/v1.14.1_parallel4_benchmark_percentile.json",
    "evalscope/v1.14.1_parallel4_benchmark_summary.json",
    "evalscope/v1.14.1_performance_summary.txt",
    "fortio/qps1000_c16_both.json",
    "fortio/qps1000_c1_base.json",
    "gatling/global_stats.json",
    "gatling/stats_trimmed.json",
    "genai-perf/profile_export_genai_perf_2025-09-30.json",
    "gke-inference-benchmark/new_units_per_model.json",
    "gke-inference-benchmark/old_units_weighted.json",
    "guidellm/benchmarks_v0.2.1.csv",
    "guidellm/benchmarks_v0.2.1.json",
    "guidellm/benchmarks_v0.3.1.yaml",
    "guidellm/benchmarks_v0.3.1_poisson.csv",
    "guidellm/benchmarks_v0.3.1_with_errors.json",
    "guidellm/benchmarks_v0.5.0.dev0_concurrent4.json",
    "guidellm/benchmarks_v0.8.1_with_errors.csv",
    "guidellm/benchmarks_v0.8.1_with_errors_trimmed.json",
    "hey/requests.csv",
    "inference-perf/vllm_batch_size_stage_3_lifecycle_metrics.json",
    "inference-perf/vllm_stage_0_lifecycle_metrics.json",
    "inference-perf/vllm_stage_1_lifecycle_metrics.json",
    "inference-perf/vllm_stage_2_lifecycle_metrics.json",
    "inference-perf/vllm_stage_3_lifecycle_metrics.json",
    "inference-perf/vllm_stage_4_lifecycle_metrics.json",
    "inference-perf/vllm_stage_5_lifecycle_metrics.json",
    "inference-perf/vllm_stage_6_lifecycle_metrics.json",
    "inference-perf/vllm_summary_lifecycle_metrics.json",
    "inferencex/agg_dsr1_tp4_agentic_users128.json",
    "inferencex/agg_kimik2.5_1k1k_vllm_tp8_conc4.json",
    "inferencex/raw_kimik2.5_1k1k_conc4.json",
    "jmeter/results_403.jtl",
    "jmeter/results_403_statistics.json",
    "k6/end_of_test_stdout_v1.1.0.txt",
    "k6/handlesummary_translation_service.json",
    "k6/summary_export_v1.1.0_arrival_rate.json",
    "k6/summary_export_v1.1.0_failures.json",
    "llama-bench/rtx4090_15b.json",
    "llama-benchy/v0.4.0_result.csv",
    "llama-benchy/v0.4.0_result.json",
    "llm-d-benchmark/br_v0_1_example.yaml",
    "llm-d-benchmark/br_v0_2_example.yaml",
    "llm-inference-bench/All_results_first_400_rows.csv",
    "llmperf/leaderboard_individual_groq_70b.json",
    "llmperf/leaderboard_summary_anyscale_70b.json",
    "llmperf/leaderboard_summary_groq_70b.json",
    "llmperf/multi_concurrency_llama3_8b.json",
    "lmbenchmark/vllm-70b_short_input_qps5.csv",
    "locust/llm_stats.csv",
    "locust/llm_stats_history.csv",
    "mlperf/1xH200_sparse_llama2-70b_Offline_summary.txt",
    "mlperf/4xH100_gptj_Server_summary.txt",
    "mlperf/8xMI300X_llama2-70b_Offline_summary.txt",
    "mlperf/8xMI300X_llama2-70b_Server_detail.txt",
    "mlperf/8xMI300X_llama2-70b_Server_summary.txt",
    "oha/v1.16.0_report.json",
    "perf_analyzer/inception_graphdef_concurrency_1-4.csv",
    "perf_analyzer/resnet50_netdef_concurrency_1-4.csv",
    "sglang/bench_serving_v0.5.23_with_failures.jsonl",
    "sglang/llama_405b_online.jsonl",
    "sglang/llama_70b_offline.jsonl",
    "trtllm-bench/stdout_0.21.0rc0_streaming.txt",
    "trtllm-bench/stdout_deepseek-r1_b200_nonstreaming.txt",
    "vegeta/connection_refused_report.json",
    "vegeta/seldon_rest_report.json",
    "vegeta/seldon_second_report.json",
    "vllm/nightly_tables_deepseek-v2.5.json",
    "vllm/serve_2025-04_llama70b_qps01_detail_trimmed.json",
    "vllm/serve_2025-04_llama70b_qps16_detail_trimmed.json",
    "vllm/serve_2025-04_llama70b_qpsinf_detail_trimmed.json",
    "vllm/serve_2025-05_llm-d_1p1d.json",
    "vllm/serve_2025-05_llm-d_H100_2p1d.json",
    "vllm/serve_gpt-oss-120b_conc128.json",
    "vllm/serve_stdout_conc64.log",
    "vllm/serve_v0.25.1.json",
    "vllm/serve_v0.33.0_append.json",
    "vllm/serve_v0.33.0_detailed_with_failures.json",
    "vllm/sweep_summary_v0.25.1.json",
    "vllm/sweep_summary_v0.33.0.csv",
    "wrk/latency_with_errors.txt",
)
TOLERANCE: Final = 0.001
# The expectation of a file of two decimals was taken from the exact file beside it.
ROUNDED: Final = 0.005001
LOADS: Final = {
    "concurrency": "concurrency",
    "request_rate": "offered_requests_per_s",
    "num_completed": "completed_count",
    "num_failed": "failed_count",
    "duration_s": "duration_s",
    "request_throughput_rps": "requests_per_s",
    "output_token_throughput_tps": "output_tokens_per_s",
    "total_token_throughput_tps": "total_tokens_per_s",
    "reported_rps": "reported_requests_per_s",
}
TOKENS: Final = {"mean_input_tokens": "input_tokens_mean", "mean_output_tokens": "output_tokens_mean"}
# Stated by us and left blank by the expectation, each for a reason.
EXCUSED: Final = {
    (
        "aiperf/v0.13.0_conc4_with_errors.jsonl",
        "total_token_throughput_tps",
    ): "follows from the same rows as the output",
}


def levels_of(path: Path) -> list[tuple[Run, Level]]:
    source = opened(path)
    runs = [item for item in recognise(source).read(source) if isinstance(item, Run)]
    return [(run, level) for run in runs for level in run.levels]


def stated(row: dict[str, str]) -> dict[str, float | str]:
    """Return the cells that state something, as numbers where they are."""
    found: dict[str, float | str] = {"model": row["model"]} if row["model"] else {}
    for column, cell in row.items():
        if column not in {"file", "tool", "model", "point", "note"} and cell:
            number = as_number(cell, column)
            assert number is not None
            found[column] = number
    return found


def value_of(run: Run, level: Level, column: str) -> object:
    if column == "model":
        return run.configuration.model
    if column in LOADS:
        return getattr(level, LOADS[column])
    if column in TOKENS:
        assert isinstance(level.work, TextWork)
        return getattr(level.work, TOKENS[column])
    metric, statistic, _ = column.split("_")
    return level.latency(metric).value_ms(statistic)  # type: ignore[arg-type]


def differences(run: Run, level: Level, row: dict[str, str]) -> dict[str, tuple[object, object]]:
    """Return the columns in which a level differs from an expected row; a blank cell must be absent."""
    wanted = stated(row)
    found: dict[str, tuple[object, object]] = {}
    for column in ("model", *LOADS, *TOKENS, *[name for name in row if name.endswith("_ms")]):
        have, want = value_of(run, level, column), wanted.get(column)
        if (row["file"], column) in EXCUSED:
            continue
        if not agrees(have, want, slack=ROUNDED if "two decimals" in row["note"] else 0.0):
            found[column] = (have, want)
    return found


def agrees(have: object, want: object, *, slack: float) -> bool:
    if want is None:
        return have is None
    if isinstance(want, float) and isinstance(have, int | float):
        return abs(have - want) <= max(TOLERANCE * max(abs(have), abs(want)), slack)
    return have == want


@pytest.mark.parametrize("name", FILES)
def test_each_expected_row_is_what_one_level_of_the_file_says(shared: Path, name: str) -> None:
    with (shared / "samples/expected.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["file"] == name]
    left = levels_of(shared / "samples" / name)
    for row in rows:
        judged = sorted(
            ((differences(run, level, row), place) for place, (run, level) in enumerate(left)),
            key=lambda item: len(item[0]),
        )
        assert judged, f"no level left for {row['point'] or name}"
        best, place = judged[0]
        assert not best, f"{name} {row['point']}: (read, expected) {best}"
        left.pop(place)


def test_the_list_of_samples_is_the_handed_one(shared: Path) -> None:
    with (shared / "samples/expected.csv").open() as lines:
        assert sorted({row["file"] for row in csv.DictReader(lines)}) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
def test_no_two_readers_claim_a_sample_alike(shared: Path, name: str) -> None:
    head = opened(shared / "samples" / name).head
    claims = sorted((match.score, reader.name) for reader in FORMATS if (match := reader.recognises(head)) is not None)
    assert claims
    assert len(claims) == 1 or claims[-1][0] > claims[-2][0], claims

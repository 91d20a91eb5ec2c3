"""Requests that were sent and neither completed nor failed are told."""

from __future__ import annotations

import json

import pytest
from builders_formats import only_level

VLLM = {
    "backend": "vllm",
    "model_id": "m",
    "num_prompts": 120,
    "completed": 100,
    "duration": 50.0,
    "request_throughput": 2.0,
    "total_input_tokens": 1000,
    "total_output_tokens": 500,
    "output_throughput": 10.0,
    "mean_ttft_ms": 50.0,
}
LLMPERF = {
    "model": "m",
    "num_concurrent_requests": 4,
    "results_ttft_s_mean": 0.1,
    "results_num_requests_started": 120,
    "results_num_completed_requests": 100,
    "results_num_completed_requests_per_min": 120.0,
}
EVALSCOPE = {
    "Concurrency": 4,
    "Total Requests": 120,
    "Success Requests": 100,
    "Test Duration (s)": 50.0,
    "Avg Latency (s)": 0.5,
}
HUGGING_FACE = {
    "id": "constant@2",
    "executor_type": "ConstantArrivalRate",
    "config": {"rate": 2.0},
    "total_requests": 120,
    "successful_requests": 100,
    "request_rate": 2.0,
    "duration_ms": 50_000.0,
}


def _report(tool: str, failed: int | None) -> dict[str, object]:
    match tool:
        case "vllm":
            return {**VLLM, "failed": failed}
        case "llmperf":
            return {**LLMPERF, "results_number_errors": failed}
        case "evalscope":
            return {**EVALSCOPE, "Failed Requests": failed}
        case _:
            return {"config": {}, "results": [{**HUGGING_FACE, "failed_requests": failed}]}


def _hidden(tool: str, failed: int | None) -> list[str]:
    level = only_level(json.dumps(_report(tool, failed)))
    assert level.completed_count == 100
    assert level.usable
    return [item.message for item in level.findings if item.code == "FAILURES_HIDDEN"]


TOOLS = pytest.mark.parametrize("tool", ["vllm", "llmperf", "evalscope", "hugging-face"])


@TOOLS
def test_requests_nobody_accounts_for_are_counted(tool: str) -> None:
    (message,) = _hidden(tool, 5)
    assert "120 requests were sent, 100 completed and 5 failed: 15 are not accounted for" in message


@TOOLS
@pytest.mark.parametrize("failed", [20, None])
def test_failures_that_are_stated_or_not_known_are_not_called_hidden(tool: str, failed: int | None) -> None:
    assert _hidden(tool, failed) == []


def test_gke_attempts_beyond_successes_and_errors_are_counted() -> None:
    metrics = {
        "num_prompts_attempted": 120,
        "num_prompts_succeeded": 100,
        "request_rate": 2.0,
        "benchmark_time": 50.0,
        "throughput_rps": 2.0,
        "TimeoutError": 5,
    }
    level = only_level(json.dumps({"metrics": metrics, "dimensions": {"model_id": "m"}, "summary_stats": {}}))
    assert (level.failed_count, [item.code for item in level.findings]) == (5, ["FAILURES_HIDDEN"])

"""Builders that ask only for what matters to a test."""

from __future__ import annotations

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import ArrivalKind, Latency, Level, Run, TextWork


def a_configuration(**changes: object) -> Configuration:
    """Return a complete configuration."""
    stated: dict[str, object] = {
        "model": "meta-llama/Llama-3.1-8B-Instruct",
        "accelerator": "h100-sxm-80gb",
        "accelerators_per_replica": 1,
        "tensor_parallel": 1,
        "engine": "vllm",
        "engine_version": "0.19",
        "weight_precision": "bf16",
    }
    return Configuration(**{**stated, **changes})  # type: ignore[arg-type]


def a_level(concurrency: float, requests_per_s: float, **changes: object) -> Level:
    """Return a closed-loop level with 1,000 in and 100 out that obeys Little's law."""
    e2e_ms = 1000 * concurrency / requests_per_s
    stated: dict[str, object] = {
        "work": TextWork(input_tokens_mean=1000.0, output_tokens_mean=100.0),
        "concurrency": concurrency,
        "requests_per_s": requests_per_s,
        "output_tokens_per_s": requests_per_s * 100,
        "completed_count": 1000,
        "failed_count": 0,
        "duration_s": 1000 / requests_per_s,
        "e2e": Latency(mean_ms=e2e_ms),
    }
    return Level(**{**stated, **changes})  # type: ignore[arg-type]


def a_run(*levels: Level, **changes: object) -> Run:
    """Return a run of one replica over the given levels."""
    stated: dict[str, object] = {
        "tool": "vllm-bench-serve",
        "metric_definitions": "vllm-serve-1",
        "levels": tuple(levels),
        "configuration": a_configuration(),
        "replicas_under_test": 1,
        "arrival_kind": ArrivalKind.CLOSED,
        "sweep_id": "sweep-1",
        "run_id": "00000000-0000-0000-0000-000000000001",
        "report_id": "ab" * 32,
    }
    return Run(**{**stated, **changes})  # type: ignore[arg-type]

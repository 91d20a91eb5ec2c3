"""Bulk tables for tests and the bench: sweeps of one text model that obey what the lint asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import numpy.typing as npt

LEVELS = 10


def a_bulk_table(run_count: int = 2, *, level_count: int = LEVELS, first: int = 0, **columns: object) -> pa.Table:
    """Return ``run_count`` closed-loop sweeps of ``level_count`` levels; keyword columns are added or replaced.

    Concurrency doubles from level to level; latencies grow with it, and differ from run to run by ``first``.
    """
    row_count = run_count * level_count
    run = np.repeat(np.arange(first, first + run_count), level_count)
    concurrency = 2.0 ** np.tile(np.arange(level_count), run_count)
    ttft = 40.0 + 2.0 * concurrency + run % 97 / 10
    tpot = 8.0 + concurrency / 8 + run % 89 / 100
    e2e = ttft + tpot * 99
    rate = concurrency / e2e * 1000
    held: dict[str, object] = {
        "run": np.char.add("r", run.astype(str)),
        "tool": ["vllm-bench-serve"] * row_count,
        "metric_definitions": ["vllm-serve-1"] * row_count,
        "model": np.char.add("team/model-", (run // 50 % 40).astype(str)),
        "weight_precision": ["bf16"] * row_count,
        "engine": ["vllm"] * row_count,
        "engine_version": ["0.19.2"] * row_count,
        "accelerator": ["H100-SXM5-80GB"] * row_count,
        "accelerators_per_replica": np.ones(row_count, dtype=np.int64),
        "tensor_parallel": np.ones(row_count, dtype=np.int64),
        "replicas_under_test": np.ones(row_count, dtype=np.int64),
        "sweep_id": np.char.add("sweep-", run.astype(str)),
        "measured_at": pa.array(1_780_000_000_000_000 + run, pa.timestamp("us", tz="UTC")),
        "input_tokens_mean": 900.0 + run % 300,
        "output_tokens_mean": np.full(row_count, 100.0),
        "concurrency": concurrency,
        "requests_per_s": rate,
        "output_tokens_per_s": rate * 100,
        "duration_s": 1000 / rate,
        "completed_count": np.full(row_count, 1000),
        "failed_count": np.zeros(row_count, dtype=np.int64),
        **_statistics("ttft", ttft),
        **_statistics("tpot", tpot),
        **_statistics("e2e", e2e),
    }
    return pa.table({**held, **columns})


def _statistics(metric: str, mean_ms: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[np.float64]]:
    factors = {"mean": 1.0, "p50": 0.95, "p90": 1.3, "p95": 1.5, "p99": 2.0}
    return {f"{metric}_{statistic}_ms": mean_ms * factor for statistic, factor in factors.items()}


def ipc(table: pa.Table, *, compression: str | None = None) -> bytes:
    """Return a table as one whole Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data

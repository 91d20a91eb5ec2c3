"""Make the sample runs under bench_data/seed from a table of published runs.

Usage: python tools/make_seed.py RUNS_CSV

Only rows of sources with a stated open licence are taken, one file a source. Nothing is filled in that the
source does not say, but for two readings that are written into the rows (`label_reading`): a served checkpoint
without a quantization flag keeps its own precision, and a folder named "h100sxm5" means the SXM card.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

SEED = Path(__file__).resolve().parent.parent / "bench_data" / "seed"

SOURCES = {
    "ifx_slo": ("SemiAnalysisAI/InferenceX experimental/token_position_decode_slo", "Apache-2.0", "vllm-bench-serve"),
    "gpustack_lab": ("gpustack/gpustack docs/performance-lab", "Apache-2.0", "published-table"),
    "dstack_pd": ("dstackai/benchmarks comparison/pd_ratio", "Apache-2.0", "published-table"),
    "dstack_405b": ("dstackai/benchmarks comparison/h100sxm5_vs_mi300x", "Apache-2.0", "published-table"),
    "kaito_guidellm": ("kaito-project/kaito website/docs/benchmarks", "Apache-2.0", "guidellm"),
    "infperf_kubecon": ("kubernetes-sigs/inference-perf demos/kubecon-na-2025", "Apache-2.0", "inference-perf"),
    "datacrunch_h200": ("datacrunch-research/h200-benchmarks sglang/outputs", "MIT", "sglang-bench-serving"),
    "fmbench": ("aws-samples/foundation-model-benchmarking-tool data/metrics", "MIT-0", "published-table"),
}
CHECKPOINT_PRECISION = {"MiniMaxAI/MiniMax-M2.5": "fp8", "meta-llama/Llama-3.1-8B-Instruct": "bf16"}
STATISTICS = [f"{metric}_{stat}_ms" for metric in ("ttft", "tpot", "e2e") for stat in ("mean", "p50", "p95", "p99")]
COLUMNS = [
    "source", "tool", "sweep_id", "measured_at", "model", "model_revision", "weight_precision", "kv_cache_type",
    "engine", "engine_version", "accelerator", "accelerators_per_replica", "tensor_parallel", "pipeline_parallel",
    "expert_parallel", "data_parallel", "speculative_decoding", "serving_mode", "max_num_seqs", "max_model_len",
    "replicas_under_test", "arrival_kind", "concurrency", "offered_requests_per_s", "input_tokens_mean",
    "output_tokens_mean", "completed_count", "failed_count", "duration_s", "requests_per_s", "output_tokens_per_s",
    "total_tokens_per_s", *STATISTICS, "itl_p99_ms", "label_reading", "label_variant",
]  # fmt: skip


def main(table: str) -> None:
    """Write one file a source."""
    with Path(table).open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    SEED.mkdir(parents=True, exist_ok=True)
    for source_id in SOURCES:
        chosen = [converted(row) for row in rows if row["source_id"] == source_id]
        kept = [column for column in COLUMNS if any(row.get(column) for row in chosen)]
        with (SEED / f"{source_id}.csv").open("w", encoding="utf-8", newline="") as opened:
            writer = csv.DictWriter(opened, kept, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(chosen)
        print(f"{source_id}: {len(chosen)} levels")


def converted(row: dict[str, str]) -> dict[str, str]:
    """Return one published row in our columns; empty where the source is silent."""
    place, licence, tool = SOURCES[row["source_id"]]
    precision, accelerator, reading = readings(row)
    single = row["mode"] == "agg"
    count = row["gpu_count"]
    result = {
        "source": f"{place} ({licence})",
        "tool": tool,
        "sweep_id": f"{row['source_id']}-{row['curve_id']}",
        "measured_at": row["date"] if re.fullmatch(r"\d{4}-\d\d-\d\d", row["date"]) else "",
        "model": row["model"],
        "model_revision": row["model_revision"],
        "weight_precision": precision,
        "kv_cache_type": row["kv_dtype"],
        "engine": row["engine"],
        "engine_version": row["engine_version"],
        "accelerator": accelerator,
        "accelerators_per_replica": count,
        "tensor_parallel": row["tp"] if single else "",
        "pipeline_parallel": row["pp"] if single else "",
        "expert_parallel": row["ep"] if single else "",
        "data_parallel": row["dp"] if single else "",
        "speculative_decoding": {"spec": "yes"}.get(row["spec_decode"], row["spec_decode"]),
        "serving_mode": "aggregated" if single else "split",
        "max_num_seqs": flag(row["note"], "max-num-seqs"),
        "max_model_len": flag(row["note"], "max-model-len"),
        "replicas_under_test": "1" if not single or row["tp"] == count else "",
        "arrival_kind": "open" if row["request_rate"] else "closed",
        "concurrency": row["concurrency"],
        "offered_requests_per_s": row["request_rate"],
        "input_tokens_mean": row["isl_mean"],
        "output_tokens_mean": row["osl_mean"],
        "completed_count": row["num_requests"],
        "failed_count": "0" if row["error_rate"] == "0" else "",
        "duration_s": row["duration_s"],
        "requests_per_s": row["request_throughput_rps"],
        "output_tokens_per_s": row["output_tps"],
        "total_tokens_per_s": row["total_tps"],
        "itl_p99_ms": row["itl_p99_ms"],
        "label_reading": reading,
        "label_variant": variant(row),
    }
    return result | {column: row[column] for column in STATISTICS}


def readings(row: dict[str, str]) -> tuple[str, str, str]:
    """Return precision, accelerator and the words on what was read into the source."""
    precision, accelerator, words = row["precision"], row["gpu"], []
    if not precision and row["model"] in CHECKPOINT_PRECISION and "quantization" not in row["note"]:
        precision = CHECKPOINT_PRECISION[row["model"]]
        words.append("precision is the checkpoint's own: no quantization flag is published")
    if row["source_id"] == "dstack_405b" and accelerator == "H100":
        accelerator = "H100 SXM"
        words.append("the published folder names h100sxm5")
    return precision, accelerator, "; ".join(words)


def flag(note: str, name: str) -> str:
    """Return the value of an engine flag a note quotes, or nothing."""
    found = re.search(rf"{name}[ =](\d+)", note)
    return found.group(1) if found else ""


def variant(row: dict[str, str]) -> str:
    """Return the source's own words for the variant, short."""
    return row["note"].split(";")[0][:80]


if __name__ == "__main__":
    main(sys.argv[1])

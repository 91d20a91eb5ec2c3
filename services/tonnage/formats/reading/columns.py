"""The columns of our own table: their names, and what each becomes."""

from __future__ import annotations

import re
from typing import Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import METRICS, STATISTICS
from tonnage.units import MS_PER_S, NS_PER_MS, US_PER_MS

LEVEL_NUMBERS: Final = (
    "requests_per_s",
    "output_tokens_per_s",
    "total_tokens_per_s",
    "reported_requests_per_s",
    "duration_s",
)
# Rates of one accelerator, times the ``accelerator_count`` under test; a label too, from which ingest tells replicas.
RATES_PER_ACCELERATOR: Final = {
    f"{rate}_per_accelerator": rate for rate in ("requests_per_s", "output_tokens_per_s", "total_tokens_per_s")
}
ACCELERATOR_COUNT: Final = "accelerator_count"
LEVEL_LOADS: Final = ("concurrency", "offered_requests_per_s")
LEVEL_COUNTS: Final = ("completed_count", "failed_count")
LATENCIES: Final = tuple(f"{metric}_{statistic}_ms" for metric in METRICS for statistic in STATISTICS)
# Column to field of each modality's work; text is what a row without any of the others is.
WORKS: Final = {
    "text": {
        "input_tokens_mean": "input_tokens_mean",
        "output_tokens_mean": "output_tokens_mean",
        "prefix_cache_hit_ratio": "prefix_cache_hit_ratio",
    },
    "image": {
        "image_megapixels": "megapixels",
        "image_step_count": "step_count",
        "images_per_request": "images_per_request",
    },
    "audio": {"audio_s": "audio_s"},
    "video": {"video_frame_count": "frame_count", "video_megapixels": "megapixels"},
    "embedding": {
        "embedding_input_tokens_mean": "input_tokens_mean",
        "embedding_items_per_request": "items_per_request",
    },
}
TELEMETRY: Final = (
    "accelerator_utilization_ratio",
    "vram_peak_bytes",
    "cpu_utilization_ratio",
    "queue_length_mean",
    "batch_size_mean",
    "kv_cache_usage_ratio",
    "power_w",
)
QUALITY: Final = ("quality_suite", "quality_suite_version", "quality_score")
CONFIGURATION: Final = tuple(Configuration.__dataclass_fields__)
CONDITIONS: Final = (
    "driver_version",
    "runtime_version",
    "engine_patch_version",
    "host",
    "image",
    "topology",
    "provider",
)
RUN: Final = (
    "tool",
    "tool_version",
    "metric_definitions",
    "replicas_under_test",
    "arrival_kind",
    "state",
    "sample_set",
    "measured_at",
    "sweep_id",
    "source",
)
LABEL_PREFIX: Final = "label_"
WORK_COLUMNS: Final = tuple(column for columns in WORKS.values() for column in columns)
MEASURED: Final = frozenset({*LEVEL_NUMBERS, *RATES_PER_ACCELERATOR, *LATENCIES})
KNOWN: Final = frozenset(
    {
        *LEVEL_NUMBERS,
        *RATES_PER_ACCELERATOR,
        ACCELERATOR_COUNT,
        *LEVEL_LOADS,
        *LEVEL_COUNTS,
        *LATENCIES,
        *WORK_COLUMNS,
        *TELEMETRY,
        *QUALITY,
        *CONFIGURATION,
        *CONDITIONS,
        *RUN,
        "modality",
    }
)
_LATENCY: Final = re.compile(rf"({'|'.join(METRICS)})_({'|'.join(STATISTICS)})_(ms|s|us|ns)")
_TO_MS: Final = {"ms": 1.0, "s": MS_PER_S, "us": 1 / US_PER_MS, "ns": 1 / NS_PER_MS}


def canonical(column: str) -> tuple[str, float] | None:
    """Return our name of a column and the factor to our unit, or None when it is none of ours.

    A latency may be given in another unit, which its name says: ``ttft_mean_s``.
    """
    if column in KNOWN or (column.startswith(LABEL_PREFIX) and len(column) > len(LABEL_PREFIX)):
        return column, 1.0
    found = _LATENCY.fullmatch(column)
    if found is None:
        return None
    return f"{found[1]}_{found[2]}_ms", _TO_MS[found[3]]

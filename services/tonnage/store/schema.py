"""The tables of the store as Arrow schemas; ``docs/store.md`` says what each column means."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

import pyarrow as pa

from tonnage.domain.configuration import FIELD_NAMES
from tonnage.domain.measurement import METRICS, STATISTICS, Telemetry

SCHEMA_VERSION: Final = 2

_TEXT: Final = pa.string()
_COUNT: Final = pa.int64()
_NUMBER: Final = pa.float64()
_FLAG: Final = pa.bool_()
_TIME: Final = pa.timestamp("us", tz="UTC")
_BYTES: Final = pa.binary()

_IDENTITY_TYPES: Final = {
    "accelerators_per_replica": _COUNT,
    "chunked_prefill": _FLAG,
    "data_parallel": _COUNT,
    "expert_parallel": _COUNT,
    "lora_adapter_count": _COUNT,
    "max_model_len": _COUNT,
    "max_num_batched_tokens": _COUNT,
    "max_num_seqs": _COUNT,
    "pipeline_parallel": _COUNT,
    "prefix_caching": _FLAG,
    "tensor_parallel": _COUNT,
}
IDENTITY: Final = tuple((name, _IDENTITY_TYPES.get(name, _TEXT)) for name in FIELD_NAMES)

# What a run and each of its points carry alike, so that one table answers most questions.
_SHARED: Final = (
    ("namespace", _TEXT),
    ("run_id", _TEXT),
    ("report_id", _TEXT),
    ("fingerprint", _TEXT),
    ("sweep_id", _TEXT),
    ("tool", _TEXT),
    ("metric_definitions", _TEXT),
    ("arrival_kind", _TEXT),
    ("sample_set", _TEXT),
    ("state", _TEXT),
    ("replicas_under_test", _COUNT),
    *IDENTITY,
    ("measured_at", _TIME),
    ("ingested_at", _TIME),
    ("data_version", _COUNT),
)

LATENCIES: Final = tuple(f"{metric}_{statistic}_ms" for metric in METRICS for statistic in STATISTICS)
_TELEMETRY_COUNTS: Final = frozenset({"vram_peak_bytes"})
TELEMETRY: Final = tuple(
    (item.name, _COUNT if item.name in _TELEMETRY_COUNTS else _NUMBER) for item in fields(Telemetry)
)
WORK: Final = (
    "input_tokens_mean",
    "output_tokens_mean",
    "prefix_cache_hit_ratio",
    "megapixels",
    "step_count",
    "images_per_request",
    "audio_s",
    "frame_count",
    "items_per_request",
)

# What one load level says, whatever run it belongs to.
LEVEL: Final = (
    ("level_index", _COUNT),
    ("work_kind", _TEXT),
    *((name, _NUMBER) for name in WORK),
    ("concurrency", _NUMBER),
    ("offered_requests_per_s", _NUMBER),
    ("requests_per_s", _NUMBER),
    ("output_tokens_per_s", _NUMBER),
    ("total_tokens_per_s", _NUMBER),
    ("reported_requests_per_s", _NUMBER),
    ("duration_s", _NUMBER),
    ("completed_count", _COUNT),
    ("failed_count", _COUNT),
    *((name, _NUMBER) for name in LATENCIES),
    ("has_telemetry", _FLAG),
    *TELEMETRY,
    ("quality_suite", _TEXT),
    ("quality_suite_version", _TEXT),
    ("quality_score", _NUMBER),
    ("tenants", _TEXT),
    ("location", _TEXT),
    ("findings", _TEXT),
    ("usable", _FLAG),
)

TABLES: Final[dict[str, pa.Schema]] = {
    "points": pa.schema(
        [*_SHARED, ("point_index", _COUNT), ("first_band", _COUNT), ("second_band", _COUNT), *LEVEL],
    ),
    "runs": pa.schema(
        [
            *_SHARED,
            ("ordinal", _COUNT),
            ("filename", _TEXT),
            ("tool_version", _TEXT),
            ("state_origin", _TEXT),
            ("driver_version", _TEXT),
            ("runtime_version", _TEXT),
            ("engine_patch_version", _TEXT),
            ("host", _TEXT),
            ("image", _TEXT),
            ("topology", _TEXT),
            ("provider", _TEXT),
            ("labels", _TEXT),
            ("findings", _TEXT),
            ("ingested_by", _TEXT),
            ("ci_job", _TEXT),
            ("source", _TEXT),
            ("level_count", _COUNT),
            ("usable_level_count", _COUNT),
            ("work_sums", _TEXT),
        ],
    ),
    "run_events": pa.schema(
        [
            ("namespace", _TEXT),
            ("run_id", _TEXT),
            ("kind", _TEXT),
            ("reason", _TEXT),
            ("actor", _TEXT),
            ("happened_at", _TIME),
            ("event_index", _COUNT),
            ("data_version", _COUNT),
        ],
    ),
    "reports": pa.schema(
        [
            ("namespace", _TEXT),
            ("report_id", _TEXT),
            ("filename", _TEXT),
            ("size_bytes", _COUNT),
            ("format", _TEXT),
            ("given", _TEXT),
            ("ingested_at", _TIME),
            ("data_version", _COUNT),
        ],
    ),
    "requests": pa.schema(
        [
            ("namespace", _TEXT),
            ("request_id", _TEXT),
            ("kind", _TEXT),
            ("body_digest", _TEXT),
            ("receipt", _TEXT),
            ("answered_at", _TIME),
            ("data_version", _COUNT),
        ],
    ),
    "plans": pa.schema(
        [
            ("namespace", _TEXT),
            ("plan_id", _TEXT),
            ("release", _TEXT),
            ("plan_data_version", _COUNT),
            ("body", _BYTES),
            ("recorded_by", _TEXT),
            ("recorded_at", _TIME),
        ],
    ),
    "commits": pa.schema(
        [
            ("namespace", _TEXT),
            ("data_version", _COUNT),
            ("committed_at", _TIME),
            ("schema_version", _COUNT),
            ("run_count", _COUNT),
            ("point_count", _COUNT),
            ("event_count", _COUNT),
        ],
    ),
    "schema_migrations": pa.schema(
        [
            ("namespace", _TEXT),
            ("version", _COUNT),
            ("applied_at", _TIME),
            ("what", _TEXT),
        ],
    ),
}

_SQL_TYPES: Final = {
    _TEXT: "VARCHAR",
    _COUNT: "BIGINT",
    _NUMBER: "DOUBLE",
    _FLAG: "BOOLEAN",
    _TIME: "TIMESTAMPTZ",
    _BYTES: "BLOB",
}


def sql_columns(schema: pa.Schema) -> str:
    """Return the column list of a CREATE TABLE."""
    return ", ".join(f'"{item.name}" {_SQL_TYPES[item.type]}' for item in schema)


def names(table: str) -> tuple[str, ...]:
    """Return the column names of a table, in order."""
    return tuple(TABLES[table].names)

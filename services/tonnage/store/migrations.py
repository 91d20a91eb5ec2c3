"""Versioned steps that bring the tables of a store to this release's schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.errors import SchemaTooNew

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import duckdb


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step; its statements run in one transaction, each in the catalog named ``lake``."""

    version: int
    what: str
    statements: tuple[str, ...]


# A step is never edited once released: stores out there were made by it.
_FIRST_TABLES: Final = (
    """
    CREATE TABLE lake.points (
        namespace VARCHAR, run_id VARCHAR, report_id VARCHAR, fingerprint VARCHAR, sweep_id VARCHAR, tool
        VARCHAR, metric_definitions VARCHAR, arrival_kind VARCHAR, sample_set VARCHAR, state VARCHAR,
        replicas_under_test BIGINT, accelerator VARCHAR, accelerators_per_replica BIGINT, chunked_prefill
        BOOLEAN, data_parallel BIGINT, engine VARCHAR, engine_version VARCHAR, expert_parallel BIGINT,
        kv_cache_type VARCHAR, lora_adapter_count BIGINT, max_model_len BIGINT, max_num_batched_tokens
        BIGINT, max_num_seqs BIGINT, model VARCHAR, model_revision VARCHAR, pipeline_parallel BIGINT,
        prefix_caching BOOLEAN, serving_mode VARCHAR, speculative_decoding VARCHAR, tensor_parallel BIGINT,
        weight_precision VARCHAR, measured_at TIMESTAMPTZ, ingested_at TIMESTAMPTZ, data_version BIGINT,
        point_index BIGINT, first_band BIGINT, second_band BIGINT, level_index BIGINT, work_kind VARCHAR,
        input_tokens_mean DOUBLE, output_tokens_mean DOUBLE, prefix_cache_hit_ratio DOUBLE, megapixels
        DOUBLE, step_count DOUBLE, images_per_request DOUBLE, audio_s DOUBLE, frame_count DOUBLE,
        items_per_request DOUBLE, concurrency DOUBLE, offered_requests_per_s DOUBLE, requests_per_s DOUBLE,
        output_tokens_per_s DOUBLE, total_tokens_per_s DOUBLE, reported_requests_per_s DOUBLE, duration_s
        DOUBLE, completed_count BIGINT, failed_count BIGINT, ttft_mean_ms DOUBLE, ttft_p50_ms DOUBLE,
        ttft_p90_ms DOUBLE, ttft_p95_ms DOUBLE, ttft_p99_ms DOUBLE, tpot_mean_ms DOUBLE, tpot_p50_ms DOUBLE,
        tpot_p90_ms DOUBLE, tpot_p95_ms DOUBLE, tpot_p99_ms DOUBLE, itl_mean_ms DOUBLE, itl_p50_ms DOUBLE,
        itl_p90_ms DOUBLE, itl_p95_ms DOUBLE, itl_p99_ms DOUBLE, e2e_mean_ms DOUBLE, e2e_p50_ms DOUBLE,
        e2e_p90_ms DOUBLE, e2e_p95_ms DOUBLE, e2e_p99_ms DOUBLE, queue_mean_ms DOUBLE, queue_p50_ms DOUBLE,
        queue_p90_ms DOUBLE, queue_p95_ms DOUBLE, queue_p99_ms DOUBLE, has_telemetry BOOLEAN,
        accelerator_utilization_ratio DOUBLE, vram_peak_bytes BIGINT, cpu_utilization_ratio DOUBLE,
        queue_length_mean DOUBLE, batch_size_mean DOUBLE, kv_cache_usage_ratio DOUBLE, power_w DOUBLE,
        quality_suite VARCHAR, quality_suite_version VARCHAR, quality_score DOUBLE, tenants VARCHAR,
        location VARCHAR, findings VARCHAR, usable BOOLEAN
    )
    """,
    """
    CREATE TABLE lake.runs (
        namespace VARCHAR, run_id VARCHAR, report_id VARCHAR, fingerprint VARCHAR, sweep_id VARCHAR, tool
        VARCHAR, metric_definitions VARCHAR, arrival_kind VARCHAR, sample_set VARCHAR, state VARCHAR,
        replicas_under_test BIGINT, accelerator VARCHAR, accelerators_per_replica BIGINT, chunked_prefill
        BOOLEAN, data_parallel BIGINT, engine VARCHAR, engine_version VARCHAR, expert_parallel BIGINT,
        kv_cache_type VARCHAR, lora_adapter_count BIGINT, max_model_len BIGINT, max_num_batched_tokens
        BIGINT, max_num_seqs BIGINT, model VARCHAR, model_revision VARCHAR, pipeline_parallel BIGINT,
        prefix_caching BOOLEAN, serving_mode VARCHAR, speculative_decoding VARCHAR, tensor_parallel BIGINT,
        weight_precision VARCHAR, measured_at TIMESTAMPTZ, ingested_at TIMESTAMPTZ, data_version BIGINT,
        ordinal BIGINT, filename VARCHAR, tool_version VARCHAR, state_origin VARCHAR, driver_version
        VARCHAR, runtime_version VARCHAR, engine_patch_version VARCHAR, host VARCHAR, image VARCHAR,
        topology VARCHAR, provider VARCHAR, labels VARCHAR, findings VARCHAR, ingested_by VARCHAR, ci_job
        VARCHAR, source VARCHAR, level_count BIGINT, usable_level_count BIGINT, work_sums VARCHAR
    )
    """,
    """
    CREATE TABLE lake.run_events (
        namespace VARCHAR, run_id VARCHAR, kind VARCHAR, reason VARCHAR, actor VARCHAR, happened_at
        TIMESTAMPTZ, event_index BIGINT, data_version BIGINT
    )
    """,
    """
    CREATE TABLE lake.reports (
        namespace VARCHAR, report_id VARCHAR, filename VARCHAR, size_bytes BIGINT, format VARCHAR, given
        VARCHAR, ingested_at TIMESTAMPTZ, data_version BIGINT
    )
    """,
    """
    CREATE TABLE lake.requests (
        namespace VARCHAR, request_id VARCHAR, kind VARCHAR, body_digest VARCHAR, receipt VARCHAR,
        answered_at TIMESTAMPTZ, data_version BIGINT
    )
    """,
    """
    CREATE TABLE lake.commits (
        namespace VARCHAR, data_version BIGINT, committed_at TIMESTAMPTZ, schema_version BIGINT, run_count BIGINT,
        point_count BIGINT, event_count BIGINT
    )
    """,
    """
    CREATE TABLE lake.schema_migrations (
        namespace VARCHAR, version BIGINT, applied_at TIMESTAMPTZ, what VARCHAR
    )
    """,
    """
    ALTER TABLE lake.points SET SORTED BY (
        namespace ASC, fingerprint ASC, first_band ASC, second_band ASC, sweep_id ASC, run_id ASC, point_index ASC
    )
    """,
)

_PLANS: Final = (
    """
    CREATE TABLE lake.plans (
        namespace VARCHAR, plan_id VARCHAR, release VARCHAR, plan_data_version BIGINT, body BLOB, recorded_by VARCHAR,
        recorded_at TIMESTAMPTZ
    )
    """,
)

MIGRATIONS: Final = (
    Migration(version=1, what="points, runs, events, reports, requests, commits", statements=_FIRST_TABLES),
    Migration(version=2, what="plans that were recorded", statements=_PLANS),
)


def schema_version(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the version of the attached store; 0 when it has no tables yet."""
    found = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'lake' AND table_name = 'schema_migrations'"
    ).fetchone()
    if found is None or found[0] == 0:
        return 0
    newest = connection.execute("SELECT max(version) FROM lake.schema_migrations").fetchone()
    return 0 if newest is None or newest[0] is None else int(newest[0])


def refuse_newer(found: int, known: int) -> None:
    """Raise ``SchemaTooNew`` when a store is of a later release."""
    if found > known:
        raise SchemaTooNew(
            f"the store has schema {found} and this release knows {known}; use a release at least as new as the store",
            found=found,
            known=known,
        )


def migrate(
    connection: duckdb.DuckDBPyConnection, *, now: datetime, migrations: Sequence[Migration] = MIGRATIONS
) -> int:
    """Apply the steps the store lacks, each in its own transaction, and return how many; raise ``SchemaTooNew``."""
    found = schema_version(connection)
    refuse_newer(found, migrations[-1].version)
    missing = [step for step in migrations if step.version > found]
    for step in missing:
        _apply(connection, step, now)
    return len(missing)


def _apply(connection: duckdb.DuckDBPyConnection, step: Migration, now: datetime) -> None:
    connection.execute("BEGIN")
    try:
        for statement in step.statements:
            connection.execute(statement)
        connection.execute(
            "INSERT INTO lake.schema_migrations (namespace, version, applied_at, what) "
            "VALUES ('default', ?, ?::TIMESTAMPTZ, ?)",
            [step.version, now.isoformat(), step.what],
        )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise

"""Which Parquet files the lake's catalog names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """One Parquet file as the catalog knows it, of rows or of deletions; ``path`` stands below the data folder."""

    table: str
    path: Path
    size_bytes: int
    record_count: int


def data_files(connection: duckdb.DuckDBPyConnection) -> list[DataFile]:
    """Return the files of the attached lake, by path; those that only wait for their removal are not among them.

    Raises ``duckdb.Error``.
    """
    rows = connection.execute(
        """
        WITH tables AS (
            SELECT table_id, arg_max(table_name, begin_snapshot) AS table_name, arg_max(path, begin_snapshot) AS path,
                arg_max(schema_id, begin_snapshot) AS schema_id
            FROM __ducklake_metadata_lake.ducklake_table GROUP BY table_id
        ), files AS (
            SELECT table_id, path, path_is_relative, file_size_bytes, record_count
            FROM __ducklake_metadata_lake.ducklake_data_file
            UNION ALL SELECT table_id, path, path_is_relative, file_size_bytes, delete_count
            FROM __ducklake_metadata_lake.ducklake_delete_file
        ), schemas AS (
            SELECT schema_id, arg_max(path, begin_snapshot) AS path
            FROM __ducklake_metadata_lake.ducklake_schema GROUP BY schema_id
        )
        SELECT table_name, CASE WHEN file.path_is_relative THEN schemas.path || tables.path || file.path ELSE file.path
            END, file_size_bytes, record_count
        FROM files AS file JOIN tables USING (table_id)
            JOIN schemas USING (schema_id)
        ORDER BY ALL
        """
    ).fetchall()
    return [
        DataFile(table=table, path=Path(path), size_bytes=size_bytes, record_count=record_count)
        for table, path, size_bytes, record_count in rows
    ]


def waiting_for_removal(connection: duckdb.DuckDBPyConnection) -> set[Path]:
    """Return the files below the data folder that housekeeping will remove; raises ``duckdb.Error``."""
    rows = connection.execute(
        "SELECT path FROM __ducklake_metadata_lake.ducklake_files_scheduled_for_deletion"
    ).fetchall()
    return {Path(path) for (path,) in rows}

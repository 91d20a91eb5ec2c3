"""One durable transaction: the rows of ``Changes`` written to the lake."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tonnage.errors import StoreDamaged
from tonnage.store.rows import to_table
from tonnage.store.schema import SCHEMA_VERSION
from tonnage.store.texts import compact

if TYPE_CHECKING:
    from datetime import datetime

    from tonnage.store.changes import Changes
    from tonnage.store.lake.site import Files


class Outrun(duckdb.TransactionException):
    """Another writer committed since the decision was taken; nothing was written."""


_APPENDED: Final = ("runs", "run_events", "reports", "requests", "plans", "commits")


def tables_of(changes: Changes) -> dict[str, pa.Table]:
    """Return the rows to write, by table; a table without rows is left out."""
    stamped = [upload.stamped(new) for upload, new in changes.uploads]
    tables = {
        "points": pa.concat_tables([points for _, points in stamped]) if stamped else None,
        "runs": pa.concat_tables([runs for runs, _ in stamped]) if stamped else None,
        "run_events": to_table("run_events", [asdict(event) for event in changes.events]),
        "reports": to_table("reports", _report_rows(changes)),
        "requests": to_table("requests", [asdict(request) for request in changes.requests]),
        "plans": to_table("plans", [asdict(plan) for plan in changes.plans]),
        "commits": to_table("commits", _commit_rows(changes)),
    }
    return {name: table for name, table in tables.items() if table is not None and table.num_rows}


def _report_rows(changes: Changes) -> list[dict[str, Any]]:
    return [
        {
            "namespace": report.namespace,
            **asdict(report.facts),
            "given": compact(report.facts.given),
            "ingested_at": report.ingested_at,
            "data_version": report.data_version,
        }
        for report in changes.reports
    ]


def _commit_rows(changes: Changes) -> list[dict[str, Any]]:
    return [
        {
            "namespace": namespace,
            "data_version": changes.data_version,
            "committed_at": changes.now,
            "schema_version": SCHEMA_VERSION,
            **changes.counts(namespace),
        }
        for namespace in changes.namespaces()
    ]


def commit(
    connection: duckdb.DuckDBPyConnection, changes: Changes, files: Files, *, on_snapshot: int | None = None
) -> None:
    """Write ``changes`` in one transaction that is durable when this returns.

    With ``on_snapshot`` it is written on that snapshot of the lake or not at all: ``Outrun`` says another came first.

    DuckDB does not sync the Parquet files it writes, so they and their folders are synced before the
    catalog names them; the catalog syncs its own log (SQLite at synchronous=FULL).
    Raises ``duckdb.Error`` or ``OSError``, after a rollback.
    """
    tables = tables_of(changes)
    connection.execute("BEGIN")
    try:
        _require_snapshot(connection, on_snapshot)
        if "points" in tables:
            _merge_points(connection, tables["points"])
        for name in _APPENDED:
            if name in tables:
                _insert(connection, name, tables[name])
        files.sync()
        connection.execute("COMMIT")
    except BaseException:
        rollback(connection)
        raise


def newest_snapshot(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the lake's newest snapshot, in a transaction the one it stands on; raises ``duckdb.Error``."""
    found = connection.execute("SELECT id FROM lake.current_snapshot()").fetchone()
    return -1 if found is None else int(found[0])


def _require_snapshot(connection: duckdb.DuckDBPyConnection, wanted: int | None) -> None:
    if wanted is not None and newest_snapshot(connection) != wanted:
        raise Outrun("another writer committed first")


def rollback(connection: duckdb.DuckDBPyConnection) -> None:
    """End a transaction that failed, if it is still open."""
    try:
        connection.execute("ROLLBACK")
    except duckdb.TransactionException as error:
        if "no transaction is active" not in str(error):
            raise


def _merge_points(connection: duckdb.DuckDBPyConnection, points: pa.Table) -> None:
    """Insert points that are not there; raise ``StoreDamaged`` when some are, since their runs are new."""
    low, high = _range(points["ingested_at"])
    connection.register("incoming", points)
    try:
        inserted = connection.execute(
            "MERGE INTO lake.points AS stored USING incoming AS given "
            f"ON stored.ingested_at BETWEEN TIMESTAMPTZ '{low}' AND TIMESTAMPTZ '{high}' "
            "AND stored.run_id = given.run_id AND stored.point_index = given.point_index "
            "AND stored.namespace = given.namespace "
            "WHEN NOT MATCHED THEN INSERT BY NAME"
        ).fetchone()
    finally:
        connection.unregister("incoming")
    count = 0 if inserted is None else int(inserted[0])
    if count != points.num_rows:
        raise StoreDamaged(
            f"{points.num_rows - count} points of runs the store does not know are in it; check the store",
            expected=points.num_rows,
            inserted=count,
        )


def _range(times: pa.ChunkedArray) -> tuple[str, str]:
    found: dict[str, datetime] = pc.min_max(times).as_py()
    return found["min"].isoformat(), found["max"].isoformat()


def _insert(connection: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    connection.register("incoming", rows)
    try:
        connection.execute(f"INSERT INTO lake.{name} BY NAME SELECT * FROM incoming")
    finally:
        connection.unregister("incoming")

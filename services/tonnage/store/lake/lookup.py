"""What the lake knows of the keys a decision touches."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from tonnage.store.base import PlanRecord, ReportFacts
from tonnage.store.known import Key, Keys, Known, KnownReport, KnownRequest, KnownRun, retirement_after
from tonnage.store.rows import row_to_run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import duckdb

    from tonnage.domain.measurement import Run
    from tonnage.store.changes import Changes

Row = dict[str, Any]
_KEY_COLUMNS: Final = {"runs": "run_id", "reports": "report_id", "requests": "request_id", "plans": "plan_id"}
_KNOWN_OF_RUNS: Final = (
    "namespace",
    "run_id",
    "report_id",
    "filename",
    "level_count",
    "ingested_at",
    "data_version",
)
# Whoever sends a folder again sends what came last; more would only be read in vain.
NEWEST_COUNT: Final = 10_000


class SeenKeys:
    """Hashes of every key in the lake, so that a new upload, the usual case, asks the lake nothing.

    One hash of 64 bits a run, a report and a request id; two keys with one hash cost a needless look-up.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._seen: dict[str, set[int]] = {name: set() for name in _KEY_COLUMNS}
        for name, column in _KEY_COLUMNS.items():
            sql = f"SELECT namespace, {column} FROM lake.{name}"
            for batch in connection.execute(sql).to_arrow_reader(65_536):
                pairs = zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
                self._seen[name].update(hash(pair) for pair in pairs)

    def follow(self, connection: duckdb.DuckDBPyConnection, first: int, last: int) -> None:
        """Note what other writers committed in snapshots ``first`` to ``last``; raises ``duckdb.Error``."""
        for name, column in _KEY_COLUMNS.items():
            sql = f"SELECT namespace, {column} FROM lake.table_insertions('{name}', {first}, {last})"
            self._seen[name].update(hash(pair) for pair in connection.execute(sql).fetchall())

    def add(self, changes: Changes) -> None:
        """Note what was committed."""
        self._seen["runs"].update(hash(known.key) for _, new in changes.uploads for known in new)
        self._seen["reports"].update(hash((item.namespace, item.facts.report_id)) for item in changes.reports)
        self._seen["requests"].update(hash((item.namespace, item.request_id)) for item in changes.requests)
        self._seen["plans"].update(hash((item.namespace, item.plan_id)) for item in changes.plans)

    def maybe_stored(self, keys: Keys) -> Keys:
        """Return the keys that may be in the lake; the others are not."""
        return Keys(
            runs=self._kept("runs", keys.runs),
            reports=self._kept("reports", keys.reports),
            requests=self._kept("requests", keys.requests),
            plans=self._kept("plans", keys.plans),
        )

    def _kept(self, name: str, keys: frozenset[Key]) -> frozenset[Key]:
        return frozenset(key for key in keys if hash(key) in self._seen[name])


def look_up(cursor: duckdb.DuckDBPyConnection, keys: Keys) -> Known:
    """Return what the lake knows of some keys, and of the runs of the reports among them."""
    rows = [
        row
        for column, wanted in (("run_id", keys.runs), ("report_id", keys.reports))
        for row in _select(cursor, "runs", column, wanted, _KNOWN_OF_RUNS)
    ]
    runs = {(row["namespace"], row["run_id"]): row for row in rows}
    events = _select(cursor, "run_events", "run_id", runs)
    return Known(
        runs=_runs(runs, events),
        reports=_reports(_select(cursor, "reports", "report_id", keys.reports)),
        requests={
            (row["namespace"], row["request_id"]): KnownRequest(**row)
            for row in _select(cursor, "requests", "request_id", keys.requests)
        },
        plans={
            (row["namespace"], row["plan_id"]): PlanRecord(**row)
            for row in _select(cursor, "plans", "plan_id", keys.plans)
        },
    )


def newest_reports(cursor: duckdb.DuckDBPyConnection, limit: int = NEWEST_COUNT) -> frozenset[Key]:
    """Return the reports stored last."""
    columns = "namespace, report_id, data_version"
    sql = f"SELECT DISTINCT {columns} FROM lake.reports ORDER BY data_version DESC LIMIT {limit}"
    return frozenset((str(row[0]), str(row[1])) for row in cursor.execute(sql).fetchall())


def report_ids(cursor: duckdb.DuckDBPyConnection, namespace: str, after: str, limit: int) -> list[str]:
    """Return ids of raw reports behind ``after`` in their order."""
    sql = "SELECT DISTINCT report_id FROM lake.reports WHERE namespace = ? AND report_id > ? ORDER BY report_id LIMIT ?"
    return [str(row[0]) for row in cursor.execute(sql, [namespace, after, limit]).fetchall()]


def whole_runs(cursor: duckdb.DuckDBPyConnection, keys: Collection[Key]) -> list[Run]:
    """Return runs with their levels, in order of their ids."""
    levels: defaultdict[Key, list[Row]] = defaultdict(list)
    for row in _select(cursor, "points", "run_id", keys):
        levels[row["namespace"], row["run_id"]].append(row)
    rows = sorted(_select(cursor, "runs", "run_id", keys), key=lambda row: str(row["run_id"]))
    return [row_to_run(row, levels[row["namespace"], row["run_id"]]) for row in rows]


def _select(
    cursor: duckdb.DuckDBPyConnection, table: str, column: str, keys: Collection[Key], chosen: Sequence[str] = ("*",)
) -> list[Row]:
    if not keys:
        return []
    ordered = sorted(keys)
    shown = ", ".join(f"stored.{name}" for name in chosen)
    wanted = pa.table(
        {"namespace": [key[0] for key in ordered], "id": [key[1] for key in ordered]},
        schema=pa.schema([("namespace", pa.string()), ("id", pa.string())]),
    )
    cursor.register("wanted", wanted)
    try:
        found = cursor.execute(
            f"SELECT {shown} FROM lake.{table} AS stored SEMI JOIN wanted "
            f"ON stored.namespace = wanted.namespace AND stored.{column} = wanted.id"
        ).to_arrow_table()
    finally:
        cursor.unregister("wanted")
    rows: list[Row] = found.to_pylist()
    return rows


def _runs(rows: Mapping[Key, Row], events: Iterable[Row]) -> dict[Key, KnownRun]:
    newest: dict[Key, Row] = {}
    for event in sorted(events, key=lambda row: (row["data_version"], row["event_index"])):
        newest[event["namespace"], event["run_id"]] = event
    return {key: _run(row, newest.get(key)) for key, row in rows.items()}


def _run(row: Row, event: Row | None) -> KnownRun:
    return KnownRun(
        namespace=row["namespace"],
        run_id=row["run_id"],
        report_id=row["report_id"],
        filename=row["filename"],
        level_count=row["level_count"],
        ingested_at=row["ingested_at"],
        data_version=row["data_version"],
        retirement=None if event is None else retirement_after(event["kind"]),
        event_version=None if event is None else event["data_version"],
    )


def _reports(rows: Iterable[Row]) -> dict[Key, KnownReport]:
    """Return reports with the labels of the newest row and the first ack of the oldest."""
    by_key: defaultdict[Key, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda item: int(item["data_version"])):
        by_key[row["namespace"], row["report_id"]].append(row)
    return {key: _report(held[0], held[-1]) for key, held in by_key.items()}


def _report(first: Row, newest: Row) -> KnownReport:
    facts = ReportFacts(
        report_id=newest["report_id"],
        filename=newest["filename"],
        size_bytes=newest["size_bytes"],
        format=newest["format"],
        given=tuple((key, value) for key, value in json.loads(newest["given"])),
    )
    return KnownReport(
        namespace=newest["namespace"],
        facts=facts,
        ingested_at=first["ingested_at"],
        data_version=first["data_version"],
    )

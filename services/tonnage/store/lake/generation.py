"""One private copy of the lake in memory: filled once, then appended to."""

from __future__ import annotations

import bisect
import itertools
import weakref
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa

from tonnage.store.known import retirement_after
from tonnage.store.lake.commit import rollback
from tonnage.store.migrations import refuse_newer
from tonnage.store.schema import LEVEL, SCHEMA_VERSION, TABLES, sql_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.store.base import Retirement
    from tonnage.store.known import Key
    from tonnage.store.lake.feed import Position

Row = dict[str, Any]
_COUNTER: Final = itertools.count(1)
# A hash of the configuration: whole numbers are filtered faster than texts that share a beginning.
_SKEY: Final = "hash(namespace, fingerprint) AS skey"
# A point's row leaves out what its run's row says.
_POINTS: Final = pa.schema(
    [TABLES["points"].field(name) for name in ("namespace", "run_id", "data_version", "point_index")]
    + [TABLES["points"].field(name) for name, _ in LEVEL]
)
_RUNS: Final = TABLES["runs"]


@dataclass(frozen=True, slots=True)
class _Commits:
    data_version: int
    schema_version: int
    run_count: int
    event_count: int


class Generation:
    """Rows of the lake up to a snapshot; every row carries its data version, so an older state can be asked for.

    ``touched`` holds, for each configuration, the data versions that changed its runs, ascending.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.database = f"replica_{next(_COUNTER)}"
        self._connection = connection
        self._cursor = connection.cursor()
        self.position: Position | None = None
        self.data_version = 0
        self.touched: defaultdict[Key, list[int]] = defaultdict(list)
        self._standing: defaultdict[Key, list[tuple[int, Retirement | None]]] = defaultdict(list)
        self._cursor.execute(f"ATTACH ':memory:' AS {self.database} (COMPRESS)")
        self._cursor.execute(f"CREATE TABLE {self.database}.runs ({sql_columns(_RUNS)}, skey UBIGINT)")
        self._cursor.execute(f"CREATE TABLE {self.database}.points ({sql_columns(_POINTS)}, skey UBIGINT)")
        weakref.finalize(self, _detach, connection.cursor(), self.database).atexit = False

    def build(self, position: Position) -> None:
        """Copy everything as of a position into the empty tables, sorted; raises ``duckdb.Error``."""
        at = f"AT (VERSION => {position.snapshot_id})"
        commits = self._commits(f"lake.commits {at}")
        self._fill(f"lake.runs {at}", f"lake.points {at}")
        self._cursor.execute(f"FORCE CHECKPOINT {self.database}")
        events = self._fetch(f"SELECT * FROM lake.run_events {at}")
        self._note(events, commits.data_version)
        self.position = position

    def pull(self, position: Position) -> None:
        """Append what was inserted since.

        Raises ``SchemaTooNew``, or ``duckdb.Error``: then pulling again, or a new copy, is safe.
        """
        first = 0 if self.position is None else self.position.snapshot_id + 1
        span = f"{first}, {position.snapshot_id}"
        events: list[Row] = []
        # One transaction: the feed resolves the snapshot once.
        self._cursor.execute("BEGIN")
        try:
            commits = self._commits(f"lake.table_insertions('commits', {span})")
            if commits.run_count:
                self._fill(f"lake.table_insertions('runs', {span})", f"lake.table_insertions('points', {span})")
            if commits.event_count:
                events = self._fetch(f"SELECT * FROM lake.table_insertions('run_events', {span})")
            self._cursor.execute("COMMIT")
        except BaseException:
            rollback(self._cursor)
            raise
        if commits.data_version:
            # Should the index fail, the copy is made anew: pulling again would append twice.
            self.position = None
            self._note(events, commits.data_version)
        self.position = position

    def _fill(self, runs: str, points: str) -> None:
        self._cursor.execute(
            f"INSERT INTO {self.database}.runs BY NAME "
            f"SELECT {', '.join(_RUNS.names)}, {_SKEY} FROM {runs} ORDER BY data_version"
        )
        self._cursor.execute(
            f"INSERT INTO {self.database}.points BY NAME "
            f"SELECT {', '.join(_POINTS.names)}, {_SKEY} FROM {points} ORDER BY skey, run_id, point_index"
        )

    def _commits(self, commits: str) -> _Commits:
        """Return what some commits hold in sum; 0 where there are none."""
        found = self._fetch(
            "SELECT coalesce(max(data_version), 0) AS data_version, "
            "coalesce(max(schema_version), 0) AS schema_version, "
            "coalesce(sum(run_count), 0)::BIGINT AS run_count, coalesce(sum(event_count), 0)::BIGINT AS event_count "
            f"FROM {commits}"
        )
        held = _Commits(**found[0])
        refuse_newer(held.schema_version, SCHEMA_VERSION)
        return held

    def _fetch(self, sql: str) -> list[Row]:
        rows: list[Row] = self._cursor.execute(sql).to_arrow_table().to_pylist()
        return rows

    def _note(self, events: Sequence[Row], version: int) -> None:
        """Index what is newer than the last version, and then show it."""
        changes = self._changed_by_runs() | self._changed_by_events(events)
        for namespace, fingerprint, changed in sorted(changes, key=lambda change: change[2]):
            self.touched[namespace, fingerprint].append(changed)
        for event in sorted(events, key=lambda row: (row["data_version"], row["event_index"])):
            key = (event["namespace"], event["run_id"])
            self._standing[key].append((event["data_version"], retirement_after(event["kind"])))
        self.data_version = version

    def _changed_by_runs(self) -> set[tuple[str, str, int]]:
        rows = self.rows(
            f"SELECT DISTINCT namespace, fingerprint, data_version FROM {self.database}.runs WHERE data_version > ?",
            [self.data_version],
        )
        return {(row["namespace"], row["fingerprint"], row["data_version"]) for row in rows}

    def _changed_by_events(self, events: Sequence[Row]) -> set[tuple[str, str, int]]:
        if not events:
            return set()
        rows = self.rows(
            f"SELECT namespace, run_id, fingerprint FROM {self.database}.runs WHERE run_id IN (SELECT unnest(?))",
            [sorted({event["run_id"] for event in events})],
        )
        fingerprints = {(row["namespace"], row["run_id"]): row["fingerprint"] for row in rows}
        return {
            (event["namespace"], fingerprints[event["namespace"], event["run_id"]], event["data_version"])
            for event in events
        }

    def retirement(self, key: Key, data_version: int) -> Retirement | None:
        """Return the standing of a run at a data version."""
        found = [standing for version, standing in self._standing.get(key, ()) if version <= data_version]
        return found[-1] if found else None

    def retired_ids(self, namespace: str, data_version: int) -> list[str]:
        """Return the runs of a namespace that are out at a data version."""
        keys = [key for key in list(self._standing) if key[0] == namespace]
        return sorted(run_id for ns, run_id in keys if self.retirement((ns, run_id), data_version) is not None)

    def relevant_version(self, key: Key, data_version: int) -> int | None:
        """Return the newest version not after ``data_version`` that changed a configuration; None before its first."""
        versions = self.touched.get(key, [])
        position = bisect.bisect_right(versions, data_version)
        return versions[position - 1] if position else None

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a query; safe from any thread."""
        cursor = self._connection.cursor()
        try:
            found: list[Row] = cursor.execute(sql, parameters).to_arrow_table().to_pylist()
        finally:
            cursor.close()
        return found


def _detach(cursor: duckdb.DuckDBPyConnection, database: str) -> None:
    """Give the memory back once no snapshot holds the generation."""
    with suppress(duckdb.ConnectionException):  # the reader was closed, and its memory went with it
        cursor.execute(f"DETACH {database}")

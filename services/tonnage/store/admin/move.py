"""Copying a whole store to a place of either kind, and proving that the copy says the same."""

from __future__ import annotations

import logging
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import duckdb

from tonnage.errors import InvalidInput, NotStored, StoreDamaged, StoreUnavailable
from tonnage.store.lake.commit import rollback
from tonnage.store.lake.connection import connect
from tonnage.store.lake.sites import site_of
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.migrations import refuse_newer, schema_version
from tonnage.store.schema import SCHEMA_VERSION, TABLES
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from tonnage.store.lake.site import Site
    from tonnage.store.url import Place

_LOG: Final = logging.getLogger(__name__)
# What the target's own schema made is not copied.
_CHUNK_BYTES: Final = 1 << 20
_OWN: Final = frozenset({"schema_migrations"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedTable:
    """One table: the rows, and the sum of their digests, the same on both sides."""

    name: str
    row_count: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What was copied and compared."""

    data_version: int
    tables: tuple[CopiedTable, ...]
    report_count: int


def move(source: Place, target: Place) -> Moved:
    """Copy a store, leave the source as it is, and compare counts and digests of every table and raw report.

    Nobody may write either side meanwhile: their locks are taken. Rows become visible in the target in one commit,
    after they were read back and compared; a copy that failed before leaves the target empty, and may be tried again.
    Raises ``InvalidInput`` when the target holds something or is the source, ``StoreLocked``, ``StoreUnavailable``,
    ``SchemaTooNew``, or ``StoreDamaged`` when the copy differs.
    """
    if source == target:
        raise InvalidInput.field("to", "", "is the store itself", "name another place")
    _refuse_no_store(source)
    with ExitStack() as held:
        try:
            return _move(source, target, held)
        except (duckdb.Error, OSError) as error:
            raise StoreUnavailable(f"the copy failed: {error}; the source is as it was, try again") from error


def _refuse_no_store(source: Place) -> None:
    if isinstance(source, EmbeddedPlace) and not (source.folder / "catalog.sqlite").is_file():
        raise StoreUnavailable(f"there is no store in {source.folder}; name another folder", folder=source.folder)


def _move(source: Place, target: Place, held: ExitStack) -> Moved:
    # The writer makes the target's tables; it lets go of the lock, and the site takes it again.
    with closing(LakeWriter(target)) as made:
        if made.data_version:
            raise _used()
    given, taken = site_of(source), site_of(target)
    held.callback(given.release)
    held.callback(taken.release)
    held.enter_context(given.turn())
    held.enter_context(taken.turn())
    connection = held.enter_context(closing(_both(given, taken)))
    report_ids = [str(row[0]) for row in connection.execute("SELECT DISTINCT report_id FROM source.reports").fetchall()]
    # Reports come first: rows never name a report that is not there.
    for report_id in sorted(report_ids):
        _copy_report(given, taken, report_id)
    tables = _copy_rows(connection, taken)
    newest = connection.execute("SELECT coalesce(max(data_version), 0) FROM lake.commits").fetchone()
    return Moved(data_version=0 if newest is None else int(newest[0]), tables=tables, report_count=len(report_ids))


def _copy_report(given: Site, taken: Site, report_id: str) -> None:
    try:
        with given.reports.open(report_id) as read:
            taken.reports.keep(report_id, read)
    except NotStored as error:
        raise StoreDamaged(f"the raw report {report_id} is missing in {given.name}", report_id=report_id) from error
    with taken.reports.open(report_id) as written:
        while written.read(_CHUNK_BYTES):
            pass  # reading compares the digest


def _both(given: Site, taken: Site) -> duckdb.DuckDBPyConnection:
    """Return a DuckDB with ``source`` and, as ``lake``, the target."""
    connection = connect(sorted({*given.extensions, *taken.extensions}))
    try:
        for site in (given, taken):
            site.prepare(connection)
        # The schema is looked at under the name it always has.
        given.attach(connection, read_only=True)
        _require_schema(schema_version(connection), given)
        connection.execute("DETACH lake")
        given.attach(connection, read_only=True, name="source")
        taken.attach(connection, read_only=False)
    except BaseException:
        connection.close()
        raise
    return connection


def _require_schema(found: int, given: Site) -> None:
    refuse_newer(found, SCHEMA_VERSION)
    if found < SCHEMA_VERSION:
        raise StoreUnavailable(f"{given.name} has schema {found}; bring it up first with `tonnage store migrate`")


def _copy_rows(connection: duckdb.DuckDBPyConnection, taken: Site) -> tuple[CopiedTable, ...]:
    files = taken.new_files()
    connection.execute("BEGIN")
    try:
        tables = tuple(_copy_table(connection, name) for name in TABLES if name not in _OWN)
        files.sync()
        connection.execute("COMMIT")
    except BaseException:
        rollback(connection)
        raise
    return tables


def _copy_table(connection: duckdb.DuckDBPyConnection, name: str) -> CopiedTable:
    held = connection.execute(f"SELECT count(*) FROM lake.{name}").fetchone()
    if held is None or held[0]:
        raise _used()
    columns = ", ".join(TABLES[name].names)
    connection.execute(f"INSERT INTO lake.{name} BY NAME SELECT {columns} FROM source.{name}")
    before, after = (_digest(connection, f"{side}.{name}", columns) for side in ("source", "lake"))
    if before != after:
        raise StoreDamaged(
            f"the copy of {name} has {after[0]} rows and digest {after[1]}, the source {before[0]} and {before[1]}; "
            "nothing was committed, and the source is as it was",
            table=name,
        )
    _LOG.info("copied %s: %d rows", name, before[0])
    return CopiedTable(name=name, row_count=before[0], digest=before[1])


def _digest(connection: duckdb.DuckDBPyConnection, table: str, columns: str) -> tuple[int, str]:
    """Return the count of the rows and the sum of their MD5s' lower halves, which order does not change."""
    found = connection.execute(
        "SELECT count(*), coalesce(sum(md5_number_lower(CAST(row AS VARCHAR))::HUGEINT), 0) "
        f"FROM (SELECT struct_pack({', '.join(f'{c} := {c}' for c in columns.split(', '))}) AS row FROM {table})"
    ).fetchone()
    return (0, "0") if found is None else (int(found[0]), str(found[1]))


def _used() -> InvalidInput:
    return InvalidInput.field("to", "", "holds rows already", "name an empty folder, or an empty database and prefix")

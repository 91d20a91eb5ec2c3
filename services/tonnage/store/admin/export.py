"""Runs and points as plain files, for polars, DuckDB or a spreadsheet."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from tonnage.errors import InvalidInput, StoreUnavailable
from tonnage.store.admin.copying import filling, refuse_used, sync_folders
from tonnage.store.admin.frozen import frozen
from tonnage.store.durable import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tonnage.store.admin.frozen import Frozen
    from tonnage.store.url import EmbeddedPlace

Kind = Literal["parquet", "csv"]
KINDS: Final = ("parquet", "csv")
_ORDER: Final = {"runs": "namespace, run_id", "points": "namespace, run_id, point_index"}
_BATCH_ROWS: Final = 65_536
# What makes a spreadsheet take a cell for a formula: = + - @ and their full-width forms, also behind white space.
_FORMULA: Final = r"^\s*[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]|^[\t\r\n]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What was written: row counts by file name, as of one data version."""

    data_version: int
    namespace: str | None
    include_retired: bool
    row_counts: dict[str, int]


class _Writer(Protocol):
    """What Arrow's file writers share."""

    def write_batch(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


def export(
    place: EmbeddedPlace,
    destination: Path,
    *,
    kind: Kind = "parquet",
    namespace: str | None = None,
    include_retired: bool = False,
) -> Export:
    """Write ``runs`` and ``points`` to an empty folder, ordered by key, with ``export.json`` beside them.

    Both have the store's columns and ``retirement`` (``RETRACTED``, ``SUPERSEDED`` or absent); retired
    runs are left out unless asked for. In CSV a text that a spreadsheet could take for a formula
    begins with an apostrophe. Raises ``InvalidInput``, ``OSError``, and as ``frozen`` does.
    """
    refuse_used(destination, "destination")
    with frozen(place) as store:
        _refuse_unknown(store, namespace)
        with filling(destination):
            where = _where(namespace, include_retired=include_retired)
            parameters: list[object] = [] if namespace is None else [namespace]
            counts = {
                f"{table}.{kind}": _write(
                    store,
                    destination / f"{table}.{kind}",
                    _query(store, table, kind) + where,
                    parameters,
                    _ORDER[table],
                )
                for table in _ORDER
            }
            found = Export(
                data_version=store.data_version,
                namespace=namespace,
                include_retired=include_retired,
                row_counts=counts,
            )
            _note(destination, found)
            return found


def _refuse_unknown(store: Frozen, namespace: str | None) -> None:
    if not store.tables.issuperset(_ORDER):
        raise StoreUnavailable(f"the store in {store.place.folder} has no tables yet; start ingest on it")
    known = [str(name) for (name,) in store.rows("SELECT DISTINCT namespace FROM lake.runs ORDER BY namespace")]
    if namespace is not None and namespace not in known:
        cure = f"use one of {', '.join(known)}" if known else "the store holds no runs yet"
        raise InvalidInput.field("namespace", namespace, "holds no runs", cure)


def _query(store: Frozen, table: str, kind: Kind) -> str:
    described = store.rows(f"DESCRIBE lake.{table}")
    columns = (_cell(str(row[0]), str(row[1]), kind) for row in described)
    return f"""
        WITH newest AS (
            SELECT namespace, run_id, nullif(arg_max(kind, (data_version, event_index)), 'RESTORED') AS retirement
            FROM lake.run_events GROUP BY namespace, run_id
        )
        SELECT {", ".join(columns)}, retirement FROM lake.{table} AS held LEFT JOIN newest USING (namespace, run_id)
    """


def _cell(name: str, sql_type: str, kind: Kind) -> str:
    if kind == "csv" and sql_type == "VARCHAR":
        held = f"held.{name}"
        return f"CASE WHEN regexp_matches({held}, '{_FORMULA}') THEN '''' || {held} ELSE {held} END AS {name}"
    return f"held.{name} AS {name}"


def _where(namespace: str | None, *, include_retired: bool) -> str:
    conditions = [] if namespace is None else ["held.namespace = ?"]
    conditions += [] if include_retired else ["retirement IS NULL"]
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _write(store: Frozen, path: Path, sql: str, parameters: list[object], order: str) -> int:
    reader = store.connection.execute(f"{sql} ORDER BY {order}", parameters).to_arrow_reader(_BATCH_ROWS)
    count = 0
    with _writer(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


@contextmanager
def _writer(path: Path, schema: pa.Schema) -> Iterator[_Writer]:
    if path.suffix == ".csv":
        with pc.CSVWriter(path, schema, write_options=pc.WriteOptions(quoting_style="needed")) as writer:
            yield writer
    else:
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            yield writer


def _note(destination: Path, found: Export) -> None:
    path = destination / "export.json"
    with replacing(path, destination / ".export.json"):
        (destination / ".export.json").write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    sync_folders(destination)

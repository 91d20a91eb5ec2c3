"""Checks of what is handed to the store, and its form as Arrow tables."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from tonnage import checks
from tonnage.domain.buckets import kind_of
from tonnage.errors import InvalidInput, at
from tonnage.store.rows import point_rows, run_to_row, to_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.measurement import Run
    from tonnage.store.base import Append, ReportFacts, Retraction
    from tonnage.store.known import KnownRun


def check_retraction(item: Retraction) -> None:
    """Refuse a retraction of nothing or without a reason."""
    checks.required("namespace", item.namespace)
    checks.not_empty("run_ids", item.run_ids)
    checks.required("reason", item.reason)
    checks.required("body_digest", item.body_digest)
    check_texts(
        namespace=item.namespace,
        reason=item.reason,
        body_digest=item.body_digest,
        request_id=item.request_id,
        actor=item.actor,
        **{f"run_ids[{position}]": run_id for position, run_id in enumerate(item.run_ids)},
    )


def check_texts(**texts: str | None) -> None:
    """Refuse texts that are no Unicode; the names are the paths."""
    for path, text in texts.items():
        try:
            (text or "").encode()
        except UnicodeEncodeError as error:
            raise InvalidInput.field(path, ascii(text), "is not valid Unicode", "remove lone surrogates") from error


def _check_report(report: ReportFacts) -> None:
    check_texts(report_id=report.report_id, filename=report.filename, format=report.format)
    for key, value in report.given:
        check_texts(**{f"given[{key!a}]": key + value})
    checks.count("size_bytes", report.size_bytes, least=0)


def check_append(item: Append) -> None:
    """Refuse what could not be stored as it is; paths are those of ``Append``."""
    checks.required("namespace", item.namespace)
    checks.required("body_digest", item.body_digest)
    checks.not_empty("runs", item.runs)
    check_texts(namespace=item.namespace, body_digest=item.body_digest, request_id=item.request_id, actor=item.actor)
    if item.report is not None:
        with at("report"):
            _check_report(item.report)
    seen: dict[str, int] = {}
    for position, run in enumerate(item.runs):
        with at(f"runs[{position}]"):
            _check_run(run, item)
            if seen.setdefault(run.run_id, position) != position:
                raise InvalidInput.field("run_id", run.run_id, "stands twice in the upload", "send each run once")


def _check_run(run: Run, item: Append) -> None:
    if run.namespace != item.namespace:
        raise InvalidInput.field("namespace", run.namespace, "is not the upload's", f"use {item.namespace}")
    _check_uuid(run.run_id)
    if item.report is not None and run.report_id != item.report.report_id:
        raise InvalidInput.field("report_id", run.report_id, "is not the report's", f"use {item.report.report_id}")
    checks.required("report_id", run.report_id)
    if run.measured_at is not None and run.measured_at.tzinfo is None:
        raise InvalidInput.field("measured_at", run.measured_at.isoformat(), "has no time zone", "add the offset, or Z")
    kinds = sorted({kind_of(level.work) for level in run.levels})
    if len(kinds) > 1:
        cure = "send one run a modality"
        raise InvalidInput.field("levels", ", ".join(kinds), "mix modalities, which form no curve", cure)


def _check_uuid(text: str) -> None:
    try:
        canonical = str(uuid.UUID(text))
    except ValueError:
        canonical = ""
    if text != canonical:
        raise InvalidInput.field("run_id", text, "is not a UUID in its usual form", "use lower-case hex with hyphens")


@dataclass(frozen=True, slots=True)
class Upload:
    """A checked upload with the tables that will be stored, but for first ack and data version.

    ``points`` may come from elsewhere (a bulk path) as long as it has the schema of ``points``.
    """

    item: Append
    runs: pa.Table
    points: pa.Table

    @classmethod
    def of(cls, item: Append) -> Upload:
        """Check an upload and build its tables; raise ``InvalidInput`` naming the run and the column."""
        check_append(item)
        try:
            return cls(item, *_tables(item.runs))
        except InvalidInput:
            for position, run in enumerate(item.runs):
                with at(f"runs[{position}]"):
                    _tables((run,))
            raise

    def stamped(self, new: Sequence[KnownRun]) -> tuple[pa.Table, pa.Table]:
        """Return the rows of ``new`` runs, which share one first ack, in runs and in points."""
        run_ids = pa.array([known.run_id for known in new], type=pa.string())
        runs, points = (
            _stamp(table.filter(pc.is_in(table["run_id"], value_set=run_ids)), new[0])
            for table in (self.runs, self.points)
        )
        return runs, points


def _tables(runs: Sequence[Run]) -> tuple[pa.Table, pa.Table]:
    return (
        to_table("runs", [run_to_row(run) for run in runs]),
        to_table("points", [row for run in runs for row in point_rows(run)]),
    )


def _stamp(table: pa.Table, known: KnownRun) -> pa.Table:
    for name, value in (("ingested_at", known.ingested_at), ("data_version", known.data_version)):
        position = table.schema.get_field_index(name)
        column = pa.repeat(pa.scalar(value, type=table.schema.field(position).type), table.num_rows)
        table = table.set_column(position, table.schema.field(position), column)
    return table

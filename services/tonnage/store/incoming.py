"""Checks of what is handed to the store, and its form as Arrow tables."""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from tonnage import checks
from tonnage.domain.buckets import kind_of
from tonnage.errors import InvalidInput, at
from tonnage.store.base import Append
from tonnage.store.levelled import check_points
from tonnage.store.rows import point_rows, row_to_run, run_to_row, to_table
from tonnage.store.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.measurement import Run
    from tonnage.store.base import AppendTables, PlanRecord, ReportFacts, Retraction
    from tonnage.store.known import KnownRun

Row = dict[str, Any]


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


def check_plan(plan: PlanRecord) -> None:
    """Refuse a plan that could not be found again."""
    for name in ("namespace", "plan_id", "release", "body"):
        checks.required(name, getattr(plan, name))
    check_texts(namespace=plan.namespace, plan_id=plan.plan_id, release=plan.release, recorded_by=plan.recorded_by)


NEVER_ABSENT: Final = {
    "runs": (
        "namespace",
        "run_id",
        "report_id",
        "fingerprint",
        "tool",
        "metric_definitions",
        "ordinal",
        "filename",
        "labels",
        "findings",
        "level_count",
        "usable_level_count",
    ),
    "points": (
        "namespace",
        "run_id",
        "point_index",
        "level_index",
        "work_kind",
        "has_telemetry",
        "tenants",
        "location",
        "findings",
        "usable",
    ),
}
"""Columns that hold a value in every row, by table."""


@dataclass(frozen=True, slots=True)
class RunKey:
    """What a decision needs of a run that is handed in."""

    namespace: str
    run_id: str
    report_id: str
    filename: str
    level_count: int


@dataclass(frozen=True, slots=True)
class Upload:
    """A checked upload with the tables that will be stored, but for first ack and data version.

    ``points`` of a bulk upload may lack columns without values, and hold text by dictionary.
    """

    item: Append | AppendTables
    keys: tuple[RunKey, ...]
    runs: pa.Table
    points: pa.Table

    @property
    def report(self) -> ReportFacts | None:
        """Return the raw file; None for runs that came without one."""
        return self.item.report if isinstance(self.item, Append) else None

    @property
    def replace(self) -> bool:
        """Tell whether the same file with other labels is superseded."""
        return isinstance(self.item, Append) and (self.item.replace or self.item.is_reread)

    @classmethod
    def of(cls, item: Append) -> Upload:
        """Check an upload and build its tables; raise ``InvalidInput`` naming the run and the column."""
        check_append(item)
        try:
            return cls(item, tuple(map(_key_of, item.runs)), *run_tables(item.runs))
        except InvalidInput:
            for position, run in enumerate(item.runs):
                with at(f"runs[{position}]"):
                    run_tables((run,))
            raise

    @classmethod
    def of_tables(cls, item: AppendTables) -> Upload:
        """Check a bulk upload as a whole; its rows were checked where they were made. Raises ``InvalidInput``."""
        checks.required("namespace", item.namespace)
        checks.required("body_digest", item.body_digest)
        check_texts(
            namespace=item.namespace, body_digest=item.body_digest, request_id=item.request_id, actor=item.actor
        )
        for name in ("runs", "points"):
            _check_columns(name, getattr(item, name))
        keys = tuple(map(RunKey, *(_listed(item.runs[name]) for name in RunKey.__dataclass_fields__)))
        checks.not_empty("runs", keys)
        _check_keys(keys, item)
        return cls(item, keys, item.runs, item.points)

    def domain_runs(self) -> tuple[Run, ...]:
        """Return the runs with their levels, as they would be read back."""
        if isinstance(self.item, Append):
            return self.item.runs
        levels: defaultdict[str, list[Row]] = defaultdict(list)
        for row in self.points.to_pylist():
            levels[row["run_id"]].append(row)
        return tuple(row_to_run(row, levels[row["run_id"]]) for row in self.runs.to_pylist())

    def stamped(self, new: Sequence[KnownRun]) -> tuple[pa.Table, pa.Table]:
        """Return the rows of ``new`` runs, which share one first ack, in runs and in points."""
        runs, points = self.runs, self.points
        if len(new) < len(self.keys):
            run_ids = pa.array([known.run_id for known in new], type=pa.string())
            runs, points = (table.filter(pc.is_in(table["run_id"], value_set=run_ids)) for table in (runs, points))
        return _stamp(runs, new[0]), _stamp(points, new[0])


def read_back(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return runs as the store gives them back: counts and figures in the types of their columns."""
    return tuple(_read_back(run) for run in runs)


def _read_back(run: Run) -> Run:
    rows, points = run_tables((run,))
    return row_to_run(rows.to_pylist()[0], points.to_pylist())


def _key_of(run: Run) -> RunKey:
    return RunKey(run.namespace, run.run_id, run.report_id, run.filename, len(run.levels))


def _check_columns(name: str, table: pa.Table) -> None:
    schema = TABLES[name]
    for item in table.schema:
        known = schema.field(item.name) if item.name in schema.names else None
        if known is None:
            raise InvalidInput.field(f"{name}.{item.name}", None, "is no column of the store", "leave it out")
        held = item.type.value_type if pa.types.is_dictionary(item.type) else item.type
        if held != known.type:
            raise InvalidInput.field(f"{name}.{item.name}", str(item.type), "has another type", f"use {known.type}")
    for column in schema.names if name == "runs" else NEVER_ABSENT[name]:
        if column not in table.schema.names:
            raise InvalidInput.field(f"{name}.{column}", None, "is required and absent", "add the column")
        if column in NEVER_ABSENT[name] and table[column].null_count:
            raise InvalidInput.field(f"{name}.{column}", None, "is absent in some rows", "state it in every row")


def _check_keys(keys: Sequence[RunKey], item: AppendTables) -> None:
    for position, key in enumerate(keys):
        if key.namespace != item.namespace:
            path = f"runs[{position}].namespace"
            raise InvalidInput.field(path, key.namespace, "is not the upload's", f"use {item.namespace}")
    if len({key.run_id for key in keys}) < len(keys):
        raise InvalidInput.field("runs", None, "holds a run twice", "send each run once")
    check_points(keys, item.points)


def _listed(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column without nulls."""
    held = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    values: list[Any] = held.to_numpy().tolist()
    return values


def run_tables(runs: Sequence[Run]) -> tuple[pa.Table, pa.Table]:
    """Return the rows of ``runs`` and of ``points``, in order of the runs; raise ``InvalidInput``."""
    return (
        to_table("runs", [run_to_row(run) for run in runs]),
        to_table("points", [row for run in runs for row in point_rows(run)]),
    )


def _stamp(table: pa.Table, known: KnownRun) -> pa.Table:
    for name, value in (("ingested_at", known.ingested_at), ("data_version", known.data_version)):
        position = table.schema.get_field_index(name)
        item = TABLES["points"].field(name)
        column = pa.repeat(pa.scalar(value, type=item.type), table.num_rows)
        is_there = position >= 0
        table = table.set_column(position, item, column) if is_there else table.append_column(item, column)
    return table

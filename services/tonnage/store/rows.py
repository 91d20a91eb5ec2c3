"""Pure pairs between the domain and the rows of the store."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from tonnage.domain.buckets import WORK_KINDS, bucket_of, kind_of, sums_of
from tonnage.domain.configuration import FIELD_NAMES, Conditions, Configuration
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import (
    LEVEL_COUNTS,
    LEVEL_NUMBERS,
    METRICS,
    NOT_MEASURED,
    STATISTICS,
    ArrivalKind,
    Latency,
    Level,
    Quality,
    Run,
    Telemetry,
    TestState,
    Work,
)
from tonnage.errors import InvalidInput
from tonnage.store.schema import TABLES
from tonnage.store.texts import compact, findings_from_text, findings_to_text, sums_to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Row = dict[str, Any]

_LEVEL_FIELDS: Final = (*LEVEL_NUMBERS, *LEVEL_COUNTS, "location", "usable")
_TELEMETRY_NAMES: Final = tuple(item.name for item in fields(Telemetry))
_CONDITION_NAMES: Final = tuple(item.name for item in fields(Conditions) if item.name != "labels")
_WORK_NAMES: Final = {kind: tuple(item.name for item in fields(work)) for kind, work in WORK_KINDS.items()}
_RUN_TEXTS: Final = (
    "namespace",
    "run_id",
    "report_id",
    "sweep_id",
    "tool",
    "metric_definitions",
    "sample_set",
    "replicas_under_test",
    "measured_at",
)
_RUN_ONLY: Final = ("ordinal", "filename", "tool_version", "ingested_by", "ci_job", "source")


def level_to_row(level: Level) -> Row:
    """Return what one level says, by column; absent is None."""
    row: Row = {"level_index": level.index, **{name: getattr(level, name) for name in _LEVEL_FIELDS}}
    row["work_kind"] = kind = kind_of(level.work)
    row.update({name: getattr(level.work, name) for name in _WORK_NAMES[kind]})
    for metric in METRICS:
        latency = level.latency(metric)
        row.update({f"{metric}_{name}_ms": latency.value_ms(name) for name in STATISTICS})
    row["has_telemetry"] = level.telemetry is not None
    if level.telemetry is not None:
        row.update({name: getattr(level.telemetry, name) for name in _TELEMETRY_NAMES})
    if level.quality is not None:
        row["quality_suite"] = level.quality.suite
        row["quality_suite_version"] = level.quality.suite_version
        row["quality_score"] = level.quality.score
    row["tenants"] = compact([[name, _without_none(level_to_row(part))] for name, part in level.tenants])
    row["findings"] = findings_to_text(level.findings)
    return row


def _without_none(row: Row) -> Row:
    return {key: value for key, value in row.items() if value is not None}


def row_to_level(row: Mapping[str, Any]) -> Level:
    """Return the level a row made by ``level_to_row`` holds; absent keys are None."""
    values: Row = {name: row.get(name) for name in _LEVEL_FIELDS}
    values.update({metric: _latency(row, metric) for metric in METRICS})
    return Level(
        index=row["level_index"],
        work=_work(row),
        telemetry=_telemetry(row),
        quality=_quality(row),
        tenants=_tenants(row["tenants"]),
        findings=findings_from_text(row["findings"]),
        **values,
    )


def _work(row: Mapping[str, Any]) -> Work:
    kind = row["work_kind"]
    return WORK_KINDS[kind](**{name: row.get(name) for name in _WORK_NAMES[kind]})


def _latency(row: Mapping[str, Any], metric: str) -> Latency:
    values = {f"{name}_ms": row.get(f"{metric}_{name}_ms") for name in STATISTICS}
    return NOT_MEASURED if all(value is None for value in values.values()) else Latency(**values)


def _telemetry(row: Mapping[str, Any]) -> Telemetry | None:
    return Telemetry(**{name: row.get(name) for name in _TELEMETRY_NAMES}) if row["has_telemetry"] else None


def _quality(row: Mapping[str, Any]) -> Quality | None:
    suite = row.get("quality_suite")
    if suite is None:
        return None
    return Quality(suite=suite, suite_version=row.get("quality_suite_version"), score=row.get("quality_score"))


def _tenants(text: str) -> tuple[tuple[str, Level], ...]:
    if text == "[]":
        return ()
    return tuple((name, row_to_level(part)) for name, part in json.loads(text))


def _shared(run: Run) -> Row:
    configuration = run.configuration
    return {
        **{name: getattr(run, name) for name in _RUN_TEXTS},
        **{name: getattr(configuration, name) for name in FIELD_NAMES},
        "fingerprint": configuration.fingerprint,
        "arrival_kind": run.arrival_kind,
        "state": run.state,
    }


def run_to_row(run: Run) -> Row:
    """Return the row of a run, without its levels; ``ingested_at`` and ``data_version`` are the store's to set."""
    sums = sums_of(run.levels)
    return {
        **_shared(run),
        **{name: getattr(run, name) for name in _RUN_ONLY},
        **{name: getattr(run.conditions, name) for name in _CONDITION_NAMES},
        "state_origin": run.state_origin,
        "labels": compact(run.conditions.labels),
        "findings": findings_to_text(run.findings),
        "level_count": len(run.levels),
        "usable_level_count": sum(level.usable for level in run.levels),
        "work_sums": None if sums is None else sums_to_text(sums),
    }


def point_rows(run: Run) -> list[Row]:
    """Return one row a level; ``point_index`` is the level's position in the run."""
    shared = _shared(run)
    sums = sums_of(run.levels)
    bucket = None if sums is None else bucket_of(sums.mean())
    bands = {} if bucket is None else {"first_band": bucket.first, "second_band": bucket.second}
    return [
        {**shared, **bands, **level_to_row(level), "point_index": position} for position, level in enumerate(run.levels)
    ]


def row_to_run(row: Mapping[str, Any], levels: Sequence[Mapping[str, Any]] = ()) -> Run:
    """Return the run of a row, with the levels of its point rows in order of ``point_index``."""
    ordered = sorted(levels, key=lambda item: int(item["point_index"]))
    return Run(
        **{name: row[name] for name in (*_RUN_TEXTS, *_RUN_ONLY)},
        levels=tuple(row_to_level(item) for item in ordered),
        configuration=Configuration(**{name: row[name] for name in FIELD_NAMES}),
        conditions=Conditions(
            **{name: row[name] for name in _CONDITION_NAMES},
            labels=tuple((key, value) for key, value in json.loads(row["labels"])),
        ),
        arrival_kind=None if row["arrival_kind"] is None else ArrivalKind(row["arrival_kind"]),
        state=None if row["state"] is None else TestState(row["state"]),
        state_origin=None if row["state_origin"] is None else Origin(row["state_origin"]),
        findings=findings_from_text(row["findings"]),
        ingested_at=row["ingested_at"],
    )


def to_table(name: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Return rows as the Arrow table that is stored; raise ``InvalidInput`` when a value does not fit its column."""
    schema = TABLES[name]
    held = list(rows)
    columns = [_column(item, [row.get(item.name) for row in held]) for item in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(item: pa.Field, values: list[object]) -> pa.Array:
    try:
        return pa.array(values, type=item.type)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError, TypeError) as error:
        cure = f"give values of type {item.type}"
        raise InvalidInput.field(item.name, None, f"holds a value that cannot be stored ({error})", cure) from error


def without_levels(run: Run) -> Run:
    """Return the run as lists show it."""
    return replace(run, levels=())

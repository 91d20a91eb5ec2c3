"""Our own table: CSV, Parquet or JSON, one operating point a row; foreign tables through an explicit map."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Final, TypeVar

from tonnage.domain.configuration import Conditions, Configuration
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import (
    ArrivalKind,
    AudioWork,
    EmbeddingWork,
    ImageWork,
    Latency,
    Level,
    Quality,
    Run,
    Telemetry,
    TestState,
    TextWork,
    VideoWork,
    Work,
)
from tonnage.errors import MalformedReport
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading import columns
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, as_text
from tonnage.formats.reading.jsontext import documents
from tonnage.formats.reading.mapping import ColumnNames
from tonnage.formats.reading.names import iso_date
from tonnage.formats.reading.parquet import parquet_rows
from tonnage.formats.reading.statistics import latency
from tonnage.formats.reading.tables import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_WORK_TYPES: Final[dict[str, type[Work]]] = {
    "text": TextWork,
    "image": ImageWork,
    "audio": AudioWork,
    "video": VideoWork,
    "embedding": EmbeddingWork,
}
Kind = TypeVar("Kind", ArrivalKind, TestState)
_FEW: Final = 3
_TRUTHS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_FLAGS: Final = ("prefix_caching", "chunked_prefill")
_TEXTS: Final = frozenset(
    {
        "model",
        "model_revision",
        "weight_precision",
        "kv_cache_type",
        "engine",
        "engine_version",
        "accelerator",
        "speculative_decoding",
        "serving_mode",
    }
)


class TonnageTable(ToolFormat):
    """Reads tables whose columns have our names, or are mapped to them."""

    name = "tonnage-table"
    title = "Tonnage's own table (CSV, Parquet, JSON lines)"
    recognised_by = "columns named as ours: concurrency, requests_per_s, ttft_p95_ms, …"
    metric_definitions = "tonnage-1"
    expects = (("concurrency", "requests_per_s", "input_tokens_mean", "output_tokens_mean", "ttft_p95_ms"),)
    definitions = (
        Definition("ttft", "ttft_*_ms", "request sent to first token of any kind"),
        Definition("tpot", "tpot_*_ms", "(e2e - ttft) / (output tokens - 1) of each request, over requests"),
        Definition("itl", "itl_*_ms", "gaps between streamed chunks, over all gaps"),
        Definition("e2e", "e2e_*_ms", "request sent to last byte"),
        Definition("requests_per_s", "requests_per_s", "successes / duration, whole system under test"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim tables of our columns; surely when all are ours, weakly when some are, to name the others."""
        if head.kind == "parquet":
            return Match(score=50, why="a Parquet file")
        seen = head.keys | frozenset(head.columns)
        ours = [found[0] for column in seen if (found := columns.canonical(column)) is not None]
        measured = [column for column in ours if column in columns.MEASURED]
        if not measured:
            return None
        if len(ours) == len(seen):
            return Match(score=95, why="all columns are ours")
        if len(ours) >= _FEW and 2 * len(ours) >= len(seen):
            return Match(score=55, why="most columns are ours")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield runs of the rows, grouped by all that is no measured figure."""
        names = ColumnNames(source)
        yield from names.ignored()
        yield from grouped(_point(names.row(place, value), place) for place, value in _rows(source))


def _rows(source: Source) -> Iterator[tuple[str, object]]:
    if source.head.kind == "parquet":
        return iter(parquet_rows(source))
    if source.head.kind in {"json-lines", "json-array", "json-object"}:
        return documents(source)
    return iter(rows(source))


def _point(row: Fields, place: str) -> Point:
    level = _level(row, place)
    measured_at = _measured_at(row)
    state = _choice(row, "state", TestState)
    header = Run(
        tool=row.text("tool") or TonnageTable.name,
        metric_definitions=row.text("metric_definitions") or TonnageTable.metric_definitions,
        levels=(),
        tool_version=row.text("tool_version"),
        configuration=_configuration(row),
        conditions=Conditions(
            **{name: row.text(name) for name in columns.CONDITIONS},
            labels=_labels(row),
        ),
        replicas_under_test=row.count("replicas_under_test"),
        arrival_kind=_choice(row, "arrival_kind", ArrivalKind)
        or arrival_of(level.concurrency, level.offered_requests_per_s),
        state=state,
        state_origin=None if state is None else Origin.DECLARED,
        sample_set=row.text("sample_set"),
        measured_at=measured_at,
        sweep_id=row.text("sweep_id"),
        source=row.text("source"),
    )
    return Point(header, level, measured_at)


def _level(row: Fields, place: str) -> Level:
    return Level(
        work=_work(row),
        concurrency=row.number("concurrency"),
        offered_requests_per_s=row.number("offered_requests_per_s"),
        requests_per_s=_rate(row, "requests_per_s"),
        output_tokens_per_s=_rate(row, "output_tokens_per_s"),
        total_tokens_per_s=_rate(row, "total_tokens_per_s"),
        reported_requests_per_s=row.number("reported_requests_per_s"),
        duration_s=row.number("duration_s"),
        completed_count=row.count("completed_count"),
        failed_count=row.count("failed_count"),
        ttft=_latency(row, "ttft"),
        tpot=_latency(row, "tpot"),
        itl=_latency(row, "itl"),
        e2e=_latency(row, "e2e"),
        queue=_latency(row, "queue"),
        telemetry=_telemetry(row),
        quality=_quality(row),
        location=place,
    )


def _rate(row: Fields, name: str) -> float | None:
    """Return a rate of the whole system under test, from that of one accelerator where only it is stated."""
    column = f"{name}_per_accelerator"
    each, stated = row.number(column), row.number(name)
    if each is None or stated is not None:
        return stated
    count = row.count(columns.ACCELERATOR_COUNT)
    if count is None or count < 1:
        cure = f"fill {columns.ACCELERATOR_COUNT}, the accelerators under test"
        raise MalformedReport.field(f"{row.path}.{column}", each, f"needs {columns.ACCELERATOR_COUNT}", cure)
    return each * count


def _latency(row: Fields, metric: str) -> Latency:
    return latency(lambda statistic: row.number(f"{metric}_{statistic}_ms"))


def _work(row: Fields) -> Work:
    stated = [kind for kind, names in columns.WORKS.items() if any(name in row for name in names)]
    named = row.text("modality")
    if named is not None and named not in _WORK_TYPES:
        raise MalformedReport.field(
            f"{row.path}.modality", named, "is not known", f"use one of {', '.join(_WORK_TYPES)}"
        )
    kinds = set(stated) | ({named} if named else set())
    if len(kinds) > 1:
        raise MalformedReport.field(
            row.path, ", ".join(sorted(kinds)), "mixes modalities", "fill the columns of one modality a row"
        )
    kind = next(iter(kinds), "text")
    return _WORK_TYPES[kind](**{field: row.number(name) for name, field in columns.WORKS[kind].items()})


def _telemetry(row: Fields) -> Telemetry | None:
    if not any(name in row for name in columns.TELEMETRY):
        return None
    numbers = {name: row.number(name) for name in columns.TELEMETRY if name != "vram_peak_bytes"}
    return Telemetry(**numbers, vram_peak_bytes=row.count("vram_peak_bytes"))


def _quality(row: Fields) -> Quality | None:
    suite = row.text("quality_suite")
    if suite is None:
        return None
    return Quality(suite=suite, suite_version=row.text("quality_suite_version"), score=row.number("quality_score"))


def _configuration(row: Fields) -> Configuration:
    stated: dict[str, object] = {}
    for name in columns.CONFIGURATION:
        if name in _TEXTS:
            stated[name] = row.text(name)
        elif name in _FLAGS:
            stated[name] = _flag(row, name)
        else:
            stated[name] = row.count(name)
    return Configuration(**stated)  # type: ignore[arg-type]  # the names of its fields


def _flag(row: Fields, name: str) -> bool | None:
    value = row.raw(name)
    if value is None or isinstance(value, bool):
        return value
    found = _TRUTHS.get(str(value).strip().lower())
    if found is None:
        raise MalformedReport.field(f"{row.path}.{name}", value, "is neither true nor false", "write true or false")
    return found


def _choice(row: Fields, name: str, kinds: type[Kind]) -> Kind | None:
    value = row.text(name)
    if value is None:
        return None
    try:
        return kinds(value.lower())
    except ValueError as error:
        allowed = ", ".join(kinds)
        raise MalformedReport.field(f"{row.path}.{name}", value, "is not known", f"use one of {allowed}") from error


def _measured_at(row: Fields) -> datetime | None:
    value = row.raw("measured_at")
    if value is None:
        return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = value.isoformat()
    found = iso_date(value)
    if found is None:
        raise MalformedReport.field(f"{row.path}.measured_at", value, "is no date", "write 2026-05-31 or ISO 8601")
    return found


def _labels(row: Fields) -> tuple[tuple[str, str], ...]:
    prefix = columns.LABEL_PREFIX
    found = ((name.removeprefix(prefix), as_text(value)) for name, value in row.data.items() if name.startswith(prefix))
    count = row.count(columns.ACCELERATOR_COUNT)
    under_test = [] if count is None else [(columns.ACCELERATOR_COUNT, str(count))]
    return tuple(sorted([*((name, value) for name, value in found if value is not None), *under_test]))


FORMAT: Final = TonnageTable()

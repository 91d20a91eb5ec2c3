"""From a file on disk, or a pushed run, to runs that may be stored: pure but for reading the file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Protocol

from tonnage import formats
from tonnage.errors import AmbiguousFormat, InvalidInput, UnknownFormat, at
from tonnage.formats.lint import lint_run
from tonnage.formats.sniffing import MAPPED_FORMAT
from tonnage.ingest import keys
from tonnage.ingest.given import Given, check_configuration, parse_given, path_of
from tonnage.ingest.labels import Completed, labelled
from tonnage.ingest.names import normal_run, settled_names, without_aliases
from tonnage.ingest.notes import note
from tonnage.ingest.replicas import with_replicas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.formats.base import Format, Source
    from tonnage.ingest.requests import ReportRequest, RunsRequest


class RawFile(Protocol):
    """The bytes of an upload, wherever they are: spooled on disk, or kept in the store."""

    @property
    def report_id(self) -> str:
        """SHA-256 of the bytes, lower-case hex."""
        ...

    @property
    def size_bytes(self) -> int:
        """How many bytes."""
        ...

    def open(self) -> BinaryIO:
        """Return the bytes from the start."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Runs with ids and normal names; ``given`` are the canonical labels that made the ids."""

    report_id: str
    format: str
    runs: tuple[Run, ...]
    findings: tuple[Finding, ...]
    given: keys.Pairs
    body_digest: str


def prepare_report(spooled: RawFile, request: ReportRequest) -> Prepared:
    """Read a spooled file and put on what was given.

    Raises ``UnknownFormat``, ``AmbiguousFormat``, ``MalformedReport``, ``TooLarge``, ``UnknownName``, or
    ``InvalidInput`` with the path of the label at fault.
    """
    given = _given(request)
    source = formats.open_source(
        spooled.open, filename=request.filename, size_bytes=spooled.size_bytes, column_map=request.column_map
    )
    reader = formats.recognise(source, request.format)
    found, findings = formats.read(source, Completed(reader, given))
    findings = [*findings, *_unused_map(source, reader)]
    labels = _canonical_labels(given, request, source, reader)
    runs = [_finished(_swept(run, given, request), given, spooled.report_id, labels) for run in found]
    return Prepared(
        report_id=spooled.report_id,
        format=reader.name,
        runs=tuple(_owned(run, request) for run in runs),
        findings=tuple(findings),
        given=labels,
        body_digest=keys.body_digest(spooled.report_id, *_said(request)),
    )


def _unused_map(source: Source, reader: Format) -> Iterator[Finding]:
    if source.column_map and reader.name != MAPPED_FORMAT:
        text = f"the file is of {reader.name}, whose columns need no map: {', '.join(sorted(source.column_map))}"
        remedy = f"leave the map out, or name the format {MAPPED_FORMAT}"
        yield note("COLUMN_MAP_NOT_USED", text, path="column_map", remedy=remedy)


def _given(request: ReportRequest) -> Given:
    raw = dict(request.given)
    if request.sweep_id is not None:
        if raw.get("sweep_id", request.sweep_id) != request.sweep_id:
            problem = f"contradicts sweep_id {request.sweep_id!r}"
            raise InvalidInput.field(path_of("sweep_id"), raw["sweep_id"], problem, "give one of them")
        raw["sweep_id"] = request.sweep_id
    given = parse_given(raw)
    check_configuration(given)
    return given


def _canonical_labels(given: Given, request: ReportRequest, source: Source, reader: Format) -> keys.Pairs:
    """Return everything beside the bytes that decides what the runs say.

    A format is among it only where the content alone would not have led to it.
    """
    forced = [] if request.format is None or _sniffed(source) == reader.name else [("format", reader.name)]
    mapped = [(f"map.{key}", value) for key, value in request.column_map.items()]
    return keys.canonical_pairs([*given.canonical, *forced, *mapped])


def _sniffed(source: Source) -> str | None:
    try:
        return formats.recognise(source).name
    except (UnknownFormat, AmbiguousFormat):
        return None


def _swept(run: Run, given: Given, request: ReportRequest) -> Run:
    """Return a run of one level in the upload's sweep, unless one is stated; a ladder is a sweep by itself.

    Uploads of one CI job are told from those of another, since each measured anew.
    """
    is_stated = run.sweep_id is not None or "sweep_id" in given.run
    if is_stated or request.default_sweep_id is None or len(run.levels) > 1:
        return run
    job = "" if request.ci_job is None else f"@{request.ci_job}"
    return replace(run, sweep_id=request.default_sweep_id + job)


def _finished(run: Run, given: Given, report_id: str, labels: keys.Pairs) -> Run:
    run = without_aliases(
        normal_run(run),
        model=given.configuration.get("model"),
        accelerator=given.configuration.get("accelerator"),
    )
    run = with_replicas(settled_names(labelled(run, given)), given)
    return _keyed(run, report_id, keys.run_id(report_id, labels, run.ordinal))


def _keyed(run: Run, report_id: str, run_id: str) -> Run:
    """Return the run with its ids; without a sweep of its own it is one by itself."""
    return replace(run, report_id=report_id, run_id=run_id, sweep_id=run_id if run.sweep_id is None else run.sweep_id)


def _owned(run: Run, request: ReportRequest) -> Run:
    return replace(
        run,
        namespace=request.namespace,
        filename=request.filename,
        ingested_by=request.ingested_by,
        ci_job=request.ci_job,
    )


def _said(request: ReportRequest) -> tuple[object, ...]:
    return (
        request.namespace,
        request.filename,
        request.format,
        dict(request.given),
        dict(request.column_map),
        request.sweep_id,
        request.default_sweep_id,
        request.replace,
        request.ingested_by,
        request.ci_job,
    )


def prepare_runs(runs: Sequence[Run], request: RunsRequest) -> tuple[Run, ...]:
    """Return pushed runs, checked, named and with ids from their own content, in their order.

    Raises ``InvalidInput`` with the position of the run at fault.
    """
    finished = []
    for position, run in enumerate(runs):
        with at(f"runs[{position}]"):
            finished.append(prepare_run(run, request))
    return tuple(finished)


def prepare_run(run: Run, request: RunsRequest) -> Run:
    """Return one pushed run, checked, named and with ids; raise ``InvalidInput``."""
    report_id = keys.record_id(run)
    owned = replace(
        lint_run(run),
        namespace=request.namespace,
        ingested_by=run.ingested_by if request.ingested_by is None else request.ingested_by,
        ci_job=run.ci_job if request.ci_job is None else request.ci_job,
    )
    return _keyed(with_replicas(settled_names(normal_run(owned)), Given()), report_id, keys.run_id(report_id, (), 0))

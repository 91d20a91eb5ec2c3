"""A kept raw file read again by this release, and whether it says what is stored: pure but for reading."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

from tonnage import checks
from tonnage.errors import InvalidInput
from tonnage.ingest import keys
from tonnage.ingest.prepare import prepare_report
from tonnage.ingest.requests import DEFAULT_NAMESPACE, ReportRequest, check_namespace
from tonnage.store.base import Append
from tonnage.store.incoming import read_back

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tonnage.domain.measurement import Run
    from tonnage.store.base import StoredReport

LARGEST_COUNT: Final = 1000
USUAL_COUNT: Final = 100
_MAP: Final = "map."

Outcome = Literal["UNCHANGED", "CHANGED", "REFUSED", "LEFT_ALONE"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RereadRequest:
    """Which kept files to read again; none named means those behind ``page_token``, at most ``page_size``."""

    namespace: str = DEFAULT_NAMESPACE
    report_ids: tuple[str, ...] = ()
    page_size: int = USUAL_COUNT
    page_token: str = ""
    validate_only: bool = False
    reread_by: str | None = None

    def __post_init__(self) -> None:
        """Hold counts and texts to their limits; raise ``InvalidInput``."""
        check_namespace("namespace", self.namespace)
        if len(self.report_ids) > LARGEST_COUNT:
            cure = f"name at most {LARGEST_COUNT} at once"
            raise InvalidInput.field("report_ids", len(self.report_ids), "holds too many", cure)
        if not 1 <= self.page_size <= LARGEST_COUNT:
            raise InvalidInput.field("page_size", self.page_size, f"is not from 1 to {LARGEST_COUNT}", "ask for fewer")
        checks.name("page_token", self.page_token)
        checks.name("reread_by", self.reread_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """What one file says now; ``append`` is what would store it, where that differs from what is stored."""

    report_id: str
    filename: str
    outcome: Outcome
    format: str = ""
    run_ids: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    reason: str = ""
    append: Append | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RereadAnswer:
    """What became of each file, and where the list goes on."""

    namespace: str
    reports: tuple[Reread, ...]
    data_version: int
    next_page_token: str = ""


@dataclass(frozen=True, slots=True)
class _Kept:
    report_id: str
    size_bytes: int
    opened: Callable[[], BinaryIO]

    def open(self) -> BinaryIO:
        return self.opened()


def read_again(stored: StoredReport, request: RereadRequest, opened: Callable[[], BinaryIO]) -> Reread:
    """Return what a kept file says by today's readers, with its labels as they were given.

    A file with a retracted run is left alone, since its new rows could bring back what was taken out. A run that says
    something else gets an id of its own, from the old key and what it says: rows never change.
    """
    facts = stored.facts
    told = Reread(report_id=facts.report_id, filename=facts.filename, outcome="LEFT_ALONE")
    live = [run for run, retired in stored.runs if retired is None]
    if not live or any(retired == "RETRACTED" for _, retired in stored.runs):
        return told
    try:
        raw = _Kept(facts.report_id, facts.size_bytes, opened)
        prepared = prepare_report(raw, _as_given(stored, live[0], request.namespace))
    except InvalidInput as error:
        return replace(told, outcome="REFUSED", reason=error.message)
    found = tuple(_owned(run, live[0]) for run in prepared.runs)
    before, now = sorted(map(_said, live)), sorted(map(_said, read_back(found)))
    if before == now:
        run_ids = tuple(run.run_id for run in live)
        return replace(told, outcome="UNCHANGED", format=prepared.format, run_ids=run_ids)
    new = tuple(_keyed(run, facts.given, keys.body_digest(now)) for run in found)
    return replace(
        told,
        outcome="CHANGED",
        format=prepared.format,
        run_ids=tuple(run.run_id for run in new),
        superseded=tuple(run.run_id for run in live),
        append=_append_of(stored, new, request),
    )


def _as_given(stored: StoredReport, run: Run, namespace: str) -> ReportRequest:
    """Return the request that stored the file, from what is kept of it."""
    said = dict(stored.facts.given)
    wanted = said.pop("format", None)
    column_map = {key.removeprefix(_MAP): said.pop(key) for key in list(said) if key.startswith(_MAP)}
    job = "" if run.ci_job is None else f"@{run.ci_job}"
    sweep = run.sweep_id if run.sweep_id != run.run_id and "sweep_id" not in said else None
    return ReportRequest(
        namespace=namespace,
        filename=stored.facts.filename,
        format=wanted,
        given=said,
        column_map=column_map,
        default_sweep_id=None if sweep is None else sweep.removesuffix(job),
        ingested_by=run.ingested_by,
        ci_job=run.ci_job,
    )


def _owned(run: Run, live: Run) -> Run:
    return replace(run, filename=live.filename)


def _said(run: Run) -> str:
    """Return what a run says, without its keys; one that was a sweep by itself stays one."""
    is_alone = run.sweep_id == run.run_id
    bare = replace(run, run_id="", ordinal=0, ingested_at=None, sweep_id="" if is_alone else run.sweep_id)
    return keys.canonical(asdict(bare))


def _keyed(run: Run, given: keys.Pairs, said: str) -> Run:
    run_id = keys.run_id(run.report_id, (*given, ("reread", said)), run.ordinal)
    return replace(run, run_id=run_id, sweep_id=run_id if run.sweep_id == run.run_id else run.sweep_id)


def _append_of(stored: StoredReport, runs: Sequence[Run], request: RereadRequest) -> Append:
    return Append(
        namespace=request.namespace,
        runs=tuple(runs),
        body_digest=keys.body_digest("reread", stored.facts.report_id, [run.run_id for run in runs]),
        report=stored.facts,
        is_reread=True,
        actor=request.reread_by,
    )

"""What the store is asked and what it answers, whatever the back end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    import pyarrow as pa

    from tonnage.domain.configuration import Configuration
    from tonnage.domain.measurement import Run, Work
    from tonnage.errors import TonnageError

Retirement = Literal["RETRACTED", "SUPERSEDED"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFacts:
    """What is kept of an upload beside its bytes; ``given`` are the canonical labels, sorted."""

    report_id: str
    filename: str
    size_bytes: int
    format: str
    given: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """One upload to be stored: runs with their ids set, all of one namespace.

    ``body_digest`` is of everything the caller sent, so that a ``request_id`` used again with
    another body is noticed. ``report`` is None for runs that came without a raw file. ``is_reread`` tells that the kept
    raw file was read again: what it said before is superseded.
    """

    namespace: str
    runs: tuple[Run, ...]
    body_digest: str
    request_id: str | None = None
    report: ReportFacts | None = None
    replace: bool = False
    is_reread: bool = False
    actor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendTables:
    """Runs to be stored that come as tables, in bulk: checked, with their ids, all of one namespace.

    ``runs`` and ``points`` have columns of the tables of these names (``store.schema``); text may be
    dictionary-encoded, a column of ``points`` without any value may be left out. First ack and data
    version are the store's to set.
    """

    namespace: str
    runs: pa.Table
    points: pa.Table
    body_digest: str
    request_id: str | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReceiptRow:
    """What became of one run; ``retired`` tells that it was stored before and is out of every answer."""

    run_id: str
    already_stored: bool
    level_count: int
    retired: Retirement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The durable answer to one ``Append``; ``data_version`` holds the points, unchanged when nothing was new."""

    data_version: int
    ingested_at: datetime
    runs: tuple[RunReceiptRow, ...]
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """Run ids to take out of every answer, with the reason that is kept."""

    namespace: str
    run_ids: tuple[str, ...]
    reason: str
    body_digest: str
    request_id: str | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetractionReceipt:
    """The durable answer to one ``Retraction``."""

    data_version: int
    already_retracted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRecord:
    """A plan to keep whole: ``body`` are the bytes of the message, ``recorded_at`` is the store's to set."""

    namespace: str
    plan_id: str
    release: str
    plan_data_version: int
    body: bytes
    recorded_by: str | None = None
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """A kept raw report with every run that was read from it, whatever its standing."""

    facts: ReportFacts
    runs: tuple[tuple[Run, Retirement | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUpload:
    """What the store knows of an upload: found by report id or request id."""

    namespace: str
    report_id: str
    filename: str
    ingested_at: datetime
    data_version: int
    runs: tuple[tuple[str, int, Retirement | None], ...] = ()


class StoreWriter(Protocol):
    """The one process that writes; every call returns after the commit is durable."""

    def keep_report(self, namespace: str, report_id: str, data: BinaryIO) -> None:
        """Keep the raw bytes, compressed, under their digest; fsynced before return; again is free."""
        ...

    def open_report(self, namespace: str, report_id: str) -> BinaryIO:
        """Return the raw bytes, checked against the digest while read; raise ``StoreDamaged`` or ``NotStored``."""
        ...

    def append(self, appends: Sequence[Append]) -> list[Receipt | TonnageError]:
        """Store several uploads in one commit; one that is refused does not stop the others.

        Refusals: ``RequestIdReused``, ``SameFileOtherLabels``.
        """
        ...

    def append_tables(self, tables: AppendTables) -> Receipt:
        """Store many runs that come as tables in one commit of their own; keys and answer are those of ``append``.

        Raises ``InvalidInput`` or ``RequestIdReused``, and then stores nothing.
        """
        ...

    def record_plan(self, plan: PlanRecord) -> tuple[PlanRecord, bool]:
        """Keep a plan, and return it as it is kept and whether it was kept before; no answer changes by it.

        Raises ``InvalidInput`` when another plan is kept under the id.
        """
        ...

    def recorded_plan(self, namespace: str, plan_id: str) -> PlanRecord:
        """Return a kept plan; raise ``NotStored``."""
        ...

    def retract(self, retraction: Retraction) -> RetractionReceipt:
        """Append retraction events; raise ``NotStored`` when a run is unknown, and then write nothing."""
        ...

    def preview_retraction(self, retraction: Retraction) -> RetractionReceipt:
        """Answer as ``retract`` would, refusals included, and write nothing."""
        ...

    def find_upload(
        self, namespace: str, *, report_id: str | None = None, request_id: str | None = None
    ) -> StoredUpload:
        """Return what became of an upload; raise ``NotStored``."""
        ...

    def report_ids(self, namespace: str, *, after: str, limit: int) -> list[str]:
        """Return ids of raw reports behind ``after`` in their order, at most ``limit``."""
        ...

    def stored_report(self, namespace: str, report_id: str) -> StoredReport:
        """Return a raw report's facts and runs; raise ``NotStored``."""
        ...

    @property
    def data_version(self) -> int:
        """Return the newest committed data version."""
        ...

    def maintain(self) -> None:
        """Do the housekeeping that is due; call it now and then. No answer changes by it."""
        ...

    def close(self) -> None:
        """Release the lock and the files."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Live runs of one configuration that form one curve: same tool, definitions, arrival kind and sweep id.

    ``work`` is the completed-weighted mean request size over its levels.
    """

    configuration: Configuration
    sweep_id: str
    tool: str
    metric_definitions: str
    arrival_kind: str | None
    work: Work
    runs: tuple[Run, ...]
    newest_ingested_at: datetime
    newest_measured_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationFacts:
    """A configuration with live runs, and how much is known of it."""

    configuration: Configuration
    fingerprint: str
    run_count: int
    level_count: int
    works: tuple[Work, ...]
    newest_measured_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs are listed; fields of ``configuration`` that are stated must match."""

    configuration: Configuration | None = None
    fingerprint: str | None = None
    tool: str | None = None
    sweep_id: str | None = None
    include_retired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Where a list is cut: rows after ``after`` (a key of the row before), at most ``limit``."""

    limit: int
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One page of runs or configurations, with the whole count."""

    rows: tuple[object, ...]
    total_count: int
    next_after: str | None = field(default=None)


class Snapshot(Protocol):
    """What planning reads: everything of one data version, unchanged however long it is held."""

    data_version: int

    def configurations(self, namespace: str) -> Sequence[ConfigurationFacts]:
        """Return configurations with live runs, by fingerprint."""
        ...

    def sweeps(self, namespace: str, fingerprint: str) -> Sequence[Sweep]:
        """Return the sweeps of one configuration, newest first; held in memory once read."""
        ...

    def runs(self, namespace: str, chosen: RunFilter, page: Page) -> Listed:
        """Return runs without levels, newest first, each with its retirement as ``(Run, Retirement | None)``."""
        ...

    def run(self, namespace: str, run_id: str) -> tuple[Run, Retirement | None]:
        """Return one run with levels; raise ``NotStored``."""
        ...


class StoreReader(Protocol):
    """Planning's private replica, refreshed in the background."""

    @property
    def snapshot(self) -> Snapshot:
        """Return the newest snapshot; never blocks."""
        ...

    def wait_for(self, data_version: int, timeout_s: float) -> Snapshot:
        """Return a snapshot of at least that version; raise ``DataVersionNotReached``."""
        ...

    def healthy(self) -> bool:
        """Tell whether the feed was reached lately."""
        ...

    def close(self) -> None:
        """Stop refreshing."""
        ...


def levels_of(sweep: Sweep) -> Iterator[tuple[Run, int]]:
    """Yield each run with the position of each of its levels."""
    for run in sweep.runs:
        for position in range(len(run.levels)):
            yield run, position

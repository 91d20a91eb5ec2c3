"""A store in this process: for tests and for trying things out; nothing survives it."""

from __future__ import annotations

import hashlib
import io
import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from tonnage import access
from tonnage.errors import DataVersionNotReached, InvalidInput, NotStored
from tonnage.store.base import Listed
from tonnage.store.changes import Changes
from tonnage.store.decide import decide_all, decide_append, decide_plan, decide_retraction, found_plan, prepared
from tonnage.store.incoming import Upload, check_plan, check_texts
from tonnage.store.known import Known, retirement_after
from tonnage.store.listing import Cut, cut_of, matches
from tonnage.store.rows import without_levels
from tonnage.store.sweeps import RunHead, acknowledged_at, facts_of, sweeps_of
from tonnage.store.uploads import by_report, by_request, stored_report, upload_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tonnage.domain.measurement import Run
    from tonnage.errors import TonnageError
    from tonnage.store.base import (
        Append,
        AppendTables,
        ConfigurationFacts,
        Page,
        PlanRecord,
        Receipt,
        Retirement,
        Retraction,
        RetractionReceipt,
        RunFilter,
        StoredReport,
        StoredUpload,
        Sweep,
    )
    from tonnage.store.known import Event


Answer = TypeVar("Answer")


def _utc_now() -> datetime:
    return datetime.now(UTC)


class MemoryStore:
    """Writer and reader in one; decides as every back end does."""

    def __init__(self, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._now = now
        self._changed = threading.Condition(threading.RLock())
        self._known = Known()
        self._reports: dict[str, bytes] = {}
        self._snapshot = MemorySnapshot(data_version=0, runs=(), events=())

    @property
    def data_version(self) -> int:
        """Return the newest committed data version."""
        return self._snapshot.data_version

    @property
    def snapshot(self) -> MemorySnapshot:
        """Return the newest snapshot."""
        return self._snapshot

    def keep_report(self, namespace: str, report_id: str, data: BinaryIO) -> None:  # noqa: ARG002 -- kept once for all
        """Keep the raw bytes of a report."""
        held = data.read()
        found = hashlib.sha256(held).hexdigest()
        if found != report_id:
            cure = "give the SHA-256 of the bytes"
            raise InvalidInput.field("report_id", report_id, f"is not the digest of the bytes ({found})", cure)
        self._reports[report_id] = held

    def open_report(self, namespace: str, report_id: str) -> BinaryIO:
        """Return the raw bytes of a stored upload of this namespace."""
        if (namespace, report_id) not in self._known.reports or report_id not in self._reports:
            raise NotStored(f"no raw report {report_id} in namespace {namespace}", report_id=report_id)
        return io.BytesIO(self._reports[report_id])

    def append(self, appends: Sequence[Append]) -> list[Receipt | TonnageError]:
        """Store several uploads; one that is refused does not stop the others."""
        uploads = prepared(appends)
        return self._write(lambda changes: decide_all(uploads, self._known, changes))

    def append_tables(self, tables: AppendTables) -> Receipt:
        """Store many runs that come as tables; raise ``InvalidInput`` or ``RequestIdReused``."""
        upload = Upload.of_tables(tables)
        return self._write(lambda changes: decide_append(upload, self._known, changes))

    def record_plan(self, plan: PlanRecord) -> tuple[PlanRecord, bool]:
        """Keep a plan; the same plan again is kept once. Raises ``InvalidInput``."""
        check_plan(plan)
        return self._write(lambda changes: decide_plan(plan, self._known, changes))

    def recorded_plan(self, namespace: str, plan_id: str) -> PlanRecord:
        """Return a kept plan; raise ``NotStored``."""
        check_texts(namespace=namespace, plan_id=plan_id)
        return found_plan((namespace, plan_id), self._known)

    def retract(self, retraction: Retraction) -> RetractionReceipt:
        """Take runs out of every answer; raise ``NotStored`` when one is unknown."""
        return self._write(lambda changes: decide_retraction(retraction, self._known, changes))

    def preview_retraction(self, retraction: Retraction) -> RetractionReceipt:
        """Answer as ``retract`` would, refusals included, and write nothing."""
        known = Known(runs=dict(self._known.runs), requests=dict(self._known.requests))
        return decide_retraction(retraction, known, Changes(data_version=self.data_version, now=self._now()))

    def find_upload(
        self, namespace: str, *, report_id: str | None = None, request_id: str | None = None
    ) -> StoredUpload:
        """Return what became of an upload; raise ``NotStored``."""
        check_texts(namespace=namespace, report_id=report_id, request_id=request_id)
        if report_id is not None:
            return by_report(namespace, report_id, self._known)
        if request_id is None:
            raise NotStored("neither a report id nor a request id is given")
        return by_request(upload_request((namespace, request_id), self._known), self._known)

    def report_ids(self, namespace: str, *, after: str, limit: int) -> list[str]:
        """Return ids of raw reports behind ``after`` in their order."""
        held = sorted(report_id for owner, report_id in self._known.reports if owner == namespace and report_id > after)
        return held[:limit]

    def stored_report(self, namespace: str, report_id: str) -> StoredReport:
        """Return a raw report's facts and runs; raise ``NotStored``."""
        runs = (self._snapshot.run(namespace, run.run_id) for run in self._known.of_report(namespace, report_id))
        return stored_report(namespace, report_id, self._known, runs)

    def wait_for(self, data_version: int, timeout_s: float) -> MemorySnapshot:
        """Return a snapshot of at least that version; raise ``DataVersionNotReached``."""
        with self._changed:
            if self._changed.wait_for(lambda: self.data_version >= data_version, timeout_s):
                return self._snapshot
        raise DataVersionNotReached(
            f"data version {data_version} was not reached, the newest is {self.data_version}; try again",
            asked=data_version,
            newest=self.data_version,
        )

    def healthy(self) -> bool:
        """Return True: nothing can be out of reach."""
        return True

    def maintain(self) -> None:
        """Do nothing: there are no files."""

    def close(self) -> None:
        """Do nothing: the store goes with the object."""

    def _write(self, decide: Callable[[Changes], Answer]) -> Answer:
        with self._changed:
            changes = Changes(data_version=self.data_version + 1, now=self._now())
            answer = decide(changes)
            if changes.holds_data:
                self._snapshot = self._snapshot.with_changes(changes)
                self._changed.notify_all()
            return answer


class MemorySnapshot:
    """Everything of one data version."""

    def __init__(self, *, data_version: int, runs: tuple[Run, ...], events: tuple[Event, ...]) -> None:
        self.data_version = data_version
        self._runs = runs
        self._events = events
        self._retirements = {(event.namespace, event.run_id): retirement_after(event.kind) for event in events}

    def with_changes(self, changes: Changes) -> MemorySnapshot:
        """Return the next snapshot."""
        runs = ({run.run_id: run for run in upload.domain_runs()} for upload, _ in changes.uploads)
        given = (
            (known, by_id[known.run_id]) for (_, new), by_id in zip(changes.uploads, runs, strict=True) for known in new
        )
        return MemorySnapshot(
            data_version=changes.data_version,
            runs=(*self._runs, *(replace(run, ingested_at=known.ingested_at) for known, run in given)),
            events=(*self._events, *changes.events),
        )

    def configurations(self, namespace: str) -> Sequence[ConfigurationFacts]:
        """Return configurations with live runs, by fingerprint."""
        access.require(namespace)
        live = self._live(namespace)
        by_fingerprint = {run.configuration.fingerprint: run.configuration for run in live}
        facts = (
            facts_of(configuration, [RunHead.of(run) for run in live if run.configuration == configuration])
            for _, configuration in sorted(by_fingerprint.items())
        )
        return tuple(item for item in facts if item is not None)

    def sweeps(self, namespace: str, fingerprint: str) -> Sequence[Sweep]:
        """Return the sweeps of one configuration, newest first."""
        access.require(namespace)
        return sweeps_of(run for run in self._live(namespace) if run.configuration.fingerprint == fingerprint)

    def runs(self, namespace: str, chosen: RunFilter, page: Page) -> Listed:
        """Return runs without levels, newest first, each with its retirement."""
        access.require(namespace)
        cut = cut_of(page)
        held = [
            run
            for run in self._runs
            if run.namespace == namespace
            and matches(run, chosen)
            and (chosen.include_retired or self._retirement(run) is None)
        ]
        held.sort(key=lambda run: run.run_id)
        held.sort(key=acknowledged_at, reverse=True)
        after = [run for run in held if cut is None or cut.is_before(run)]
        rows = tuple((without_levels(run), self._retirement(run)) for run in after[: page.limit])
        more = Cut.at(rows[-1][0]).text() if len(after) > page.limit else None
        return Listed(rows=rows, total_count=len(held), next_after=more)

    def run(self, namespace: str, run_id: str) -> tuple[Run, Retirement | None]:
        """Return one run with levels; raise ``NotStored``."""
        access.require(namespace)
        for run in self._runs:
            if (run.namespace, run.run_id) == (namespace, run_id):
                return run, self._retirement(run)
        raise NotStored(f"no run {run_id} in namespace {namespace}", run_id=run_id, namespace=namespace)

    def _live(self, namespace: str) -> list[Run]:
        return [run for run in self._runs if run.namespace == namespace and self._retirement(run) is None]

    def _retirement(self, run: Run) -> Retirement | None:
        return self._retirements.get((run.namespace, run.run_id))

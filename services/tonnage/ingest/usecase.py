"""What ingest does: read, check, store durably, answer; no wire and no SQL."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from tonnage.errors import Overloaded
from tonnage.formats import FORMATS
from tonnage.ingest import keys
from tonnage.ingest.notes import note
from tonnage.ingest.prepare import Prepared, prepare_report, prepare_runs
from tonnage.ingest.requests import BulkAnswer, Converted, ReportAnswer, RunAnswer, RunsAnswer
from tonnage.ingest.reread import RereadAnswer, read_again
from tonnage.store.base import Append, ReportFacts, Retraction

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.formats.base import Format
    from tonnage.ingest.arrow.bulk import Collected
    from tonnage.ingest.committer import Committer
    from tonnage.ingest.pushed.ready import Pushed
    from tonnage.ingest.requests import BulkRun, Outcome, ReportRequest, RetractRequest, RunsRequest
    from tonnage.ingest.reread import Reread, RereadRequest
    from tonnage.ingest.spool import Spooled
    from tonnage.store.base import (
        PlanRecord,
        Receipt,
        Retirement,
        RetractionReceipt,
        RunReceiptRow,
        StoredUpload,
        StoreWriter,
    )

RETRY_AFTER_MS: Final = 1000
PIECE_BYTES: Final = 1 << 20


class Ingest:
    """The use cases over one store, shared by all calls of a process."""

    def __init__(self, writer: StoreWriter, committer: Committer, *, max_uploads: int) -> None:
        self._writer = writer
        self._committer = committer
        self._max_uploads = max_uploads
        self._in_flight = 0

    @property
    def formats(self) -> tuple[Format, ...]:
        """Return the readers, in their order."""
        return FORMATS

    async def ready(self) -> bool:
        """Tell whether uploads can be stored."""
        return self._committer.is_alive

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Hold one of the places for uploads in flight; raise ``Overloaded`` when there is none."""
        if self._in_flight >= self._max_uploads:
            raise Overloaded(
                f"{self._max_uploads} uploads are in flight; try again in {RETRY_AFTER_MS} ms",
                limit="uploads in flight",
                retry_after_ms=RETRY_AFTER_MS,
            )
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1

    async def store_report(self, spooled: Spooled, request: ReportRequest) -> ReportAnswer:
        """Store a file that is whole on disk, and answer once it is durable.

        Raises what ``prepare_report`` raises, ``RequestIdReused``, ``SameFileOtherLabels``, ``StoreUnavailable``.
        """
        prepared = await asyncio.to_thread(prepare_report, spooled, request)
        if request.validate_only:
            return ReportAnswer(
                report_id=prepared.report_id,
                format=prepared.format,
                runs=_valid(prepared.runs),
                data_version=await self._data_version(),
                findings=prepared.findings,
            )
        await asyncio.to_thread(self._keep, spooled, request.namespace)
        receipt = await self._commit(_append_of(spooled, request, prepared))
        return ReportAnswer(
            report_id=prepared.report_id,
            format=prepared.format,
            runs=_answers(prepared.runs, receipt),
            data_version=receipt.data_version,
            findings=prepared.findings,
            ingested_at=receipt.ingested_at,
        )

    async def convert_report(self, spooled: Spooled, request: ReportRequest) -> Converted:
        """Read a file as it would be stored; raises what ``prepare_report`` raises."""
        prepared = await asyncio.to_thread(prepare_report, spooled, request)
        return Converted(
            report_id=prepared.report_id, format=prepared.format, runs=prepared.runs, findings=prepared.findings
        )

    async def store_runs(self, runs: Sequence[Run], request: RunsRequest) -> RunsAnswer:
        """Store pushed runs in one commit; the same record twice is stored once.

        Raises ``InvalidInput``, ``RequestIdReused``, ``StoreUnavailable``; nothing is stored then.
        """
        prepared = await asyncio.to_thread(prepare_runs, runs, request)
        if request.validate_only:
            return RunsAnswer(runs=_valid(prepared), data_version=await self._data_version())
        distinct = {run.run_id: run for run in prepared}
        append = Append(
            namespace=request.namespace,
            runs=tuple(distinct.values()),
            body_digest=keys.body_digest(request.namespace, [run.run_id for run in prepared], request.ci_job),
            request_id=request.request_id,
            actor=request.ingested_by,
        )
        receipt = await self._commit(append)
        return RunsAnswer(runs=_answers(prepared, receipt), data_version=receipt.data_version)

    async def store_bulk(self, collected: Collected, request: RunsRequest) -> BulkAnswer:
        """Store a whole stream of tables in one commit; the same record twice is stored once.

        Raises ``RequestIdReused`` or ``StoreUnavailable``; nothing is stored then.
        """
        if request.validate_only:
            runs: tuple[tuple[BulkRun, Outcome], ...] = tuple((run, "VALID") for run in collected.told)
            version = await self._data_version()
            return BulkAnswer(namespace=request.namespace, runs=runs, data_version=version, findings=collected.findings)
        receipt = await asyncio.wrap_future(self._committer.call(lambda writer: writer.append_tables(collected.tables)))
        return _bulk_answer(collected, receipt, request.namespace)

    async def store_pushed(self, pushed: Pushed, request: RunsRequest) -> BulkAnswer:
        """Store many pushed runs in one commit; the same record twice is stored once.

        Raises ``RequestIdReused`` or ``StoreUnavailable``; nothing is stored then.
        """
        receipt = await asyncio.wrap_future(self._committer.call(lambda writer: writer.append_tables(pushed.tables)))
        return _pushed_answer(pushed, receipt, request.namespace)

    async def record_plan(self, plan: PlanRecord) -> tuple[PlanRecord, bool]:
        """Keep a plan, and return it as kept and whether it was before; raise ``InvalidInput``."""
        return await asyncio.wrap_future(self._committer.call(lambda writer: writer.record_plan(plan)))

    async def recorded_plan(self, namespace: str, plan_id: str) -> PlanRecord:
        """Return a kept plan; raise ``NotStored``."""
        return await asyncio.wrap_future(self._committer.call(lambda writer: writer.recorded_plan(namespace, plan_id)))

    async def find_upload(
        self, namespace: str, *, report_id: str | None = None, request_id: str | None = None
    ) -> StoredUpload:
        """Return what became of an upload; raise ``NotStored``."""
        return await asyncio.wrap_future(
            self._committer.call(
                lambda writer: writer.find_upload(namespace, report_id=report_id, request_id=request_id)
            )
        )

    async def retract(self, request: RetractRequest) -> RetractionReceipt:
        """Take runs out of every answer; raise ``NotStored`` when one is unknown, and then do nothing."""
        retraction = _retraction_of(request)
        if request.validate_only:
            return await asyncio.wrap_future(self._committer.call(lambda writer: writer.preview_retraction(retraction)))
        return await asyncio.wrap_future(self._committer.call(lambda writer: writer.retract(retraction)))

    async def reread(self, request: RereadRequest) -> RereadAnswer:
        """Read kept files again, one after the other, each stored in a commit of its own where it says something else.

        Raises ``NotStored`` for a file that is not kept, and then has done those named before it.
        """
        named = request.report_ids
        wanted = list(named) or await self._page(request)
        done = [await self._reread(report_id, request) for report_id in wanted]
        more = not named and len(wanted) == request.page_size
        return RereadAnswer(
            namespace=request.namespace,
            reports=tuple(done),
            data_version=await self._data_version(),
            next_page_token=wanted[-1] if more else "",
        )

    async def _page(self, request: RereadRequest) -> list[str]:
        return await asyncio.wrap_future(
            self._committer.call(
                lambda writer: writer.report_ids(request.namespace, after=request.page_token, limit=request.page_size)
            )
        )

    async def _reread(self, report_id: str, request: RereadRequest) -> Reread:
        stored = await asyncio.wrap_future(
            self._committer.call(lambda writer: writer.stored_report(request.namespace, report_id))
        )
        opened = partial(self._writer.open_report, request.namespace, report_id)
        found = await asyncio.to_thread(read_again, stored, request, opened)
        if found.append is not None and not request.validate_only:
            await self._commit(found.append)
        return found

    async def raw_report(self, namespace: str, report_id: str) -> AsyncIterator[bytes]:
        """Yield a kept file in pieces; raise ``NotStored``, or ``StoreDamaged`` when its bytes do not match its id."""
        data = await asyncio.to_thread(self._writer.open_report, namespace, report_id)
        with data:
            while piece := await asyncio.to_thread(data.read, PIECE_BYTES):
                yield piece

    async def maintain(self) -> None:
        """Let the store tidy up in its turn between commits."""
        await asyncio.wrap_future(self._committer.call(lambda writer: writer.maintain()))

    async def _commit(self, append: Append) -> Receipt:
        return await asyncio.wrap_future(self._committer.submit(append))

    async def _data_version(self) -> int:
        return await asyncio.wrap_future(self._committer.call(lambda writer: writer.data_version))

    def _keep(self, spooled: Spooled, namespace: str) -> None:
        """Keep the raw bytes beside the commits, which a large file would hold up."""
        with spooled.open() as data:
            self._writer.keep_report(namespace, spooled.report_id, data)


def _retraction_of(request: RetractRequest) -> Retraction:
    return Retraction(
        namespace=request.namespace,
        run_ids=request.run_ids,
        reason=request.reason,
        body_digest=keys.body_digest(request.namespace, request.run_ids, request.reason, request.retracted_by),
        request_id=request.request_id,
        actor=request.retracted_by,
    )


def _append_of(spooled: Spooled, request: ReportRequest, prepared: Prepared) -> Append:
    return Append(
        namespace=request.namespace,
        runs=prepared.runs,
        body_digest=prepared.body_digest,
        request_id=request.request_id,
        report=ReportFacts(
            report_id=prepared.report_id,
            filename=request.filename,
            size_bytes=spooled.size_bytes,
            format=prepared.format,
            given=prepared.given,
        ),
        replace=request.replace,
        actor=request.ingested_by,
    )


def _valid(runs: Sequence[Run]) -> tuple[RunAnswer, ...]:
    return tuple(RunAnswer(run=run, outcome="VALID", ordinal=ordinal) for ordinal, run in enumerate(runs))


def _answers(runs: Sequence[Run], receipt: Receipt) -> tuple[RunAnswer, ...]:
    """Return what became of each run, in order; a record sent twice is stored once."""
    rows = {row.run_id: row for row in receipt.runs}
    seen: set[str] = set()
    answers = []
    for ordinal, run in enumerate(runs):
        row = rows[run.run_id]
        outcome: Outcome = "ALREADY_STORED" if row.already_stored or run.run_id in seen else "STORED"
        seen.add(run.run_id)
        kept = run if row.retired is None else replace(run, findings=(*run.findings, _retired(row.retired)))
        answers.append(RunAnswer(run=kept, outcome=outcome, ordinal=ordinal))
    return tuple(answers)


def _outcomes(told: Iterable[BulkRun], rows: Mapping[str, RunReceiptRow]) -> Iterator[tuple[BulkRun, Outcome]]:
    seen: set[str] = set()
    for run in told:
        is_known = rows[run.run_id].already_stored or run.run_id in seen
        yield run, "ALREADY_STORED" if is_known else "STORED"
        seen.add(run.run_id)


def _pushed_answer(pushed: Pushed, receipt: Receipt, namespace: str) -> BulkAnswer:
    rows = {row.run_id: row for row in receipt.runs}
    runs = []
    for run, outcome in _outcomes(pushed.told, rows):
        standing = rows[run.run_id].retired
        kept = run if standing is None else replace(run, findings=(*run.findings, _retired(standing)))
        runs.append((kept, outcome))
    return BulkAnswer(namespace=namespace, runs=tuple(runs), data_version=receipt.data_version, findings=())


def _bulk_answer(collected: Collected, receipt: Receipt, namespace: str) -> BulkAnswer:
    runs = _outcomes(collected.told, {row.run_id: row for row in receipt.runs})
    standings = sorted({row.retired for row in receipt.runs if row.retired is not None})
    return BulkAnswer(
        namespace=namespace,
        runs=tuple(runs),
        data_version=receipt.data_version,
        findings=(*collected.findings, *map(_retired, standings)),
    )


def _retired(standing: Retirement) -> Finding:
    return note(
        "RUN_RETIRED",
        f"the run was stored before and is {standing.lower()}; it stays out of every answer",
        path="",
        remedy="send it with other labels and replace, if it should count again",
    )

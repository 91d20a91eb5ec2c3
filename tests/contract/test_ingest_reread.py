"""Kept raw files are read again by ingest, and fetched as they were, on every store."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import grpc.aio
import pytest
from builders_ingest import GIVEN, a_table, an_ingest_server, report_parts

from tonnage.ingest import reread
from tonnage.ingest.prepare import prepare_report
from tonnage.store import open_writer
from tonnage.store.memory import MemoryStore
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tonnage.ingest.prepare import Prepared
    from tonnage.store.base import StoreWriter
    from tonnage.v1.ingest_service_pb2_grpc import IngestServiceAsyncStub

    Script = Callable[[IngestServiceAsyncStub], Awaitable[Any]]

STORES: dict[str, Callable[[Path], StoreWriter]] = {
    "memory": lambda _: MemoryStore(),
    "lake": lambda folder: open_writer(f"lake://{folder}/store"),
}
TABLE = a_table()
DIGEST = hashlib.sha256(TABLE).hexdigest()


async def _each(parts: list[Any]) -> AsyncIterator[Any]:
    for part in parts:
        yield part


async def _push(stub: IngestServiceAsyncStub, **fields: Any) -> pb.IngestReportResponse:  # noqa: ANN401 -- metadata
    head = pb.ReportMetadata(**{"filename": "bench.csv", "given": GIVEN, **fields})
    return await stub.IngestReport(_each(report_parts(TABLE, head)))


@pytest.fixture(params=STORES)
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> StoreWriter:
    """Return each kind of store."""
    return STORES[request.param](tmp_path)


def talk(writer: StoreWriter, folder: Path, script: Script) -> Any:  # noqa: ANN401 -- whatever the script returns
    async def life() -> Any:  # noqa: ANN401 -- as above
        async with (
            an_ingest_server(folder, writer) as running,
            grpc.aio.insecure_channel(running.address) as channel,
        ):
            return await script(IngestServiceStub(channel))

    return asyncio.run(life())


def _better(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the readers find what they missed before: the version of the tool."""
    before = prepare_report

    def prepared(*given: Any) -> Prepared:  # noqa: ANN401 -- handed on
        found = before(*given)
        return replace(found, runs=tuple(replace(run, tool_version="9.9") for run in found.runs))

    monkeypatch.setattr(reread, "prepare_report", prepared)


def test_readers_that_find_the_same_change_nothing(writer: StoreWriter, tmp_path: Path) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[pb.IngestReportResponse, pb.RereadReportsResponse]:
        return await _push(stub), await stub.RereadReports(pb.RereadReportsRequest())

    stored, answer = talk(writer, tmp_path, script)
    (report,) = answer.reports
    assert (report.report_id, report.outcome) == (DIGEST, pb.REREAD_OUTCOME_UNCHANGED)
    assert list(report.runs) == sorted(run.run for run in stored.runs)
    assert answer.data_version == stored.data_version


def test_a_better_reader_supersedes_once(writer: StoreWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(stub: IngestServiceAsyncStub) -> list[Any]:
        stored = await _push(stub)
        _better(monkeypatch)
        answers = [await stub.RereadReports(pb.RereadReportsRequest()) for _ in range(2)]
        return [stored, *answers, await stub.GetIngestion(pb.GetIngestionRequest(report_id=DIGEST))]

    stored, first, again, found = talk(writer, tmp_path, script)
    assert first.reports[0].outcome == pb.REREAD_OUTCOME_CHANGED
    assert sorted(first.reports[0].superseded_runs) == sorted(run.run for run in stored.runs)
    assert again.reports[0].outcome == pb.REREAD_OUTCOME_UNCHANGED
    assert again.data_version == first.data_version > stored.data_version
    standing = {run.run: run.retired for run in found.runs}
    assert {name for name, retired in standing.items() if not retired} == set(first.reports[0].runs)


def test_a_dry_reread_changes_nothing(writer: StoreWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[pb.IngestReportResponse, pb.RereadReportsResponse]:
        stored = await _push(stub)
        _better(monkeypatch)
        return stored, await stub.RereadReports(pb.RereadReportsRequest(validate_only=True))

    stored, answer = talk(writer, tmp_path, script)
    assert answer.reports[0].outcome == pb.REREAD_OUTCOME_CHANGED
    assert answer.data_version == stored.data_version


def test_a_file_with_a_retracted_run_is_left_alone(
    writer: StoreWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script(stub: IngestServiceAsyncStub) -> pb.RereadReportsResponse:
        stored = await _push(stub)
        await stub.RetractRuns(pb.RetractRunsRequest(runs=[stored.runs[0].run], reason="wrong card"))
        _better(monkeypatch)
        return await stub.RereadReports(pb.RereadReportsRequest())

    assert talk(writer, tmp_path, script).reports[0].outcome == pb.REREAD_OUTCOME_LEFT_ALONE


def test_a_kept_file_comes_back_as_it_was(writer: StoreWriter, tmp_path: Path) -> None:
    async def script(stub: IngestServiceAsyncStub) -> bytes:
        await _push(stub)
        pieces = stub.FetchReport(pb.FetchReportRequest(report_id=DIGEST))
        return b"".join([piece.chunk async for piece in pieces])

    assert talk(writer, tmp_path, script) == TABLE

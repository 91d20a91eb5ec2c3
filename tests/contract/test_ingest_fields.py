"""Every field of every ingest request, spoilt: a named refusal or a true answer, never a fault of ours."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest
from builders_arrow import a_bulk_table, ipc
from builders_ingest import a_plan, a_table, an_ingest_stub, report_parts, runs_parts
from builders_rpc import a_run_message, error_info, violations
from field_walk import walk

from tonnage.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from tonnage.v1 import run_pb2
    from tonnage.v1.ingest_service_pb2_grpc import IngestServiceAsyncStub

    Send = Callable[[IngestServiceAsyncStub, Any], Awaitable[Any]]

RUN_NAME = "namespaces/default/runs/00000000-0000-0000-0000-000000000001"
REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}


async def _each(parts: list[Any]) -> AsyncIterator[Any]:
    for part in parts:
        yield part


def _metadata() -> pb.ReportMetadata:
    return pb.ReportMetadata(
        filename="bench.csv",
        request_id="ci-1",
        given={"model": "m", "input_tokens_mean": "10", "output_tokens_mean": "10"},
        validate_only=True,
        size_bytes=len(a_table()),
    )


async def _send_report(stub: IngestServiceAsyncStub, head: pb.IngestReportRequest) -> object:
    parts = [head, *report_parts(a_table())[1:]]
    return await stub.IngestReport(_each(parts))


async def _send_convert(stub: IngestServiceAsyncStub, head: pb.ConvertReportRequest) -> object:
    parts = [head, pb.ConvertReportRequest(chunk=a_table())]
    return await stub.ConvertReport(_each(parts))


async def _send_runs_head(stub: IngestServiceAsyncStub, head: pb.IngestRunsRequest) -> object:
    return await stub.IngestRuns(_each([head, *runs_parts([a_run_message()])[1:]]))


async def _send_batch(stub: IngestServiceAsyncStub, batch: pb.IngestRunsRequest) -> object:
    head = pb.IngestRunsRequest(metadata=pb.IngestRunsMetadata(validate_only=True))
    return await stub.IngestRuns(_each([head, batch]))


def _full_run() -> run_pb2.Run:
    run = a_run_message(sweep_id="s", tool_version="1", sample_set="x", source="us")
    run.conditions.host = "h"
    run.conditions.labels["team"] = "a"
    run.measured_at.seconds = 1_700_000_000
    run.findings.add(code="NOTE", severity=1, message="m").evidence.add(origin=1, quantity="q")
    level = run.levels[0]
    level.telemetry.power_w = 300
    level.quality.suite = "mmlu"
    part = level.tenants.add(tenant="a").level
    part.requests_per_s = 1
    part.quality.suite = "mmlu"
    return run


CASES: dict[str, tuple[Any, Send]] = {
    "IngestReport": (pb.IngestReportRequest(metadata=_metadata()), _send_report),
    "ConvertReport": (pb.ConvertReportRequest(metadata=_metadata()), _send_convert),
    "IngestRuns metadata": (pb.IngestRunsRequest(metadata=pb.IngestRunsMetadata(request_id="r")), _send_runs_head),
    "IngestRuns batch": (pb.IngestRunsRequest(batch=pb.RunBatch(runs=[_full_run()])), _send_batch),
    "IngestRuns table": (pb.IngestRunsRequest(arrow_ipc=ipc(a_bulk_table(1))), _send_batch),
    "RecordPlan": (
        pb.RecordPlanRequest(plan=a_plan(), recorded_by="ci"),
        lambda stub, message: stub.RecordPlan(message),
    ),
    "GetRecordedPlan": (
        pb.GetRecordedPlanRequest(plan_id="ab"),
        lambda stub, message: stub.GetRecordedPlan(message),
    ),
    "GetIngestion": (pb.GetIngestionRequest(report_id="ab" * 32), lambda stub, message: stub.GetIngestion(message)),
    "ListFormats": (pb.ListFormatsRequest(), lambda stub, message: stub.ListFormats(message)),
    "RereadReports": (
        pb.RereadReportsRequest(report_ids=["ab" * 32], page_size=1, reread_by="ci"),
        lambda stub, message: stub.RereadReports(message),
    ),
    "RetractRuns": (
        pb.RetractRunsRequest(runs=[RUN_NAME], reason="wrong", validate_only=True),
        lambda stub, message: stub.RetractRuns(message),
    ),
}


def _faults(answers: Iterator[tuple[str, grpc.aio.AioRpcError | None]]) -> list[str]:
    return [fault for name, error in answers if error is not None and (fault := _fault(name, error))]


def _fault(name: str, error: grpc.aio.AioRpcError) -> str:
    if error.code() not in REFUSALS:
        return f"{name}: {error.code()} {error.details()}"
    if error.code() is grpc.StatusCode.INVALID_ARGUMENT and not violations(error):
        return f"{name}: names no field: {error.details()}"
    return "" if error_info(error).reason else f"{name}: has no reason"


@pytest.mark.parametrize("case", CASES)
def test_a_spoilt_field_is_refused_by_name_or_answered(case: str, tmp_path: Path) -> None:
    valid, send = CASES[case]

    async def answers() -> list[tuple[str, grpc.aio.AioRpcError | None]]:
        found: list[tuple[str, grpc.aio.AioRpcError | None]] = []
        async with an_ingest_stub(tmp_path) as stub:
            for spoilt in walk(valid):
                try:
                    await send(stub, spoilt.message)
                    found.append((str(spoilt), None))
                except grpc.aio.AioRpcError as error:
                    found.append((str(spoilt), error))
        return found

    assert _faults(iter(asyncio.run(answers()))) == []


def test_numbers_that_cannot_be_are_refused_with_their_whole_path(tmp_path: Path) -> None:
    async def paths() -> set[str]:
        found = set()
        async with an_ingest_stub(tmp_path) as stub:
            for spoilt in walk(CASES["IngestRuns batch"][0]):
                if spoilt.value not in {"nan", "-inf", "1e+308"}:
                    continue
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await _send_batch(stub, spoilt.message)
                found |= {spoilt.path} - set(violations(caught.value))
        return found

    assert asyncio.run(paths()) == set()

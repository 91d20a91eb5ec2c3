"""What tests of the ingest server ask for: messages, a table file, and the server itself, real but in this process."""

from __future__ import annotations

import io
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import grpc
import grpc.aio
from google.rpc import error_details_pb2, status_pb2

from tonnage.ingest.committer import Committer
from tonnage.ingest.servicer import IngestServicer
from tonnage.ingest.spool import Spool
from tonnage.ingest.usecase import Ingest
from tonnage.rpc.server import ServerOptions, Service, start
from tonnage.store.memory import MemoryStore
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1 import run_pb2
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceStub, add_IngestServiceServicer_to_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from tonnage.rpc.server import Running
    from tonnage.store.base import StoreWriter
    from tonnage.v1.ingest_service_pb2_grpc import IngestServiceAsyncStub

SERVICE = "tonnage.v1.IngestService"
COLUMNS = "concurrency,requests_per_s,output_tokens_per_s,ttft_p50_ms,completed_count,failed_count"


class Lines:
    """A log kept in a list, one dict a line."""

    def __init__(self) -> None:
        self.lines: list[dict[str, object]] = []

    def debug(self, event: str, **fields: object) -> None:
        """Keep a line."""
        self.lines.append({"level": "debug", "event": event, **fields})

    def info(self, event: str, **fields: object) -> None:
        """Keep a line."""
        self.lines.append({"level": "info", "event": event, **fields})

    def warning(self, event: str, **fields: object) -> None:
        """Keep a line."""
        self.lines.append({"level": "warning", "event": event, **fields})

    def error(self, event: str, **fields: object) -> None:
        """Keep a line."""
        self.lines.append({"level": "error", "event": event, **fields})


def a_level_message(**changes: object) -> run_pb2.Level:
    """Return a closed-loop level with 1,000 in and 100 out."""
    message = run_pb2.Level(
        work=run_pb2.WorkSize(text=run_pb2.TextWork(input_tokens_mean=1000, output_tokens_mean=100)),
        concurrency=4,
        requests_per_s=2,
        output_tokens_per_s=200,
        duration_s=500,
        completed_count=1000,
        failed_count=0,
        ttft=run_pb2.LatencyStatistics(mean_ms=200, p50_ms=190, p90_ms=250, p95_ms=280, p99_ms=300),
        e2e=run_pb2.LatencyStatistics(mean_ms=2000),
        location="row 1",
    )
    for key, value in changes.items():
        setattr(message, key, value)
    return message


def a_run_message(**changes: object) -> run_pb2.Run:
    """Return a run as a service would push it."""
    message = run_pb2.Run(
        tool="our-loadgen",
        metric_definitions="our-loadgen-1",
        configuration=run_pb2.Configuration(
            model="meta-llama/Llama-3.1-8B-Instruct",
            weight_precision="bf16",
            engine="vllm",
            engine_version="0.19.2",
            accelerator="h100-sxm-80gb",
            accelerators_per_replica=1,
            tensor_parallel=1,
        ),
        replicas_under_test=1,
        arrival_kind=run_pb2.ARRIVAL_KIND_CLOSED,
        state=run_pb2.TEST_STATE_TYPICAL,
        levels=[a_level_message()],
    )
    for key, value in changes.items():
        setattr(message, key, value)
    return message


def a_table(*rows: str, columns: str = COLUMNS) -> bytes:
    """Return a CSV in our own columns; two levels unless rows are given."""
    lines = rows or ("1,1,100,100,500,0", "4,3,300,150,500,0")
    return "\n".join([columns, *lines, ""]).encode()


GIVEN = {
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "accelerator": "H100-SXM5-80GB",
    "engine": "vllm",
    "engine_version": "0.19.2",
    "weight_precision": "bfloat16",
    "tensor_parallel": "1",
    "input_tokens_mean": "1000",
    "output_tokens_mean": "100",
}


def report_parts(
    data: bytes, metadata: pb.ReportMetadata | None = None, *, chunk_bytes: int = 65_536
) -> list[pb.IngestReportRequest]:
    """Return the messages of an upload: metadata, then chunks."""
    head = pb.ReportMetadata(filename="bench.csv", given=GIVEN) if metadata is None else metadata
    reader = io.BytesIO(data)
    chunks = iter(partial(reader.read, chunk_bytes), b"")
    return [pb.IngestReportRequest(metadata=head), *(pb.IngestReportRequest(chunk=chunk) for chunk in chunks)]


def convert_parts(data: bytes, metadata: pb.ReportMetadata | None = None) -> list[pb.ConvertReportRequest]:
    """Return the messages of a dry run."""
    parts = []
    for part in report_parts(data, metadata):
        chunk = pb.ConvertReportRequest(chunk=part.chunk)
        parts.append(chunk if part.WhichOneof("part") == "chunk" else pb.ConvertReportRequest(metadata=part.metadata))
    return parts


def runs_parts(
    runs: Iterable[run_pb2.Run], metadata: pb.IngestRunsMetadata | None = None
) -> list[pb.IngestRunsRequest]:
    """Return the messages of a push: metadata, then one batch."""
    head = pb.IngestRunsMetadata() if metadata is None else metadata
    return [pb.IngestRunsRequest(metadata=head), pb.IngestRunsRequest(batch=pb.RunBatch(runs=runs))]


@asynccontextmanager
async def an_ingest_server(
    folder: Path,
    writer: StoreWriter | None = None,
    *,
    options: ServerOptions | None = None,
    log: Lines | None = None,
    max_report_bytes: int = 1 << 20,
    max_uploads: int = 8,
) -> AsyncIterator[Running]:
    """Run the whole server in this process, over a store in memory unless one is given."""
    store = MemoryStore() if writer is None else writer
    committer = Committer(store, window_s=0.001, max_waiting=64)
    spool = Spool(folder / "spool", max_report_bytes)
    spool.clean()
    ingest = Ingest(store, committer, max_uploads=max_uploads)
    servicer = IngestServicer(ingest, spool, max_runs_bytes=1 << 20)
    service = Service(SERVICE, partial(add_IngestServiceServicer_to_server, servicer))
    reached = ServerOptions(drain_s=1) if options is None else options
    running = await start(reached, [service], ingest.ready, Lines() if log is None else log)
    try:
        yield running
    finally:
        await running.stop()
        committer.stop()


@asynccontextmanager
async def an_ingest_stub(folder: Path, writer: StoreWriter | None = None) -> AsyncIterator[IngestServiceAsyncStub]:
    """Run the server and lend a stub of it."""
    async with an_ingest_server(folder, writer) as running, grpc.aio.insecure_channel(running.address) as channel:
        yield IngestServiceStub(channel)


def status_of_call(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    """Return the status in the trailers of a failed call."""
    trailers = dict(error.trailing_metadata() or ())
    status = status_pb2.Status()
    status.ParseFromString(trailers["grpc-status-details-bin"])
    return status


def error_info(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo:
    """Return reason and context of a failed call."""
    info = error_details_pb2.ErrorInfo()
    details = status_of_call(error).details
    next(detail for detail in details if detail.Is(info.DESCRIPTOR)).Unpack(info)
    return info


def violations(error: grpc.aio.AioRpcError) -> dict[str, str]:
    """Return the fields a failed call names, with what it says of them."""
    found: dict[str, str] = {}
    for detail in status_of_call(error).details:
        request = error_details_pb2.BadRequest()
        if detail.Unpack(request):
            found |= {item.field: item.description for item in request.field_violations}
    return found

"""What tests of the ingest server ask for: messages, a table file, and the server itself, real but in this process."""

from __future__ import annotations

import io
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import grpc.aio
from builders_rpc import Lines

from tonnage.ingest.committer import Committer
from tonnage.ingest.servicer import IngestServicer
from tonnage.ingest.spool import Spool
from tonnage.ingest.usecase import Ingest
from tonnage.rpc.server import ServerOptions, Service, start
from tonnage.store.memory import MemoryStore
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceStub, add_IngestServiceServicer_to_server
from tonnage.v1.plan_pb2 import Plan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from tonnage.rpc.server import Running
    from tonnage.store.base import StoreWriter
    from tonnage.v1 import run_pb2
    from tonnage.v1.ingest_service_pb2_grpc import IngestServiceAsyncStub

SERVICE = "tonnage.v1.IngestService"
COLUMNS = "concurrency,requests_per_s,output_tokens_per_s,ttft_p50_ms,completed_count,failed_count"


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


def a_plan(**fields: object) -> Plan:
    """Return a plan as far as keeping it needs."""
    plan = Plan(**{"plan_id": "ab" * 16, "release": "0.1.0", "data_version": 3, "summary": "2 servers", **fields})  # type: ignore[arg-type]
    plan.request.namespace = "default"
    return plan


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

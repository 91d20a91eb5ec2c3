"""Order on client streams: metadata first and once, then parts."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeVar

from tonnage.errors import InvalidInput, TooLarge, at
from tonnage.ingest.codec import decode_chunk
from tonnage.ingest.spool import settle
from tonnage.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tonnage.domain.measurement import Run
    from tonnage.ingest.arrow.bulk import Bulk, Collected
    from tonnage.ingest.pushed.ready import Pushed
    from tonnage.ingest.pushed.stream import PushedRuns

Part = TypeVar("Part", pb.IngestReportRequest, pb.ConvertReportRequest, pb.IngestRunsRequest)
ReportPart = pb.IngestReportRequest | pb.ConvertReportRequest


async def first_message(requests: AsyncIterator[Part]) -> Part:
    """Return the first message, which must hold metadata; raise ``InvalidInput``."""
    async for request in requests:
        if request.WhichOneof("part") != "metadata":
            raise InvalidInput.field("metadata", None, "is not in the first message", "send metadata, then the rest")
        return request
    raise InvalidInput.field("metadata", None, "is required and the stream is empty", "send metadata, then the rest")


async def chunks(
    requests: AsyncIterator[pb.IngestReportRequest] | AsyncIterator[pb.ConvertReportRequest],
) -> AsyncIterator[bytes]:
    """Yield the bytes that follow the metadata; raise ``InvalidInput`` for anything else."""
    async for request in requests:
        _refuse_other(request, "chunk")
        yield decode_chunk(request.chunk)


async def peeked(
    requests: AsyncIterator[pb.IngestRunsRequest],
) -> tuple[str | None, AsyncIterator[pb.IngestRunsRequest]]:
    """Return which part comes next, None at the end, and the messages from there on."""
    first = await anext(requests, None)

    async def all_of_them() -> AsyncIterator[pb.IngestRunsRequest]:
        if first is not None:
            yield first
            async for request in requests:
                yield request

    return None if first is None else first.WhichOneof("part"), all_of_them()


async def pushed_tables(requests: AsyncIterator[pb.IngestRunsRequest], bulk: Bulk, *, will_store: bool) -> Collected:
    """Return what a stream of tables holds, once it has ended whole; raises what ``Bulk`` raises."""
    async for request in requests:
        _refuse_other(request, "arrow_ipc")
        await asyncio.to_thread(bulk.add, request.arrow_ipc)
    if will_store:
        await settle()
    return await asyncio.to_thread(bulk.finish)


async def pushed_runs(
    requests: AsyncIterator[pb.IngestRunsRequest], pushed: PushedRuns, max_bytes: int, *, will_store: bool = True
) -> list[Run] | Pushed:
    """Return every run that follows the metadata, once the stream has ended whole: tables where many came at a time.

    Raises ``InvalidInput`` with the path inside the stream, ``TooLarge`` beyond ``max_bytes``.
    """
    size_bytes = 0
    position = 0
    async for request in requests:
        _refuse_other(request, "batch")
        size_bytes += request.ByteSize()
        if size_bytes > max_bytes:
            text = f"the stream has at least {size_bytes} bytes, the server takes {max_bytes}; split it into several"
            raise TooLarge(text, size_bytes=size_bytes, limit_bytes=max_bytes)
        # The message is named where there was one before it.
        with at(f"messages[{position}]") if position else nullcontext():
            await asyncio.to_thread(pushed.add, request.batch)
        position += 1
    if will_store:
        await settle()
    return await asyncio.to_thread(pushed.tables) if pushed.is_bulk else pushed.single()


def _refuse_other(
    request: pb.IngestReportRequest | pb.ConvertReportRequest | pb.IngestRunsRequest, wanted: str
) -> None:
    part = request.WhichOneof("part")
    if part == "metadata":
        raise InvalidInput.field("metadata", None, "is sent twice", f"send it once, then {wanted} messages")
    if part != wanted:
        raise InvalidInput.field(wanted, None, "is absent from a message", f"send {wanted} messages after the metadata")

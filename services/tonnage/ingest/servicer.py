"""The ingest service: decode, ask, encode."""

# ruff: noqa: N802, ARG002 -- names and arguments of the methods are those of the generated base
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tonnage.ingest import codec, rereading
from tonnage.ingest.arrow.bulk import Bulk
from tonnage.ingest.pushed.ready import Pushed
from tonnage.ingest.pushed.stream import PushedRuns
from tonnage.ingest.streams import chunks, first_message, peeked, pushed_runs, pushed_tables
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceServicer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import grpc.aio

    from tonnage.ingest.spool import Spool
    from tonnage.ingest.usecase import Ingest

    Context = grpc.aio.ServicerContext[Any, Any]


class IngestServicer(IngestServiceServicer):
    """Answers the calls of the ingest service; errors are made into statuses around it."""

    def __init__(self, ingest: Ingest, spool: Spool, *, max_runs_bytes: int) -> None:
        self._ingest = ingest
        self._spool = spool
        self._max_runs_bytes = max_runs_bytes

    async def IngestReport(
        self, request_iterator: AsyncIterator[pb.IngestReportRequest], context: Context
    ) -> pb.IngestReportResponse:
        """Store one raw file."""
        request = codec.decode_report_metadata((await first_message(request_iterator)).metadata)
        self._spool.refuse_size(request.size_bytes)
        with self._ingest.admitted():
            async with self._spool.received(chunks(request_iterator), request.size_bytes) as spooled:
                return codec.encode_report_answer(await self._ingest.store_report(spooled, request))

    async def ConvertReport(
        self, request_iterator: AsyncIterator[pb.ConvertReportRequest], context: Context
    ) -> pb.ConvertReportResponse:
        """Read one raw file and store nothing."""
        request = codec.decode_report_metadata((await first_message(request_iterator)).metadata)
        self._spool.refuse_size(request.size_bytes)
        with self._ingest.admitted():
            async with self._spool.received(chunks(request_iterator), request.size_bytes) as spooled:
                return codec.encode_converted(await self._ingest.convert_report(spooled, request))

    async def IngestRuns(
        self, request_iterator: AsyncIterator[pb.IngestRunsRequest], context: Context
    ) -> pb.IngestRunsResponse:
        """Store runs in our own form."""
        request = codec.decode_runs_metadata((await first_message(request_iterator)).metadata)
        with self._ingest.admitted():
            will_store = not request.validate_only
            part, requests = await peeked(request_iterator)
            if part == "arrow_ipc":
                bulk = Bulk(request, self._max_runs_bytes)
                collected = await pushed_tables(requests, bulk, will_store=will_store)
                return codec.encode_bulk_answer(await self._ingest.store_bulk(collected, request))
            runs = await pushed_runs(requests, PushedRuns(request), self._max_runs_bytes, will_store=will_store)
            if isinstance(runs, Pushed):
                return codec.encode_pushed_answer(await self._ingest.store_pushed(runs, request))
            return codec.encode_runs_answer(await self._ingest.store_runs(runs, request))

    async def ListFormats(self, request: pb.ListFormatsRequest, context: Context) -> pb.ListFormatsResponse:
        """List what can be read."""
        return codec.encode_formats(self._ingest.formats)

    async def GetIngestion(self, request: pb.GetIngestionRequest, context: Context) -> pb.GetIngestionResponse:
        """Tell what became of an upload."""
        namespace, report_id, request_id = codec.decode_upload_key(request)
        upload = await self._ingest.find_upload(namespace, report_id=report_id, request_id=request_id)
        return codec.encode_upload(upload)

    async def RetractRuns(self, request: pb.RetractRunsRequest, context: Context) -> pb.RetractRunsResponse:
        """Take runs out of every answer."""
        retraction = codec.decode_retraction(request)
        return codec.encode_retraction(await self._ingest.retract(retraction), retraction.namespace)

    async def RereadReports(self, request: pb.RereadReportsRequest, context: Context) -> pb.RereadReportsResponse:
        """Read kept files again."""
        with self._ingest.admitted():
            return rereading.encode_answer(await self._ingest.reread(rereading.decode_request(request)))

    async def FetchReport(
        self, request: pb.FetchReportRequest, context: Context
    ) -> AsyncIterator[pb.FetchReportResponse]:
        """Hand out one kept file."""
        async for piece in self._ingest.raw_report(*rereading.decode_key(request)):
            yield pb.FetchReportResponse(chunk=piece)

    async def RecordPlan(self, request: pb.RecordPlanRequest, context: Context) -> pb.RecordPlanResponse:
        """Keep a plan whole."""
        plan, is_known = await self._ingest.record_plan(codec.decode_plan_record(request))
        return codec.encode_recorded(plan, is_known=is_known)

    async def GetRecordedPlan(self, request: pb.GetRecordedPlanRequest, context: Context) -> pb.GetRecordedPlanResponse:
        """Return a kept plan."""
        return codec.encode_recorded_plan(await self._ingest.recorded_plan(*codec.decode_plan_key(request)))

"""Clients of the ingest server, the only writer of the store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, TypeVar, Unpack

import grpc
import grpc.aio

from tonnage.client import uploads
from tonnage.client.channel import DEFAULT_TIMEOUT_S
from tonnage.client.connection import AsyncConnection, Connection
from tonnage.client.errors import decode
from tonnage.v1 import ingest_service_pb2 as ingest_pb
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from tonnage.client import messages
    from tonnage.client.uploads import ArrowSource, ReportOptions, ReportSource, RunsOptions, Upload, Watched

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class IngestClient(Connection):
    """Blocking calls of IngestService; methods raise ``ClientError``, and ``OSError`` of the file itself.

    Uploads have no deadline unless one is given.
    """

    variable: ClassVar[str] = "TONNAGE_INGEST"

    def __init__(
        self,
        target: str | None = None,
        *,
        token: str | None = None,
        tls_ca: str | os.PathLike[str] | None = None,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
    ) -> None:
        super().__init__(target, token=token, tls_ca=tls_ca, timeout_s=timeout_s)
        self._ingest = IngestServiceStub(self._channel)

    def ingest_report(
        self,
        source: ReportSource,
        *,
        validate_only: bool = False,
        on_progress: Callable[[int, int | None], None] | None = None,
        timeout_s: float | None = None,
        **options: Unpack[ReportOptions],
    ) -> messages.IngestReportResponse:
        """Store one raw file: a path, bytes, or an open binary file.

        ``given`` is what the file does not say; ``on_progress(sent_bytes, total_bytes)`` is called
        from another thread after each chunk, with total None where the size is not known.
        """
        with uploads.opened(source, on_progress) as upload:
            head = uploads.metadata(upload, options, validate_only=validate_only)
            return self._stream(self._ingest.IngestReport, uploads.report_messages(upload, head), timeout_s, upload)

    def convert_report(
        self,
        source: ReportSource,
        *,
        on_progress: Callable[[int, int | None], None] | None = None,
        timeout_s: float | None = None,
        **options: Unpack[ReportOptions],
    ) -> messages.ConvertReportResponse:
        """Read one raw file as ``ingest_report`` would, and store nothing."""
        with uploads.opened(source, on_progress) as upload:
            head = uploads.metadata(upload, options)
            return self._stream(self._ingest.ConvertReport, uploads.convert_messages(upload, head), timeout_s, upload)

    def ingest_runs(
        self,
        runs: Iterable[messages.Run],
        *,
        validate_only: bool = False,
        timeout_s: float | None = None,
        **options: Unpack[RunsOptions],
    ) -> messages.IngestRunsResponse:
        """Store runs that are already in our form, in batches of one stream."""
        head = ingest_pb.IngestRunsMetadata(validate_only=validate_only, **options)
        return self._stream(self._ingest.IngestRuns, uploads.runs_messages(runs, head), timeout_s)

    def ingest_arrow(
        self,
        source: ArrowSource,
        *,
        validate_only: bool = False,
        timeout_s: float | None = None,
        **options: Unpack[RunsOptions],
    ) -> messages.IngestRunsResponse:
        """Store runs in bulk: a pyarrow table or its batches, or whole Arrow IPC streams as bytes.

        Columns are those of docs/arrow.md. The stream is stored whole or not at all; the same rows again are stored
        once. Nothing here imports pyarrow: what is given brings it.
        """
        head = ingest_pb.IngestRunsMetadata(validate_only=validate_only, **options)
        parts = uploads.Watched(uploads.arrow_messages(source, head))
        return self._stream(self._ingest.IngestRuns, iter(parts), timeout_s, parts)

    def list_formats(
        self, request: messages.ListFormatsRequest | None = None, *, timeout_s: float | None = None
    ) -> messages.ListFormatsResponse:
        """Return what can be read, and how each tool defines its metrics."""
        return self._call(self._ingest.ListFormats, request or ingest_pb.ListFormatsRequest(), timeout_s)

    def get_ingestion(
        self, request: messages.GetIngestionRequest, *, timeout_s: float | None = None
    ) -> messages.GetIngestionResponse:
        """Return what became of an upload."""
        return self._call(self._ingest.GetIngestion, request, timeout_s)

    def retract_runs(
        self, request: messages.RetractRunsRequest, *, timeout_s: float | None = None
    ) -> messages.RetractRunsResponse:
        """Take runs out of every answer."""
        return self._call(self._ingest.RetractRuns, request, timeout_s)

    def reread_reports(
        self, request: messages.RereadReportsRequest | None = None, *, timeout_s: float | None = None
    ) -> messages.RereadReportsResponse:
        """Read kept raw files again with the server's readers; one page of them where none is named."""
        return self._call(self._ingest.RereadReports, request or ingest_pb.RereadReportsRequest(), timeout_s)

    def fetch_report(self, request: messages.FetchReportRequest, *, timeout_s: float | None = None) -> Iterator[bytes]:
        """Yield a kept raw file in pieces, as it was uploaded."""
        try:
            for piece in self._ingest.FetchReport(request, timeout=timeout_s, metadata=self.endpoint.metadata):
                yield piece.chunk
        except grpc.RpcError as error:
            raise decode(error, target=self.target) from error

    def record_plan(
        self, request: messages.RecordPlanRequest, *, timeout_s: float | None = None
    ) -> messages.RecordPlanResponse:
        """Keep a plan whole, under its id."""
        return self._call(self._ingest.RecordPlan, request, timeout_s)

    def get_recorded_plan(
        self, request: messages.GetRecordedPlanRequest, *, timeout_s: float | None = None
    ) -> messages.GetRecordedPlanResponse:
        """Return a plan that was kept."""
        return self._call(self._ingest.GetRecordedPlan, request, timeout_s)

    def _stream(
        self,
        method: grpc.StreamUnaryMultiCallable[Question, Answer],
        requests: Iterator[Question],
        timeout_s: float | None,
        upload: Upload | Watched | None = None,
    ) -> Answer:
        try:
            return method(requests, timeout=timeout_s, metadata=self.endpoint.metadata)
        except grpc.RpcError as error:
            if upload is not None and upload.error is not None:
                raise upload.error from error
            raise decode(error, target=self.target) from error


class IngestAsyncClient(AsyncConnection):
    """The same calls for asyncio; made inside a running loop."""

    variable: ClassVar[str] = "TONNAGE_INGEST"

    def __init__(
        self,
        target: str | None = None,
        *,
        token: str | None = None,
        tls_ca: str | os.PathLike[str] | None = None,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
    ) -> None:
        super().__init__(target, token=token, tls_ca=tls_ca, timeout_s=timeout_s)
        self._ingest = IngestServiceStub(self._channel)

    async def ingest_report(
        self,
        source: ReportSource,
        *,
        validate_only: bool = False,
        on_progress: Callable[[int, int | None], None] | None = None,
        timeout_s: float | None = None,
        **options: Unpack[ReportOptions],
    ) -> messages.IngestReportResponse:
        """Store one raw file; ``on_progress`` is called in the loop."""
        with uploads.opened(source, on_progress) as upload:
            head = uploads.metadata(upload, options, validate_only=validate_only)
            requests = _each(uploads.report_messages(upload, head))
            return await self._stream(self._ingest.IngestReport, requests, timeout_s, upload)

    async def convert_report(
        self,
        source: ReportSource,
        *,
        on_progress: Callable[[int, int | None], None] | None = None,
        timeout_s: float | None = None,
        **options: Unpack[ReportOptions],
    ) -> messages.ConvertReportResponse:
        """Read one raw file as ``ingest_report`` would, and store nothing."""
        with uploads.opened(source, on_progress) as upload:
            head = uploads.metadata(upload, options)
            requests = _each(uploads.convert_messages(upload, head))
            return await self._stream(self._ingest.ConvertReport, requests, timeout_s, upload)

    async def ingest_runs(
        self,
        runs: Iterable[messages.Run],
        *,
        validate_only: bool = False,
        timeout_s: float | None = None,
        **options: Unpack[RunsOptions],
    ) -> messages.IngestRunsResponse:
        """Store runs that are already in our form, in batches of one stream."""
        head = ingest_pb.IngestRunsMetadata(validate_only=validate_only, **options)
        return await self._stream(self._ingest.IngestRuns, _each(uploads.runs_messages(runs, head)), timeout_s)

    async def ingest_arrow(
        self,
        source: ArrowSource,
        *,
        validate_only: bool = False,
        timeout_s: float | None = None,
        **options: Unpack[RunsOptions],
    ) -> messages.IngestRunsResponse:
        """Store runs in bulk: a pyarrow table or its batches, or whole Arrow IPC streams as bytes.

        Columns are those of docs/arrow.md. The stream is stored whole or not at all; the same rows again are stored
        once. Nothing here imports pyarrow: what is given brings it.
        """
        head = ingest_pb.IngestRunsMetadata(validate_only=validate_only, **options)
        parts = uploads.Watched(uploads.arrow_messages(source, head))
        return await self._stream(self._ingest.IngestRuns, _each(iter(parts)), timeout_s, parts)

    async def list_formats(
        self, request: messages.ListFormatsRequest | None = None, *, timeout_s: float | None = None
    ) -> messages.ListFormatsResponse:
        """Return what can be read, and how each tool defines its metrics."""
        return await self._call(self._ingest.ListFormats, request or ingest_pb.ListFormatsRequest(), timeout_s)

    async def get_ingestion(
        self, request: messages.GetIngestionRequest, *, timeout_s: float | None = None
    ) -> messages.GetIngestionResponse:
        """Return what became of an upload."""
        return await self._call(self._ingest.GetIngestion, request, timeout_s)

    async def retract_runs(
        self, request: messages.RetractRunsRequest, *, timeout_s: float | None = None
    ) -> messages.RetractRunsResponse:
        """Take runs out of every answer."""
        return await self._call(self._ingest.RetractRuns, request, timeout_s)

    async def reread_reports(
        self, request: messages.RereadReportsRequest | None = None, *, timeout_s: float | None = None
    ) -> messages.RereadReportsResponse:
        """Read kept raw files again with the server's readers; one page of them where none is named."""
        return await self._call(self._ingest.RereadReports, request or ingest_pb.RereadReportsRequest(), timeout_s)

    async def fetch_report(
        self, request: messages.FetchReportRequest, *, timeout_s: float | None = None
    ) -> AsyncIterator[bytes]:
        """Yield a kept raw file in pieces, as it was uploaded."""
        try:
            async for piece in self._ingest.FetchReport(request, timeout=timeout_s, metadata=self.endpoint.metadata):
                yield piece.chunk
        except grpc.aio.AioRpcError as error:
            raise decode(error, target=self.target) from error

    async def record_plan(
        self, request: messages.RecordPlanRequest, *, timeout_s: float | None = None
    ) -> messages.RecordPlanResponse:
        """Keep a plan whole, under its id."""
        return await self._call(self._ingest.RecordPlan, request, timeout_s)

    async def get_recorded_plan(
        self, request: messages.GetRecordedPlanRequest, *, timeout_s: float | None = None
    ) -> messages.GetRecordedPlanResponse:
        """Return a plan that was kept."""
        return await self._call(self._ingest.GetRecordedPlan, request, timeout_s)

    async def _stream(
        self,
        method: grpc.aio.StreamUnaryMultiCallable[Question, Answer],
        requests: AsyncIterator[Question],
        timeout_s: float | None,
        upload: Upload | Watched | None = None,
    ) -> Answer:
        try:
            return await method(requests, timeout=timeout_s, metadata=self.endpoint.metadata)
        except (grpc.RpcError, asyncio.CancelledError) as error:
            # A file that cannot be read on ends the call as if somebody had cancelled it.
            if upload is not None and upload.error is not None:
                raise upload.error from error
            if isinstance(error, asyncio.CancelledError):
                raise
            raise decode(error, target=self.target) from error


async def _each(messages: Iterator[Question]) -> AsyncIterator[Question]:
    for message in messages:
        yield message

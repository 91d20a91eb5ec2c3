"""The fake ingest service."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from tonnage.client.testing.memory import digest, receipt
from tonnage.client.testing.refusal import Refused
from tonnage.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tonnage.client.testing.memory import Memory
    from tonnage.v1.run_pb2 import Run


class FakeIngest:
    """Stores what is pushed. Files are read by the test's own reader; without one, nobody recognises them."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.reader: Callable[[pb.ReportMetadata, bytes], list[Run] | None] | None = None
        self.formats: list[pb.Format] = []

    def IngestReport(self, requests: Iterator[pb.IngestReportRequest], _context: Any) -> pb.IngestReportResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """Store one file."""
        head, data = _collected(requests)
        namespace, report_id = _namespace(head.namespace), hashlib.sha256(data).hexdigest()
        runs = self._read(head, data)
        with self.memory.lock:
            known = self.memory.once(head.request_id, digest(head) + report_id)
            if known is not None:
                return known  # type: ignore[no-any-return]
            answer = pb.IngestReportResponse(report_id=report_id, format=head.format or "fake")
            answer.runs.extend(self._keep(namespace, runs, report_id, validate_only=head.validate_only))
            answer.data_version = self.memory.data_version
            if not head.validate_only:
                self.memory.uploads[f"{namespace}/{report_id}"] = [item.run for item in answer.runs]
                self.memory.remember(head.request_id, digest(head) + report_id, answer)
        return answer

    def ConvertReport(self, requests: Iterator[pb.ConvertReportRequest], _context: Any) -> pb.ConvertReportResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """Read one file and store nothing."""
        head, data = _collected(requests)
        return pb.ConvertReportResponse(
            report_id=hashlib.sha256(data).hexdigest(), format=head.format or "fake", runs=self._read(head, data)
        )

    def IngestRuns(self, requests: Iterator[pb.IngestRunsRequest], _context: Any) -> pb.IngestRunsResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """Store runs in our own form; each run's content is its report."""
        first = next(requests, None)
        if first is None or not first.HasField("metadata"):
            raise Refused.field("metadata", "is required and absent; send it first")
        parts = list(requests)
        if any(item.HasField("arrow_ipc") for item in parts):
            raise Refused.field("arrow_ipc", "is not read by the fake; send runs, or test against the real server")
        runs = [run for item in parts for run in item.batch.runs]
        for index, run in enumerate(runs):
            if not run.tool:
                raise Refused.field(f"batch.runs[{index}].tool", "is required and absent; state it")
        return self._stored(first.metadata, runs)

    def _stored(self, head: pb.IngestRunsMetadata, runs: list[Run]) -> pb.IngestRunsResponse:
        with self.memory.lock:
            known = self.memory.once(head.request_id, digest(head, *runs))
            if known is not None:
                return known  # type: ignore[no-any-return]
            answer = pb.IngestRunsResponse()
            before = self.memory.data_version
            for ordinal, run in enumerate(runs):
                kept = self._keep(
                    _namespace(head.namespace), [run], digest(run), validate_only=head.validate_only, bump=False
                )
                kept[0].ordinal = ordinal
                answer.runs.extend(kept)
            new = [item for item in answer.runs if item.outcome == pb.RUN_OUTCOME_STORED]
            self.memory.data_version = before + bool(new)
            answer.data_version = self.memory.data_version
            answer.stored_level_count = sum(item.level_count for item in new)
            answer.run_count, answer.stored_run_count = len(runs), len(new)
            if not head.validate_only:
                self.memory.remember(head.request_id, digest(head, *runs), answer)
        return answer

    def _keep(
        self, namespace: str, runs: list[Run], report_id: str, *, validate_only: bool, bump: bool = True
    ) -> list[pb.RunReceipt]:
        if validate_only:
            return [receipt("", run, pb.RUN_OUTCOME_VALID, ordinal) for ordinal, run in enumerate(runs)]
        receipts = []
        for ordinal, run in enumerate(runs):
            name, is_new = self.memory.keep(namespace, run, report_id, ordinal)
            outcome = pb.RUN_OUTCOME_STORED if is_new else pb.RUN_OUTCOME_ALREADY_STORED
            receipts.append(receipt(name, run, outcome, ordinal))
        if bump and any(item.outcome == pb.RUN_OUTCOME_STORED for item in receipts):
            self.memory.data_version += 1
        return receipts

    def _read(self, head: pb.ReportMetadata, data: bytes) -> list[Run]:
        runs = None if self.reader is None else self.reader(head, data)
        if runs is None:
            raise Refused.field(
                "report", f"no reader recognises {head.filename or 'the file'}", reason="UNKNOWN_FORMAT"
            )
        return runs

    def ListFormats(self, _request: pb.ListFormatsRequest, _context: Any) -> pb.ListFormatsResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """List what the test said can be read."""
        return pb.ListFormatsResponse(formats=self.formats)

    def GetIngestion(self, request: pb.GetIngestionRequest, _context: Any) -> pb.GetIngestionResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """Say what became of an upload."""
        kind = request.WhichOneof("key")
        if kind is None:
            raise Refused.field("key", "is required and absent; give a report_id or a request_id")
        with self.memory.lock:
            if kind == "report_id":
                names = self.memory.uploads.get(f"{_namespace(request.namespace)}/{request.report_id}")
            else:
                known = self.memory.requests.get(request.request_id)
                names = None if known is None else [item.run for item in known[1].runs]
            if names is None:
                raise Refused.not_stored("report" if kind == "report_id" else "request", getattr(request, kind))
            return pb.GetIngestionResponse(report_id=request.report_id, runs=[self._stored_run(name) for name in names])

    def _stored_run(self, name: str) -> pb.StoredRun:
        kept = self.memory.runs[name]
        return pb.StoredRun(run=name, level_count=len(kept.run.levels), retired=kept.retired)

    def RetractRuns(self, request: pb.RetractRunsRequest, _context: Any) -> pb.RetractRunsResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """Take runs out of every answer."""
        if not request.runs:
            raise Refused.field("runs", "is empty; give at least one entry")
        if not request.reason.strip():
            raise Refused.field("reason", "is required and absent; state it")
        with self.memory.lock:
            before = self.memory.retract(list(request.runs), dry=request.validate_only)
            return pb.RetractRunsResponse(data_version=self.memory.data_version, already_retracted=before)

    def RecordPlan(self, request: pb.RecordPlanRequest, _context: Any) -> pb.RecordPlanResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """Keep a plan."""
        if not request.plan.plan_id:
            raise Refused.field("plan.plan_id", "is required and absent; state it")
        key = f"{_namespace(request.plan.request.namespace)}/{request.plan.plan_id}"
        with self.memory.lock:
            is_known = key in self.memory.plans
            self.memory.plans.setdefault(key, request)
        return pb.RecordPlanResponse(plan_id=request.plan.plan_id, already_recorded=is_known)

    def GetRecordedPlan(self, request: pb.GetRecordedPlanRequest, _context: Any) -> pb.GetRecordedPlanResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """Return a kept plan."""
        with self.memory.lock:
            kept = self.memory.plans.get(f"{_namespace(request.namespace)}/{request.plan_id}")
        if kept is None:
            raise Refused.not_stored("plan", request.plan_id)
        return pb.GetRecordedPlanResponse(plan=kept.plan, recorded_by=kept.recorded_by)


def _namespace(name: str) -> str:
    return name or "default"


def _collected(requests: Iterator[Any]) -> tuple[pb.ReportMetadata, bytes]:
    first = next(requests, None)
    if first is None or not first.HasField("metadata"):
        raise Refused.field("metadata", "is required and absent; send it first")
    return first.metadata, b"".join(item.chunk for item in requests)

"""The messages of the ingest service, to what the use case is asked and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.domain.finding import Finding
from tonnage.domain.measurement import run_name
from tonnage.errors import InvalidInput, at
from tonnage.ingest.requests import (
    DEFAULT_NAMESPACE,
    ReportAnswer,
    ReportRequest,
    RetractRequest,
    RunAnswer,
    RunsAnswer,
    RunsRequest,
    check_namespace,
)
from tonnage.rpc.codec.finding import encode_findings
from tonnage.rpc.codec.run import decode_run, encode_run, encode_timestamp, run_name_parts
from tonnage.store.base import PlanRecord
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1.plan_pb2 import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.domain.measurement import Run
    from tonnage.formats.base import Format
    from tonnage.ingest.requests import BulkAnswer, BulkRun, Converted, Outcome
    from tonnage.store.base import RetractionReceipt, StoredUpload
    from tonnage.v1 import finding_pb2, run_pb2

LARGEST_CHUNK_BYTES: Final = 1 << 20
# More would not fit an answer; the counts and the findings are of all runs.
LARGEST_RECEIPT_COUNT: Final = 10_000
_OUTCOMES: Final = {
    "STORED": pb.RUN_OUTCOME_STORED,
    "ALREADY_STORED": pb.RUN_OUTCOME_ALREADY_STORED,
    "VALID": pb.RUN_OUTCOME_VALID,
}


def decode_report_metadata(message: pb.ReportMetadata) -> ReportRequest:
    """Return what is said beside a file; raise ``InvalidInput`` with paths under ``metadata``."""
    with at("metadata"):
        return ReportRequest(
            namespace=message.namespace or DEFAULT_NAMESPACE,
            request_id=message.request_id or None,
            filename=message.filename,
            format=message.format or None,
            given=dict(message.given),
            column_map=dict(message.column_map),
            sweep_id=message.sweep_id or None,
            default_sweep_id=message.default_sweep_id or None,
            replace=message.replace,
            validate_only=message.validate_only,
            ingested_by=message.ingested_by or None,
            ci_job=message.ci_job or None,
            size_bytes=message.size_bytes if message.HasField("size_bytes") else None,
        )


def decode_runs_metadata(message: pb.IngestRunsMetadata) -> RunsRequest:
    """Return what is said beside pushed runs; raise ``InvalidInput`` with paths under ``metadata``."""
    with at("metadata"):
        return RunsRequest(
            namespace=message.namespace or DEFAULT_NAMESPACE,
            request_id=message.request_id or None,
            ingested_by=message.ingested_by or None,
            ci_job=message.ci_job or None,
            validate_only=message.validate_only,
        )


def decode_chunk(chunk: bytes) -> bytes:
    """Return the bytes of a chunk; raise ``InvalidInput`` when they are too many for one message."""
    if len(chunk) > LARGEST_CHUNK_BYTES:
        cure = f"send at most {LARGEST_CHUNK_BYTES} bytes a message"
        raise InvalidInput.field("chunk", f"{len(chunk)} bytes", "is too large", cure)
    return chunk


def decode_pushed(message: run_pb2.Run, position: int) -> Run:
    """Return one run of a batch; raise ``InvalidInput`` with its place in the batch."""
    with at(f"batch.runs[{position}]"):
        return decode_run(message)


def decode_retraction(message: pb.RetractRunsRequest) -> RetractRequest:
    """Return the runs to take out; they must be of one namespace."""
    parts = [run_name_parts(name, f"runs[{position}]") for position, name in enumerate(message.runs)]
    namespaces = [namespace for namespace, _ in parts]
    for position, namespace in enumerate(namespaces):
        if namespace != namespaces[0]:
            cure = "retract runs of one namespace at a time"
            raise InvalidInput.field(f"runs[{position}]", message.runs[position], "is of another namespace", cure)
    return RetractRequest(
        namespace=namespaces[0] if namespaces else DEFAULT_NAMESPACE,
        run_ids=tuple(run_id for _, run_id in parts),
        reason=message.reason,
        request_id=message.request_id or None,
        retracted_by=message.retracted_by or None,
        validate_only=message.validate_only,
    )


def decode_upload_key(message: pb.GetIngestionRequest) -> tuple[str, str | None, str | None]:
    """Return namespace, report id and request id, of which one is set; raise ``InvalidInput``."""
    namespace = message.namespace or DEFAULT_NAMESPACE
    check_namespace("namespace", namespace)
    chosen = message.WhichOneof("key")
    if chosen is None or not getattr(message, chosen):
        raise InvalidInput.field(chosen or "key", None, "is required and absent", "give report_id or request_id")
    return (
        namespace,
        message.report_id if chosen == "report_id" else None,
        message.request_id if chosen == "request_id" else None,
    )


def encode_report_answer(answer: ReportAnswer) -> pb.IngestReportResponse:
    """Return what became of a file."""
    return pb.IngestReportResponse(
        report_id=answer.report_id,
        format=answer.format,
        runs=[encode_receipt(item) for item in answer.runs],
        data_version=answer.data_version,
        findings=encode_findings(answer.findings),
        ingested_at=encode_timestamp(answer.ingested_at),
    )


def encode_runs_answer(answer: RunsAnswer) -> pb.IngestRunsResponse:
    """Return what became of pushed runs."""
    return pb.IngestRunsResponse(
        runs=[encode_receipt(item) for item in answer.runs],
        data_version=answer.data_version,
        stored_level_count=answer.stored_level_count,
        run_count=len(answer.runs),
        stored_run_count=sum(item.outcome == "STORED" for item in answer.runs),
    )


def encode_bulk_answer(answer: BulkAnswer) -> pb.IngestRunsResponse:
    """Return what became of runs that came in bulk."""
    return pb.IngestRunsResponse(
        runs=[
            _bulk_receipt(answer.namespace, run, outcome, ordinal)
            for ordinal, (run, outcome) in enumerate(answer.runs[:LARGEST_RECEIPT_COUNT])
        ],
        data_version=answer.data_version,
        stored_level_count=sum(run.level_count for run in answer.stored),
        findings=encode_findings(answer.findings),
        run_count=len(answer.runs),
        stored_run_count=len(answer.stored),
    )


def encode_pushed_answer(answer: BulkAnswer) -> pb.IngestRunsResponse:
    """Return what became of many pushed runs: of each its receipt with its findings."""
    findings = {id(run.findings): encode_findings(run.findings) for run, _ in answer.runs}
    return pb.IngestRunsResponse(
        runs=[
            _bulk_receipt(answer.namespace, run, outcome, ordinal, findings[id(run.findings)])
            for ordinal, (run, outcome) in enumerate(answer.runs)
        ],
        data_version=answer.data_version,
        stored_level_count=sum(run.level_count for run in answer.stored),
        run_count=len(answer.runs),
        stored_run_count=len(answer.stored),
    )


def _bulk_receipt(
    namespace: str, run: BulkRun, outcome: Outcome, ordinal: int, findings: Sequence[finding_pb2.Finding] = ()
) -> pb.RunReceipt:
    return pb.RunReceipt(
        run=run_name(namespace, run.run_id),
        outcome=_OUTCOMES[outcome],
        level_count=run.level_count,
        usable_level_count=run.usable_level_count,
        missing_for_plan=run.missing,
        findings=findings,
        ordinal=ordinal,
        fingerprint=run.fingerprint,
        sweep_id=run.sweep_id,
    )


def decode_plan_record(message: pb.RecordPlanRequest) -> PlanRecord:
    """Return a plan to keep; raise ``InvalidInput`` when it is none."""
    plan = message.plan
    for key in ("plan_id", "release"):
        checks.required(f"plan.{key}", getattr(plan, key))
        checks.name(f"plan.{key}", getattr(plan, key))
    if not plan.HasField("request"):
        raise InvalidInput.field("plan.request", None, "is required and absent", "send the plan whole")
    namespace = plan.request.namespace or DEFAULT_NAMESPACE
    check_namespace("plan.request.namespace", namespace)
    checks.count("plan.data_version", plan.data_version, least=0)
    checks.name("recorded_by", message.recorded_by)
    return PlanRecord(
        namespace=namespace,
        plan_id=plan.plan_id,
        release=plan.release,
        plan_data_version=plan.data_version,
        body=plan.SerializeToString(deterministic=True),
        recorded_by=message.recorded_by or None,
    )


def encode_recorded(plan: PlanRecord, *, is_known: bool) -> pb.RecordPlanResponse:
    """Return since when a plan is kept."""
    return pb.RecordPlanResponse(
        plan_id=plan.plan_id, recorded_at=encode_timestamp(plan.recorded_at), already_recorded=is_known
    )


def decode_plan_key(message: pb.GetRecordedPlanRequest) -> tuple[str, str]:
    """Return namespace and plan id; raise ``InvalidInput``."""
    namespace = message.namespace or DEFAULT_NAMESPACE
    check_namespace("namespace", namespace)
    checks.required("plan_id", message.plan_id)
    checks.name("plan_id", message.plan_id)
    return namespace, message.plan_id


def encode_recorded_plan(plan: PlanRecord) -> pb.GetRecordedPlanResponse:
    """Return a kept plan."""
    return pb.GetRecordedPlanResponse(
        plan=Plan.FromString(plan.body),
        recorded_at=encode_timestamp(plan.recorded_at),
        recorded_by=plan.recorded_by or "",
    )


def encode_receipt(item: RunAnswer) -> pb.RunReceipt:
    """Return what became of one run."""
    run = item.run
    return pb.RunReceipt(
        run=run.name,
        outcome=_OUTCOMES[item.outcome],
        level_count=len(run.levels),
        usable_level_count=sum(level.usable for level in run.levels),
        missing_for_plan=run.missing_for_plan(),
        findings=encode_findings(gathered(run)),
        ordinal=item.ordinal,
        fingerprint=run.configuration.fingerprint,
        sweep_id=run.sweep_id or "",
    )


def gathered(run: Run) -> list[Finding]:
    """Return the findings of a run and of its levels, those of one code and path once, with the count."""
    of_levels: dict[tuple[str, str], list[Finding]] = {}
    for level in run.levels:
        for finding in level.findings:
            of_levels.setdefault((finding.code, finding.path), []).append(finding)
    return [*run.findings, *(_counted(same) for same in of_levels.values())]


def _counted(same: Sequence[Finding]) -> Finding:
    first = same[0]
    if len(same) == 1:
        return first
    return Finding(
        code=first.code,
        severity=first.severity,
        path=first.path,
        message=f"{first.message} (and {len(same) - 1} more levels)",
        remedy=first.remedy,
        evidence=tuple(evidence for finding in same for evidence in finding.evidence),
    )


def encode_converted(converted: Converted) -> pb.ConvertReportResponse:
    """Return what a file would be stored as."""
    return pb.ConvertReportResponse(
        report_id=converted.report_id,
        format=converted.format,
        runs=[encode_run(run) for run in converted.runs],
        findings=encode_findings(converted.findings),
    )


def encode_formats(formats: Iterable[Format]) -> pb.ListFormatsResponse:
    """Return what can be read, and how each tool means its metrics."""
    return pb.ListFormatsResponse(formats=[_encode_format(item) for item in formats])


def _encode_format(item: Format) -> pb.Format:
    return pb.Format(
        name=item.name,
        title=item.title,
        recognised_by=item.recognised_by,
        metric_definitions=item.metric_definitions,
        definitions=[
            pb.MetricDefinition(metric=known.metric, tool_field=known.tool_field, definition=known.definition)
            for known in item.definitions
        ],
    )


def encode_upload(upload: StoredUpload) -> pb.GetIngestionResponse:
    """Return what became of an upload."""
    return pb.GetIngestionResponse(
        report_id=upload.report_id,
        filename=upload.filename,
        ingested_at=encode_timestamp(upload.ingested_at),
        data_version=upload.data_version,
        runs=[
            pb.StoredRun(run=run_name(upload.namespace, run_id), level_count=level_count, retired=retired or "")
            for run_id, level_count, retired in upload.runs
        ],
    )


def encode_retraction(receipt: RetractionReceipt, namespace: str) -> pb.RetractRunsResponse:
    """Return from which data version the runs are gone."""
    return pb.RetractRunsResponse(
        data_version=receipt.data_version,
        already_retracted=[run_name(namespace, run_id) for run_id in receipt.already_retracted],
    )

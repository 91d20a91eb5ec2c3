"""The messages of reading kept files again, to what the use case is asked and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.domain.measurement import run_name
from tonnage.ingest.requests import DEFAULT_NAMESPACE, check_namespace
from tonnage.ingest.reread import USUAL_COUNT, RereadRequest
from tonnage.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from tonnage.ingest.reread import Reread, RereadAnswer

_OUTCOMES: Final = {
    "UNCHANGED": pb.REREAD_OUTCOME_UNCHANGED,
    "CHANGED": pb.REREAD_OUTCOME_CHANGED,
    "REFUSED": pb.REREAD_OUTCOME_REFUSED,
    "LEFT_ALONE": pb.REREAD_OUTCOME_LEFT_ALONE,
}


def decode_request(message: pb.RereadReportsRequest) -> RereadRequest:
    """Return which files to read again; raise ``InvalidInput``."""
    return RereadRequest(
        namespace=message.namespace or DEFAULT_NAMESPACE,
        report_ids=tuple(message.report_ids),
        page_size=message.page_size or USUAL_COUNT,
        page_token=message.page_token,
        validate_only=message.validate_only,
        reread_by=message.reread_by or None,
    )


def encode_answer(answer: RereadAnswer) -> pb.RereadReportsResponse:
    """Return what became of each file."""
    return pb.RereadReportsResponse(
        reports=[_encode(item, answer.namespace) for item in answer.reports],
        data_version=answer.data_version,
        next_page_token=answer.next_page_token,
    )


def decode_key(message: pb.FetchReportRequest) -> tuple[str, str]:
    """Return namespace and id of a file; raise ``InvalidInput``."""
    namespace = message.namespace or DEFAULT_NAMESPACE
    check_namespace("namespace", namespace)
    checks.required("report_id", message.report_id)
    return namespace, message.report_id


def _encode(item: Reread, namespace: str) -> pb.RereadReport:
    return pb.RereadReport(
        report_id=item.report_id,
        filename=item.filename,
        outcome=_OUTCOMES[item.outcome],
        format=item.format,
        runs=[run_name(namespace, run_id) for run_id in item.run_ids],
        superseded_runs=[run_name(namespace, run_id) for run_id in item.superseded],
        reason=item.reason,
    )

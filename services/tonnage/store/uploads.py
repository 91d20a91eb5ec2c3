"""What became of an upload, from what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage.errors import NotStored
from tonnage.store.base import StoredReport, StoredUpload
from tonnage.store.texts import receipt_from_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.domain.measurement import Run
    from tonnage.store.base import Retirement
    from tonnage.store.known import Key, Known, KnownRequest, KnownRun


def by_report(namespace: str, report_id: str, known: Known) -> StoredUpload:
    """Return the upload with this digest, whatever labels its runs had; raise ``NotStored``."""
    runs = known.of_report(namespace, report_id)
    report = known.reports.get((namespace, report_id))
    if not runs:
        raise NotStored(f"no upload {report_id} in namespace {namespace}", report_id=report_id, namespace=namespace)
    return StoredUpload(
        namespace=namespace,
        report_id=report_id,
        filename=runs[0].filename if report is None else report.facts.filename,
        ingested_at=min(run.ingested_at for run in runs),
        data_version=min(run.data_version for run in runs) if report is None else report.data_version,
        runs=_standing(runs),
    )


def stored_report(
    namespace: str, report_id: str, known: Known, runs: Iterable[tuple[Run, Retirement | None]]
) -> StoredReport:
    """Return a report with its runs; raise ``NotStored``."""
    report = known.reports.get((namespace, report_id))
    if report is None:
        text = f"no raw report {report_id} in namespace {namespace}"
        raise NotStored(text, report_id=report_id, namespace=namespace)
    return StoredReport(facts=report.facts, runs=tuple(runs))


def upload_request(key: Key, known: Known) -> KnownRequest:
    """Return the request of an upload; raise ``NotStored``."""
    request = known.requests.get(key)
    namespace, request_id = key
    if request is None:
        raise NotStored(f"no request {request_id} in namespace {namespace}", request_id=request_id, namespace=namespace)
    if request.kind != "append":
        raise NotStored(f"request {request_id} was a retraction, not an upload", request_id=request_id)
    return request


def by_request(request: KnownRequest, known: Known) -> StoredUpload:
    """Return the upload a request stored; ``known`` holds its runs."""
    receipt = receipt_from_text(request.receipt)
    runs = [known.runs[request.namespace, run.run_id] for run in receipt.runs]
    return StoredUpload(
        namespace=request.namespace,
        report_id=runs[0].report_id,
        filename=runs[0].filename,
        ingested_at=receipt.ingested_at,
        data_version=receipt.data_version,
        runs=_standing(runs),
    )


def _standing(runs: Sequence[KnownRun]) -> tuple[tuple[str, int, Retirement | None], ...]:
    return tuple((run.run_id, run.level_count, run.retirement) for run in runs)

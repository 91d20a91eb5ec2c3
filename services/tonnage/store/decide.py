"""What an upload or a retraction changes, given what is known: pure, so that every back end decides alike."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput, NotStored, RequestIdReused, SameFileOtherLabels, TonnageError
from tonnage.store.base import Append, Receipt, RetractionReceipt, RunReceiptRow
from tonnage.store.incoming import Upload, check_retraction
from tonnage.store.known import KnownReport, KnownRequest, KnownRun
from tonnage.store.texts import receipt_from_text, receipt_to_text, retraction_from_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tonnage.store.base import PlanRecord, ReportFacts, Retraction
    from tonnage.store.changes import Changes
    from tonnage.store.incoming import RunKey
    from tonnage.store.known import EventKind, Key, Known, RequestKind


_RELABELLED: Final = "the same file was stored with other labels"
_REREAD: Final = "the kept file was read again and says something else"


def decide_append(upload: Upload, known: Known, changes: Changes) -> Receipt:
    """Add what one upload changes to ``changes`` and ``known``, and return its receipt.

    Raises ``RequestIdReused`` or ``SameFileOtherLabels``, and then changes nothing.
    """
    item = upload.item
    answered = _answered(item.namespace, item.request_id, "append", item.body_digest, known)
    if answered is not None:
        return receipt_from_text(answered)
    return _UploadDecision(upload, known, changes).receipt()


def _answered(namespace: str, request_id: str | None, kind: RequestKind, body_digest: str, known: Known) -> str | None:
    if request_id is None:
        return None
    request = known.requests.get((namespace, request_id))
    if request is None:
        return None
    if (request.kind, request.body_digest) != (kind, body_digest):
        raise RequestIdReused(
            f"request_id {request_id} was used with another body; use a new id for a new request",
            request_id=request_id,
            namespace=namespace,
        )
    return request.receipt


class _UploadDecision:
    """One upload that was not answered before."""

    def __init__(self, upload: Upload, known: Known, changes: Changes) -> None:
        self._upload = upload
        self._item = item = upload.item
        self._new: list[KnownRun] = []
        self._restored = False
        self._known = known
        self._changes = changes
        self._report_id = upload.keys[0].report_id
        self._stored = known.reports.get((item.namespace, self._report_id)) if upload.report is not None else None

    def receipt(self) -> Receipt:
        relabels = self._relabels()
        ingested_at = self._first_ack()
        rows = [self._store(run) for run in self._upload.keys]
        back = self._restored
        if self._new:
            self._changes.uploads.append((self._upload, self._new))
        is_reread = isinstance(self._item, Append) and self._item.is_reread
        superseded = self._supersede(_REREAD if is_reread else _RELABELLED) if relabels or is_reread or back else ()
        self._keep_report(relabels=relabels)
        receipt = Receipt(
            data_version=self._version(), ingested_at=ingested_at, runs=tuple(rows), superseded=tuple(superseded)
        )
        self._remember(receipt)
        return receipt

    def _relabels(self) -> bool:
        report = self._upload.report
        if self._stored is None or report is None or self._stored.facts.given == report.given:
            return False
        if not self._upload.replace:
            raise _other_labels(self._stored.facts, report)
        return True

    def _first_ack(self) -> datetime:
        """Return when the upload was first stored: now, unless its file or all its runs are known."""
        if self._stored is not None:
            return self._stored.ingested_at
        now = self._changes.now
        stored = [self._known.runs.get((run.namespace, run.run_id)) for run in self._upload.keys]
        return min((run.ingested_at for run in stored if run is not None), default=now) if all(stored) else now

    def _new_ingested_at(self) -> datetime:
        return self._changes.now if self._stored is None else self._stored.ingested_at

    def _store(self, run: RunKey) -> RunReceiptRow:
        stored = self._known.runs.get((run.namespace, run.run_id))
        if stored is not None:
            # A retracted run stays out, whoever sends its file again; a superseded one comes back on request.
            restored = stored.retirement == "SUPERSEDED" and self._upload.replace
            if restored:
                self._restored = True
                self._event(stored, "RESTORED", "the same file was stored again with these labels")
            return RunReceiptRow(
                run_id=run.run_id,
                already_stored=True,
                level_count=stored.level_count,
                retired=None if restored else stored.retirement,
            )
        known = KnownRun(
            namespace=run.namespace,
            run_id=run.run_id,
            report_id=run.report_id,
            filename=run.filename,
            level_count=run.level_count,
            ingested_at=self._new_ingested_at(),
            data_version=self._changes.data_version,
        )
        self._known.runs[known.key] = known
        self._new.append(known)
        return RunReceiptRow(run_id=run.run_id, already_stored=False, level_count=run.level_count)

    def _supersede(self, reason: str) -> list[str]:
        kept = {run.run_id for run in self._upload.keys}
        old = [
            run
            for run in self._known.of_report(self._item.namespace, self._report_id)
            if run.run_id not in kept and run.retirement is None
        ]
        for run in old:
            self._event(run, "SUPERSEDED", reason)
        return [run.run_id for run in old]

    def _event(self, run: KnownRun, kind: EventKind, reason: str) -> None:
        self._known.runs[run.key] = self._changes.add_event(run, kind, reason, self._item.actor)

    def _keep_report(self, *, relabels: bool) -> None:
        facts = self._upload.report
        if facts is None or (self._stored is not None and not relabels):
            return
        version = self._changes.data_version
        report = KnownReport(
            namespace=self._item.namespace,
            facts=facts,
            ingested_at=self._new_ingested_at(),
            data_version=version,
        )
        self._changes.reports.append(report)
        first = version if self._stored is None else self._stored.data_version
        self._known.reports[self._item.namespace, self._report_id] = replace(report, data_version=first)

    def _version(self) -> int:
        """Return the version that holds every run of the upload as it stands."""
        runs = [self._known.runs[self._item.namespace, run.run_id] for run in self._upload.keys]
        restored = (run.event_version or 0 for run in runs if run.retirement is None)
        return max(*(run.data_version for run in runs), *restored, 0)

    def _remember(self, receipt: Receipt) -> None:
        if self._item.request_id is None:
            return
        request = KnownRequest(
            namespace=self._item.namespace,
            request_id=self._item.request_id,
            kind="append",
            body_digest=self._item.body_digest,
            receipt=receipt_to_text(receipt),
            answered_at=self._changes.now,
            data_version=receipt.data_version,
        )
        self._changes.requests.append(request)
        self._known.requests[self._item.namespace, self._item.request_id] = request


def _other_labels(stored: ReportFacts, given: ReportFacts) -> SameFileOtherLabels:
    differing = sorted({key for key, _ in set(stored.given) ^ set(given.given)})
    before, now = dict(stored.given), dict(given.given)
    shown = ", ".join(
        f"{key} ({before.get(key, 'not given')} stored, {now.get(key, 'not given')} now)" for key in differing
    )
    return SameFileOtherLabels(
        f"the same file is stored with other labels: {shown}; give the stored labels, or ask for replace",
        report_id=stored.report_id,
        labels=", ".join(differing),
    )


def decide_retraction(item: Retraction, known: Known, changes: Changes) -> RetractionReceipt:
    """Add what a retraction changes to ``changes`` and ``known``, and return its receipt.

    Raises ``InvalidInput``, ``RequestIdReused``, or ``NotStored`` when a run is unknown; then nothing changes.
    """
    check_retraction(item)
    answered = _answered(item.namespace, item.request_id, "retract", item.body_digest, known)
    if answered is not None:
        return retraction_from_text(answered)
    wanted = list(dict.fromkeys(item.run_ids))
    missing = [run_id for run_id in wanted if (item.namespace, run_id) not in known.runs]
    if missing:
        raise NotStored(
            f"no run {missing[0]} in namespace {item.namespace}; nothing was retracted",
            run_id=missing[0],
            namespace=item.namespace,
            missing_count=len(missing),
        )
    runs = [known.runs[item.namespace, run_id] for run_id in wanted]
    already = [run for run in runs if run.retirement == "RETRACTED"]
    for run in runs:
        if run.retirement != "RETRACTED":
            known.runs[run.key] = changes.add_event(run, "RETRACTED", item.reason, item.actor)
    version = max(known.runs[run.key].event_version or 0 for run in runs)
    receipt = RetractionReceipt(data_version=version, already_retracted=tuple(run.run_id for run in already))
    if item.request_id is not None:
        request = KnownRequest(
            namespace=item.namespace,
            request_id=item.request_id,
            kind="retract",
            body_digest=item.body_digest,
            receipt=receipt_to_text(receipt),
            answered_at=changes.now,
            data_version=version,
        )
        changes.requests.append(request)
        known.requests[item.namespace, item.request_id] = request
    return receipt


def decide_plan(plan: PlanRecord, known: Known, changes: Changes) -> tuple[PlanRecord, bool]:
    """Add a plan to keep to ``changes`` and ``known``; return it as kept, and whether it was before.

    Raises ``InvalidInput`` when another plan is kept under the id, which is a hash of what was asked and of what.
    """
    key = (plan.namespace, plan.plan_id)
    kept = known.plans.get(key)
    if kept is None:
        kept = known.plans[key] = replace(plan, recorded_at=changes.now)
        changes.plans.append(kept)
        return kept, False
    if kept.body != plan.body:
        cure = "send the plan as PlanCapacity gave it"
        raise InvalidInput.field("plan.plan_id", plan.plan_id, "is kept with another content", cure)
    return kept, True


def found_plan(key: Key, known: Known) -> PlanRecord:
    """Return a kept plan; raise ``NotStored``."""
    kept = known.plans.get(key)
    if kept is None:
        raise NotStored(f"no plan {key[1]} in namespace {key[0]}", plan_id=key[1], namespace=key[0])
    return kept


def decide_all(
    uploads: Sequence[Upload | TonnageError], known: Known, changes: Changes
) -> list[Receipt | TonnageError]:
    """Decide several uploads in order; one that was or is refused does not stop the others."""
    return [_decide(upload, known, changes) if isinstance(upload, Upload) else upload for upload in uploads]


def _decide(upload: Upload, known: Known, changes: Changes) -> Receipt | TonnageError:
    try:
        return decide_append(upload, known, changes)
    except TonnageError as error:
        return error


def prepared(items: Sequence[Append]) -> list[Upload | TonnageError]:
    """Check uploads and build their tables; what is refused stands as the error."""
    return [_prepared(item) for item in items]


def _prepared(item: Append) -> Upload | TonnageError:
    try:
        return Upload.of(item)
    except TonnageError as error:
        return error

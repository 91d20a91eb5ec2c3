"""Builders of what the store is handed."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from builders import a_level, a_run

from tonnage.store.base import Append, Receipt, ReportFacts, Retraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.measurement import Level, Run
    from tonnage.errors import TonnageError
    from tonnage.store.base import Listed, Retirement, StoreWriter


def a_digest(seed: str) -> str:
    """Return the SHA-256 of a text, as a report id."""
    return hashlib.sha256(seed.encode()).hexdigest()


def a_run_id(*seeds: str) -> str:
    """Return a run id that the same seeds give again."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(seeds)))


def a_stored_run(namespace: str, seed: str = "one", *levels: Level, **changes: object) -> Run:
    """Return a run of its own file, ready to be stored; two levels unless given."""
    stated: dict[str, object] = {
        "namespace": namespace,
        "run_id": a_run_id(namespace, seed),
        "report_id": a_digest(f"{namespace}/{seed}"),
        "filename": f"{seed}.json",
    }
    given = levels or (a_level(1, 2.0), a_level(4, 6.0, index=1))
    return a_run(*given, **{**stated, **changes})


def an_upload(*runs: Run, **changes: object) -> Append:
    """Return the upload of a raw file that holds the runs."""
    first = runs[0]
    facts = ReportFacts(report_id=first.report_id, filename=first.filename, size_bytes=10, format="tonnage-table")
    stated: dict[str, object] = {
        "namespace": first.namespace,
        "runs": runs,
        "body_digest": a_digest(repr(sorted(run.run_id for run in runs))),
        "report": facts,
    }
    return Append(**{**stated, **changes})  # type: ignore[arg-type]


def labelled(upload: Append, **labels: str) -> Append:
    """Return an upload of the same file with these labels, and the run ids they lead to."""
    assert upload.report is not None
    given = tuple(sorted(labels.items()))
    runs = tuple(replace(run, run_id=a_run_id(run.run_id, repr(given))) for run in upload.runs)
    return replace(upload, runs=runs, report=replace(upload.report, given=given), body_digest=a_digest(repr(given)))


def rows_of(listed: Listed) -> list[tuple[Run, Retirement | None]]:
    """Return the runs of a page, each with its retirement."""
    return list(cast("tuple[tuple[Run, Retirement | None], ...]", listed.rows))


def stored(writer: StoreWriter, *uploads: Append) -> list[Receipt]:
    """Store uploads in one commit and return their receipts; any refusal is raised."""
    return [_accepted(result) for result in writer.append(uploads)]


def _accepted(result: Receipt | TonnageError) -> Receipt:
    if isinstance(result, Exception):
        raise result
    return result


def a_retraction(runs: Sequence[Run], **changes: object) -> Retraction:
    """Return the retraction of runs of one namespace."""
    stated: dict[str, object] = {
        "namespace": runs[0].namespace,
        "run_ids": tuple(run.run_id for run in runs),
        "reason": "measured on a throttled card",
        "body_digest": a_digest("retraction" + repr([run.run_id for run in runs])),
    }
    return Retraction(**{**stated, **changes})  # type: ignore[arg-type]

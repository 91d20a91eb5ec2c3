"""Decisions are made from what is known alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from builders_store import a_retraction, a_stored_run, an_upload, labelled

from tonnage.errors import NotStored, RequestIdReused, SameFileOtherLabels, TonnageError
from tonnage.store.base import Append, Receipt
from tonnage.store.changes import Changes
from tonnage.store.decide import decide_all, decide_retraction, prepared
from tonnage.store.known import Known

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def decided(known: Known, version: int, *items: Append) -> tuple[list[Receipt | TonnageError], Changes]:
    changes = Changes(data_version=version, now=NOW + timedelta(days=version))
    return decide_all(prepared(items), known, changes), changes


def test_a_new_upload_writes_its_runs_its_report_and_its_request() -> None:
    _, changes = decided(Known(), 1, an_upload(a_stored_run("team"), request_id="one"))
    assert [len(new) for _, new in changes.uploads] == [1]
    assert [report.namespace for report in changes.reports] == ["team"]
    assert [request.request_id for request in changes.requests] == ["one"]
    assert changes.counts("team") == {"run_count": 1, "point_count": 2, "event_count": 0}
    assert changes.namespaces() == ["team"]


def test_the_same_upload_again_writes_nothing() -> None:
    known, upload = Known(), an_upload(a_stored_run("team"))
    decided(known, 1, upload)
    (receipt,), changes = decided(known, 2, upload)
    assert changes.is_empty
    assert isinstance(receipt, Receipt)
    assert (receipt.data_version, receipt.ingested_at) == (1, NOW + timedelta(days=1))


def test_a_request_alone_spends_no_data_version() -> None:
    known, upload = Known(), an_upload(a_stored_run("team"))
    decided(known, 1, upload)
    _, changes = decided(known, 2, replace(upload, request_id="later"))
    assert (changes.is_empty, changes.holds_data) == (False, False)


def test_a_refusal_leaves_what_is_known_and_what_is_written_alone() -> None:
    known, upload = Known(), labelled(an_upload(a_stored_run("team"), request_id="one"), state="peak")
    decided(known, 1, upload)
    before = repr(known)
    other_labels = replace(labelled(upload, state="soak"), request_id=None)
    results, changes = decided(known, 2, other_labels, replace(upload, body_digest="other"))
    assert [type(result) for result in results] == [SameFileOtherLabels, RequestIdReused]
    assert changes.is_empty
    assert repr(known) == before


def test_a_label_that_is_missing_now_is_named() -> None:
    known, upload = Known(), an_upload(a_stored_run("team"))
    decided(known, 1, labelled(upload, state="peak", accelerator="h100"))
    (refused,), _ = decided(known, 2, labelled(upload, accelerator="h100"))
    assert isinstance(refused, SameFileOtherLabels)
    assert refused.context["labels"] == "state"
    assert "not given now" in refused.message


def test_a_retraction_of_a_superseded_run_makes_it_retracted() -> None:
    known, upload = Known(), an_upload(a_stored_run("team"))
    old, new = labelled(upload, state="peak"), replace(labelled(upload, state="soak"), replace=True)
    decided(known, 1, old)
    decided(known, 2, new)
    changes = Changes(data_version=3, now=NOW)
    receipt = decide_retraction(a_retraction(old.runs), known, changes)
    assert (receipt.data_version, receipt.already_retracted) == (3, ())
    assert known.runs["team", old.runs[0].run_id].retirement == "RETRACTED"


def test_a_run_named_twice_is_retracted_once() -> None:
    known, run = Known(), a_stored_run("team")
    decided(known, 1, an_upload(run))
    changes = Changes(data_version=2, now=NOW)
    decide_retraction(a_retraction([run, run]), known, changes)
    assert len(changes.events) == 1


def test_a_retraction_with_one_unknown_run_changes_nothing() -> None:
    known, run = Known(), a_stored_run("team")
    decided(known, 1, an_upload(run))
    changes = Changes(data_version=2, now=NOW)
    with pytest.raises(NotStored):
        decide_retraction(a_retraction([run, a_stored_run("team", "unknown")]), known, changes)
    assert changes.is_empty
    assert known.runs["team", run.run_id].retirement is None

"""Listing runs, finding uploads and raw reports, whatever the back end."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from builders import a_configuration
from builders_store import a_digest, a_retraction, a_stored_run, an_upload, labelled, rows_of, stored

from tonnage.domain.configuration import Configuration
from tonnage.errors import InvalidInput, NotStored
from tonnage.store.base import Page, RunFilter

if TYPE_CHECKING:
    from stores import Store


ALL = Page(limit=1000)


def test_runs_are_listed_newest_first_in_pages_that_miss_none(store: Store, team: str) -> None:
    runs = [a_stored_run(team, str(number)) for number in range(7)]
    for run in runs[:4]:
        stored(store.writer, an_upload(run))
    stored(store.writer, *(an_upload(run) for run in runs[4:]))
    snapshot, seen, after = store.snapshot(), [], None
    for _ in range(4):
        listed = snapshot.runs(team, RunFilter(), Page(limit=2, after=after))
        assert listed.total_count == 7
        seen += [run for run, _ in rows_of(listed)]
        after = listed.next_after
    assert after is None
    assert [run.run_id for run in seen[3:]] == [run.run_id for run in reversed(runs[:4])]
    assert sorted(run.run_id for run in seen) == sorted(run.run_id for run in runs)
    assert all(run.levels == () for run in seen)


CHOSEN = {
    "tool": RunFilter(tool="guidellm"),
    "sweep": RunFilter(sweep_id="mine"),
    "fingerprint": RunFilter(fingerprint=a_configuration(engine="sglang").fingerprint),
    "field": RunFilter(configuration=Configuration(engine="sglang")),
    "flag": RunFilter(configuration=Configuration(prefix_caching=True)),
}


@pytest.mark.parametrize("chosen", CHOSEN)
def test_only_chosen_runs_are_listed(store: Store, team: str, chosen: str) -> None:
    wanted = a_stored_run(
        team,
        "wanted",
        tool="guidellm",
        sweep_id="mine",
        configuration=a_configuration(engine="sglang", prefix_caching=chosen == "flag" or None),
    )
    stored(store.writer, an_upload(wanted), an_upload(a_stored_run(team, "other")))
    listed = store.snapshot().runs(team, CHOSEN[chosen], ALL)
    assert [run.run_id for run, _ in rows_of(listed)] == [wanted.run_id]
    assert listed.total_count == 1


@pytest.mark.parametrize("page", [Page(limit=0), Page(limit=1, after="x"), Page(limit=1, after=f"{10**30}/a")])
def test_a_page_that_cannot_be_is_refused(store: Store, team: str, page: Page) -> None:
    with pytest.raises(InvalidInput):
        store.snapshot().runs(team, RunFilter(), page)


def test_an_upload_is_found_by_its_digest_and_by_its_request(store: Store, team: str) -> None:
    run = a_stored_run(team)
    (receipt,) = stored(store.writer, an_upload(run, request_id="ci-7"))
    by_digest = store.writer.find_upload(team, report_id=run.report_id)
    assert by_digest == store.writer.find_upload(team, request_id="ci-7")
    assert (by_digest.filename, by_digest.data_version) == ("one.json", receipt.data_version)
    assert by_digest.runs == ((run.run_id, 2, None),)


def test_a_found_upload_tells_which_runs_are_out(store: Store, team: str) -> None:
    upload = an_upload(a_stored_run(team))
    old, new = labelled(upload, accelerator="h100"), labelled(upload, accelerator="h200")
    stored(store.writer, old)
    stored(store.writer, replace(new, replace=True))
    store.writer.retract(a_retraction(new.runs))
    found = store.writer.find_upload(team, report_id=upload.runs[0].report_id)
    assert {(run_id, retired) for run_id, _, retired in found.runs} == {
        (old.runs[0].run_id, "SUPERSEDED"),
        (new.runs[0].run_id, "RETRACTED"),
    }


def test_an_upload_nobody_made_is_not_found(store: Store, team: str) -> None:
    with pytest.raises(NotStored):
        store.writer.find_upload(team, report_id=a_digest("nothing"))
    with pytest.raises(NotStored):
        store.writer.find_upload(team, request_id="nothing")


def test_a_raw_report_comes_back_byte_for_byte(store: Store, team: str) -> None:
    data = b"{}\n" * 400_000
    report_id = a_digest(data.decode())
    store.writer.keep_report(team, report_id, io.BytesIO(data))
    store.writer.keep_report(team, report_id, io.BytesIO(data))
    stored(store.writer, an_upload(a_stored_run(team, report_id=report_id)))
    with store.writer.open_report(team, report_id) as found:
        assert found.read() == data


def test_an_empty_report_comes_back_empty(store: Store, team: str) -> None:
    store.writer.keep_report(team, a_digest(""), io.BytesIO(b""))
    stored(store.writer, an_upload(a_stored_run(team, report_id=a_digest(""))))
    with store.writer.open_report(team, a_digest("")) as found:
        assert found.read() == b""


def test_a_raw_report_shows_only_in_the_namespace_of_its_upload(store: Store, team: str) -> None:
    report_id = a_digest(team)
    store.writer.keep_report(team, report_id, io.BytesIO(team.encode()))
    stored(store.writer, an_upload(a_stored_run(team, report_id=report_id)))
    with pytest.raises(NotStored):
        store.writer.open_report(f"{team}-other", report_id)


def test_bytes_that_do_not_match_their_digest_are_refused(store: Store, team: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        store.writer.keep_report(team, a_digest("other bytes"), io.BytesIO(b"bytes"))
    assert refused.value.violations[0].path == "report_id"

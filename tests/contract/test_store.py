"""What every store does, whatever the back end: storing, retracting, snapshots, sweeps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from builders import a_configuration, a_level
from builders_store import a_digest, a_retraction, a_run_id, a_stored_run, an_upload, labelled, rows_of, stored

from tonnage.domain.measurement import ArrivalKind, EmbeddingWork, TestState, TextWork
from tonnage.errors import DataVersionNotReached, InvalidInput, NotStored, RequestIdReused, SameFileOtherLabels
from tonnage.store.base import Page, RunFilter

if TYPE_CHECKING:
    from stores import Store

    from tonnage.store.base import Append, Snapshot

ALL = Page(limit=1000)


def fingerprint() -> str:
    return a_configuration().fingerprint


def live_ids(snapshot: Snapshot, namespace: str) -> list[str]:
    return sorted(run.run_id for sweep in snapshot.sweeps(namespace, fingerprint()) for run in sweep.runs)


def test_a_stored_run_comes_back_as_it_was(store: Store, team: str) -> None:
    run = a_stored_run(team, measured_at=datetime(2026, 5, 1, 12, tzinfo=UTC), state=TestState.PEAK)
    (receipt,) = stored(store.writer, an_upload(run))
    found, retired = store.snapshot().run(team, run.run_id)
    assert found == replace(run, ingested_at=receipt.ingested_at)
    assert retired is None


def test_a_commit_raises_the_data_version_by_one(store: Store, team: str) -> None:
    before = store.writer.data_version
    (receipt,) = stored(store.writer, an_upload(a_stored_run(team)))
    assert receipt.data_version == before + 1 == store.writer.data_version


def test_uploads_of_one_call_share_one_data_version(store: Store, team: str) -> None:
    before = store.writer.data_version
    receipts = stored(store.writer, *(an_upload(a_stored_run(team, seed)) for seed in "abc"))
    assert [receipt.data_version for receipt in receipts] == [before + 1] * 3


def test_the_same_file_twice_is_stored_once(store: Store, team: str) -> None:
    upload = an_upload(a_stored_run(team))
    (first,) = stored(store.writer, upload)
    stored(store.writer, an_upload(a_stored_run(team, "other")))
    before = store.writer.data_version
    (again,) = stored(store.writer, upload)
    assert again.runs[0].already_stored
    assert (again.data_version, again.ingested_at) == (first.data_version, first.ingested_at)
    assert store.writer.data_version == before
    assert len(store.snapshot().runs(team, RunFilter(), ALL).rows) == 2


def test_the_same_file_twice_in_one_call_is_stored_once(store: Store, team: str) -> None:
    upload = an_upload(a_stored_run(team))
    first, second = stored(store.writer, upload, upload)
    assert not first.runs[0].already_stored
    assert second.runs[0].already_stored
    assert first.data_version == second.data_version
    assert live_ids(store.snapshot(), team) == [upload.runs[0].run_id]


def test_runs_without_a_file_are_stored_once_too(store: Store, team: str) -> None:
    upload = an_upload(a_stored_run(team), report=None)
    stored(store.writer, upload)
    (again,) = stored(store.writer, upload)
    assert again.runs[0].already_stored
    assert live_ids(store.snapshot(), team) == [upload.runs[0].run_id]


def test_a_known_run_beside_a_new_one_stores_the_new_one_alone(store: Store, team: str) -> None:
    old, new = a_stored_run(team, "old"), a_stored_run(team, "new")
    (first,) = stored(store.writer, an_upload(old, report=None))
    (second,) = stored(store.writer, an_upload(old, new, report=None))
    assert [row.already_stored for row in second.runs] == [True, False]
    assert second.data_version == first.data_version + 1
    assert second.ingested_at > first.ingested_at
    assert store.snapshot().run(team, old.run_id)[0].ingested_at == first.ingested_at


def test_the_same_file_with_other_labels_is_refused_and_names_them(store: Store, team: str) -> None:
    upload = an_upload(a_stored_run(team))
    stored(store.writer, labelled(upload, accelerator="h100", state="peak"))
    (refused,) = store.writer.append([labelled(upload, accelerator="h200", state="peak")])
    assert isinstance(refused, SameFileOtherLabels)
    assert refused.context["labels"] == "accelerator"
    assert "h100" in refused.message


def test_replace_supersedes_the_file_with_the_old_labels(store: Store, team: str) -> None:
    upload = an_upload(a_stored_run(team))
    old, new = labelled(upload, accelerator="h100"), labelled(upload, accelerator="h200")
    (first,) = stored(store.writer, old)
    (second,) = stored(store.writer, replace(new, replace=True))
    assert second.superseded == (old.runs[0].run_id,)
    assert second.ingested_at == first.ingested_at
    assert live_ids(store.snapshot(), team) == [new.runs[0].run_id]
    assert store.snapshot().run(team, old.runs[0].run_id)[1] == "SUPERSEDED"


def test_replace_brings_superseded_labels_back(store: Store, team: str) -> None:
    upload = an_upload(a_stored_run(team))
    old, new = labelled(upload, accelerator="h100"), labelled(upload, accelerator="h200")
    stored(store.writer, old)
    stored(store.writer, replace(new, replace=True))
    (third,) = stored(store.writer, replace(old, replace=True, request_id="back"))
    assert third.runs[0].already_stored
    assert third.data_version == store.writer.data_version
    assert live_ids(store.snapshot(), team) == [old.runs[0].run_id]


def test_replace_does_not_bring_a_retracted_run_back(store: Store, team: str) -> None:
    upload = labelled(an_upload(a_stored_run(team)), accelerator="h100")
    stored(store.writer, upload)
    store.writer.retract(a_retraction(upload.runs))
    (again,) = stored(store.writer, replace(upload, replace=True))
    assert again.runs[0].retired == "RETRACTED"
    assert live_ids(store.snapshot(), team) == []


def test_one_refused_upload_does_not_stop_the_others(store: Store, team: str) -> None:
    good, bad = an_upload(a_stored_run(team, "good")), an_upload(a_stored_run(team, "bad", run_id="no-uuid"))
    refused, receipt = store.writer.append([bad, good])
    assert isinstance(refused, InvalidInput)
    assert refused.violations[0].path == "runs[0].run_id"
    assert not isinstance(receipt, Exception)
    assert live_ids(store.snapshot(), team) == [good.runs[0].run_id]


def test_a_refused_upload_alone_writes_nothing(store: Store, team: str) -> None:
    before = store.writer.data_version
    store.writer.append([an_upload(a_stored_run(team, run_id="no-uuid"))])
    assert store.writer.data_version == before


BAD_UPLOADS = {
    "runs": lambda team: an_upload(a_stored_run(team), runs=()),
    "namespace": lambda team: an_upload(a_stored_run(team), namespace=""),
    "body_digest": lambda team: an_upload(a_stored_run(team), body_digest=""),
    "request_id": lambda team: an_upload(a_stored_run(team), request_id="\ud800"),
    "report.filename": lambda team: an_upload(a_stored_run(team, filename="\ud800")),
    "runs[0].namespace": lambda team: an_upload(a_stored_run(team), namespace=f"{team}-other"),
    "runs[0].measured_at": lambda team: an_upload(a_stored_run(team, measured_at=datetime(2026, 1, 1))),  # noqa: DTZ001 -- the point
    "runs[1].run_id": lambda team: an_upload(a_stored_run(team), a_stored_run(team)),
    "runs[1].completed_count": lambda team: an_upload(
        a_stored_run(team),
        a_stored_run(team, "two", a_level(1, 1, completed_count=2**70), report_id=a_digest(f"{team}/one")),
    ),
    "runs[0].tool": lambda team: an_upload(a_stored_run(team, tool="\udcff")),
    "runs[0].levels": lambda team: an_upload(
        a_stored_run(team, "mixed", a_level(1, 1), a_level(2, 2, work=EmbeddingWork())),
    ),
}


@pytest.mark.parametrize("path", BAD_UPLOADS)
def test_an_upload_that_cannot_be_stored_names_the_field(store: Store, team: str, path: str) -> None:
    (refused,) = store.writer.append([BAD_UPLOADS[path](team)])
    assert isinstance(refused, InvalidInput)
    assert [violation.path for violation in refused.violations] == [path]


def test_a_request_id_repeated_with_its_body_gets_the_first_receipt(store: Store, team: str) -> None:
    upload = an_upload(a_stored_run(team), request_id="ci-1")
    (first,) = stored(store.writer, upload)
    (again,) = stored(store.writer, upload)
    assert again == first


def test_a_request_id_with_another_body_is_refused(store: Store, team: str) -> None:
    stored(store.writer, an_upload(a_stored_run(team), request_id="ci-1"))
    (refused,) = store.writer.append([an_upload(a_stored_run(team, "other"), request_id="ci-1")])
    assert isinstance(refused, RequestIdReused)
    assert refused.context["request_id"] == "ci-1"


def test_a_request_id_on_a_file_that_is_stored_is_remembered_without_a_new_data_version(
    store: Store, team: str
) -> None:
    upload = an_upload(a_stored_run(team))
    stored(store.writer, upload)
    before = store.writer.data_version
    stored(store.writer, replace(upload, request_id="later"))
    assert store.writer.data_version == before
    (refused,) = store.writer.append([an_upload(a_stored_run(team, "other"), request_id="later")])
    assert isinstance(refused, RequestIdReused)


def test_an_upload_and_a_retraction_cannot_share_a_request_id(store: Store, team: str) -> None:
    run = a_stored_run(team)
    stored(store.writer, an_upload(run, request_id="one", body_digest="same"))
    with pytest.raises(RequestIdReused):
        store.writer.retract(a_retraction([run], request_id="one", body_digest="same"))


def test_a_retracted_run_leaves_every_answer(store: Store, team: str) -> None:
    kept, gone = a_stored_run(team, "kept"), a_stored_run(team, "gone")
    stored(store.writer, an_upload(kept), an_upload(gone))
    receipt = store.writer.retract(a_retraction([gone]))
    snapshot = store.snapshot()
    assert receipt.data_version == snapshot.data_version
    assert live_ids(snapshot, team) == [kept.run_id]
    assert [facts.run_count for facts in snapshot.configurations(team)] == [1]
    assert [run.run_id for run, _ in rows_of(snapshot.runs(team, RunFilter(), ALL))] == [kept.run_id]


def test_a_retracted_run_can_still_be_looked_at(store: Store, team: str) -> None:
    gone = a_stored_run(team)
    stored(store.writer, an_upload(gone))
    store.writer.retract(a_retraction([gone]))
    snapshot = store.snapshot()
    assert snapshot.run(team, gone.run_id)[1] == "RETRACTED"
    rows = rows_of(snapshot.runs(team, RunFilter(include_retired=True), ALL))
    assert [(run.run_id, retired) for run, retired in rows] == [(gone.run_id, "RETRACTED")]


def test_a_configuration_without_live_runs_is_gone(store: Store, team: str) -> None:
    run = a_stored_run(team)
    stored(store.writer, an_upload(run))
    assert len(store.snapshot().configurations(team)) == 1
    store.writer.retract(a_retraction([run]))
    assert list(store.snapshot().configurations(team)) == []


def test_retracting_an_unknown_run_writes_nothing(store: Store, team: str) -> None:
    known = a_stored_run(team)
    stored(store.writer, an_upload(known))
    before = store.writer.data_version
    with pytest.raises(NotStored) as refused:
        store.writer.retract(a_retraction([known, a_stored_run(team, "unknown")]))
    assert refused.value.context["run_id"] == a_run_id(team, "unknown")
    assert store.writer.data_version == before
    assert live_ids(store.snapshot(), team) == [known.run_id]


def test_retracting_twice_changes_nothing_and_says_so(store: Store, team: str) -> None:
    run = a_stored_run(team)
    stored(store.writer, an_upload(run))
    first = store.writer.retract(a_retraction([run]))
    again = store.writer.retract(a_retraction([run]))
    assert again.already_retracted == (run.run_id,)
    assert again.data_version == first.data_version == store.writer.data_version


def test_a_repeated_retraction_request_gets_the_first_receipt(store: Store, team: str) -> None:
    run = a_stored_run(team)
    stored(store.writer, an_upload(run))
    retraction = a_retraction([run], request_id="out")
    assert store.writer.retract(retraction) == store.writer.retract(retraction)


def test_a_preview_of_a_retraction_writes_nothing(store: Store, team: str) -> None:
    run = a_stored_run(team)
    stored(store.writer, an_upload(run))
    before = store.writer.data_version
    assert store.writer.preview_retraction(a_retraction([run])).already_retracted == ()
    with pytest.raises(NotStored):
        store.writer.preview_retraction(a_retraction([a_stored_run(team, "unknown")]))
    assert store.writer.data_version == before
    assert live_ids(store.snapshot(), team) == [run.run_id]


def test_a_retraction_without_a_reason_is_refused(store: Store, team: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        store.writer.retract(a_retraction([a_stored_run(team)], reason=""))
    assert refused.value.violations[0].path == "reason"


def test_namespaces_do_not_see_each_other(store: Store, team: str) -> None:
    other = f"{team}-other"
    here, there = a_stored_run(team, run_id=a_run_id("shared")), a_stored_run(other, run_id=a_run_id("shared"))
    stored(store.writer, an_upload(here, request_id="same"), an_upload(there, request_id="same"))
    store.writer.retract(a_retraction([there]))
    snapshot = store.snapshot()
    assert live_ids(snapshot, team) == [here.run_id]
    assert live_ids(snapshot, other) == []
    with pytest.raises(NotStored):
        snapshot.run(f"{team}-third", here.run_id)


def test_a_snapshot_never_changes_under_its_reader(store: Store, team: str) -> None:
    first, second = a_stored_run(team, "first"), a_stored_run(team, "second")
    stored(store.writer, an_upload(first))
    before = store.snapshot()
    stored(store.writer, an_upload(second))
    store.writer.retract(a_retraction([first]))
    after = store.snapshot()
    assert live_ids(after, team) == [second.run_id]
    assert live_ids(before, team) == [first.run_id]
    assert before.run(team, first.run_id)[1] is None
    assert [facts.run_count for facts in before.configurations(team)] == [1]
    assert before.runs(team, RunFilter(), ALL).total_count == 1
    with pytest.raises(NotStored):
        before.run(team, second.run_id)


def test_a_sweep_is_read_once_for_a_state(store: Store, team: str) -> None:
    stored(store.writer, an_upload(a_stored_run(team)))
    assert list(store.snapshot().sweeps(team, fingerprint())) == list(store.snapshot().sweeps(team, fingerprint()))


def test_waiting_for_a_version_that_does_not_come_says_where_the_store_is(store: Store) -> None:
    with pytest.raises(DataVersionNotReached) as refused:
        store.reader.wait_for(store.writer.data_version + 1, 0.01)
    assert refused.value.context["asked"] == str(store.writer.data_version + 1)


def test_the_reader_says_that_it_is_well(store: Store) -> None:
    store.snapshot()
    assert store.reader.healthy()


UNLIKE: dict[str, dict[str, object]] = {
    "tool": {"tool": "guidellm"},
    "metric_definitions": {"metric_definitions": "vllm-serve-2"},
    "arrival_kind": {"arrival_kind": ArrivalKind.OPEN},
    "sample_set": {"sample_set": "sharegpt"},
    "sweep_id": {"sweep_id": "sweep-2"},
}


@pytest.mark.parametrize("field", UNLIKE)
def test_unlike_runs_are_never_in_one_sweep(store: Store, team: str, field: str) -> None:
    stored(store.writer, an_upload(a_stored_run(team, "a")), an_upload(a_stored_run(team, "b", **UNLIKE[field])))
    assert [len(sweep.runs) for sweep in store.snapshot().sweeps(team, fingerprint())] == [1, 1]


def test_runs_of_one_sweep_id_form_one_sweep_over_uploads(store: Store, team: str) -> None:
    few = a_level(1, 1, completed_count=100, work=TextWork(input_tokens_mean=1000.0, output_tokens_mean=100.0))
    many = a_level(2, 2, completed_count=300, work=TextWork(input_tokens_mean=2000.0, output_tokens_mean=200.0))
    stored(store.writer, an_upload(a_stored_run(team, "a", few)))
    stored(store.writer, an_upload(a_stored_run(team, "b", many)))
    (sweep,) = store.snapshot().sweeps(team, fingerprint())
    assert len(sweep.runs) == 2
    assert sweep.work == TextWork(input_tokens_mean=1750.0, output_tokens_mean=175.0)
    assert store.snapshot().configurations(team)[0].works == (sweep.work,)


def test_the_levels_of_one_file_are_one_sweep_where_no_id_was_given(store: Store, team: str) -> None:
    one = a_stored_run(team, "a", sweep_id=None)
    stored(store.writer, an_upload(one), an_upload(a_stored_run(team, "b", sweep_id=None)))
    sweeps = store.snapshot().sweeps(team, fingerprint())
    assert len(sweeps) == 2
    assert one.report_id in {sweep.sweep_id for sweep in sweeps}


def test_a_cold_run_is_on_no_curve(store: Store, team: str) -> None:
    warm, cold = a_stored_run(team, "warm"), a_stored_run(team, "cold", state=TestState.COLD)
    stored(store.writer, an_upload(warm), an_upload(cold))
    assert live_ids(store.snapshot(), team) == [warm.run_id]
    assert store.snapshot().runs(team, RunFilter(), ALL).total_count == 2


def test_the_sweep_measured_last_comes_first_whenever_it_was_stored(store: Store, team: str) -> None:
    day = datetime(2026, 3, 1, tzinfo=UTC)
    new = a_stored_run(team, "new", sweep_id="new", measured_at=day + timedelta(days=9))
    old = a_stored_run(team, "old", sweep_id="old", measured_at=day)
    stored(store.writer, an_upload(new))
    stored(store.writer, an_upload(old))
    assert [sweep.sweep_id for sweep in store.snapshot().sweeps(team, fingerprint())] == ["new", "old"]


def test_the_order_of_sweeps_and_runs_does_not_depend_on_the_order_of_uploads(store: Store, team: str) -> None:
    day = datetime(2026, 3, 1, tzinfo=UTC)
    other = f"{team}-other"

    def uploads(namespace: str) -> list[Append]:
        return [
            an_upload(
                a_stored_run(namespace, f"{sweep}{run}", sweep_id=sweep, measured_at=day, run_id=a_run_id(sweep, run))
            )
            for sweep in "xyz"
            for run in "12"
        ]

    stored(store.writer, *uploads(team))
    stored(store.writer, *reversed(uploads(other)))
    snapshot = store.snapshot()
    orders = [
        [(sweep.sweep_id, [run.run_id for run in sweep.runs]) for sweep in snapshot.sweeps(namespace, fingerprint())]
        for namespace in (team, other)
    ]
    assert orders[0] == orders[1]
    assert len(orders[0]) == 3


def test_configurations_are_told_apart_and_counted(store: Store, team: str) -> None:
    small, large = a_configuration(), a_configuration(accelerators_per_replica=2, tensor_parallel=2)
    stored(
        store.writer,
        an_upload(a_stored_run(team, "a", configuration=small)),
        an_upload(a_stored_run(team, "b", configuration=large)),
        an_upload(a_stored_run(team, "c", a_level(1, 1), configuration=large)),
    )
    facts = store.snapshot().configurations(team)
    assert [item.fingerprint for item in facts] == sorted([small.fingerprint, large.fingerprint])
    assert {(item.configuration, item.run_count, item.level_count) for item in facts} == {(small, 1, 2), (large, 2, 3)}


def test_housekeeping_changes_no_answer(store: Store, team: str) -> None:
    for seed in "abcdef":
        stored(store.writer, an_upload(a_stored_run(team, seed)))
    before = store.snapshot()
    store.writer.maintain()
    stored(store.writer, an_upload(a_stored_run(f"{team}-other")))
    after = store.snapshot()
    assert after.data_version == before.data_version + 1
    assert list(after.sweeps(team, fingerprint())) == list(before.sweeps(team, fingerprint()))

"""Runs that come as tables, and plans that are kept, whatever the back end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from builders import a_configuration
from builders_store import a_stored_run, an_upload, stored

from tonnage.errors import InvalidInput, NotStored
from tonnage.store.base import AppendTables, Page, PlanRecord
from tonnage.store.incoming import Upload

if TYPE_CHECKING:
    from collections.abc import Callable

    from stores import Store

    from tonnage.domain.measurement import Run
    from tonnage.store.base import Snapshot

ALL = Page(limit=1000)


def fingerprint() -> str:
    return a_configuration().fingerprint


def live_ids(snapshot: Snapshot, namespace: str) -> list[str]:
    return sorted(run.run_id for sweep in snapshot.sweeps(namespace, fingerprint()) for run in sweep.runs)


def as_tables(*runs: Run, **changes: object) -> AppendTables:
    """Return runs as tables, as a bulk path hands them in."""
    upload = Upload.of(an_upload(*runs, report=None))
    stated = {"namespace": runs[0].namespace, "runs": upload.runs, "points": upload.points, "body_digest": "bulk"}
    return AppendTables(**{**stated, **changes})


def test_runs_that_come_as_tables_are_stored_as_others_are(store: Store, team: str) -> None:
    runs = [a_stored_run(team, seed) for seed in "abc"]
    receipt = store.writer.append_tables(as_tables(*runs))
    assert [row.already_stored for row in receipt.runs] == [False] * 3
    for run in runs:
        assert store.snapshot().run(team, run.run_id)[0] == replace(run, ingested_at=receipt.ingested_at)
    again = store.writer.append_tables(as_tables(*runs))
    assert all(row.already_stored for row in again.runs)
    assert again.data_version == receipt.data_version


def test_columns_without_a_value_may_be_left_out_of_a_table(store: Store, team: str) -> None:
    run = a_stored_run(team)
    points = as_tables(run).points
    thin = points.select([name for name in points.column_names if points[name].null_count < points.num_rows])
    assert thin.num_columns < points.num_columns
    receipt = store.writer.append_tables(as_tables(run, points=thin))
    assert store.snapshot().run(team, run.run_id)[0] == replace(run, ingested_at=receipt.ingested_at)


def test_a_table_with_a_known_run_stores_the_new_one_alone(store: Store, team: str) -> None:
    old, new = a_stored_run(team, "old"), a_stored_run(team, "new")
    stored(store.writer, an_upload(old, report=None))
    receipt = store.writer.append_tables(as_tables(old, new))
    assert [row.already_stored for row in receipt.runs] == [True, False]
    assert live_ids(store.snapshot(), team) == sorted([old.run_id, new.run_id])


def _twice(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(0, 1), table.slice(0, 1)])


BAD_TABLES: dict[str, Callable[[AppendTables], dict[str, Any]]] = {
    "points.usable": lambda good: {"points": good.points.drop_columns(["usable"])},
    "points.surprise": lambda good: {"points": good.points.append_column("surprise", good.points["run_id"])},
    "points.concurrency": lambda good: {
        "points": good.points.drop_columns(["concurrency"]).append_column("concurrency", good.points["run_id"])
    },
    "runs.tool": lambda good: {"runs": good.runs.drop_columns(["tool"])},
    "runs[0].level_count": lambda good: {"points": _twice(good.points)},
    "points.run_id": lambda good: {"points": pa.concat_tables([good.points, as_tables(a_stored_run("else")).points])},
    "runs": lambda good: {"runs": _twice(good.runs)},
    "runs[0].namespace": lambda good: {"namespace": f"{good.namespace}-other"},
    "body_digest": lambda _: {"body_digest": ""},
}


@pytest.mark.parametrize("path", BAD_TABLES)
def test_tables_that_cannot_be_stored_name_the_place(store: Store, team: str, path: str) -> None:
    good, before = as_tables(a_stored_run(team)), store.writer.data_version
    with pytest.raises(InvalidInput) as refused:
        store.writer.append_tables(replace(good, **BAD_TABLES[path](good)))
    assert [violation.path for violation in refused.value.violations] == [path]
    assert store.writer.data_version == before


def test_a_table_without_runs_is_refused(store: Store, team: str) -> None:
    good = as_tables(a_stored_run(team))
    with pytest.raises(InvalidInput) as refused:
        store.writer.append_tables(replace(good, runs=good.runs.slice(0, 0), points=good.points.slice(0, 0)))
    assert refused.value.violations[0].path == "runs"


def a_plan(namespace: str, **changes: object) -> PlanRecord:
    stated = {"namespace": namespace, "plan_id": "p-1", "release": "0.1.0", "plan_data_version": 3, "body": b"\x00\xff"}
    return PlanRecord(**{**stated, **changes})  # type: ignore[arg-type]  # by name


def test_a_recorded_plan_comes_back_byte_for_byte(store: Store, team: str) -> None:
    kept, was_kept = store.writer.record_plan(a_plan(team))
    assert not was_kept
    assert store.writer.recorded_plan(team, "p-1") == kept == a_plan(team, recorded_at=kept.recorded_at)
    assert kept.recorded_at is not None


def test_a_plan_recorded_again_is_kept_once_and_changes_no_data_version(store: Store, team: str) -> None:
    before = store.writer.data_version
    first, _ = store.writer.record_plan(a_plan(team))
    assert store.writer.record_plan(a_plan(team)) == (first, True)
    assert store.writer.data_version == before


def test_another_plan_under_the_same_id_is_refused(store: Store, team: str) -> None:
    store.writer.record_plan(a_plan(team))
    with pytest.raises(InvalidInput):
        store.writer.record_plan(a_plan(team, body=b"other"))
    with pytest.raises(NotStored):
        store.writer.recorded_plan(f"{team}-other", "p-1")

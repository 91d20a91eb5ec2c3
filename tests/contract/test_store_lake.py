"""What the lake does beyond what every store does: on disk, over restarts, beside other processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from builders import a_configuration
from builders_store import a_retraction, a_stored_run, an_upload, labelled, rows_of, stored

from tonnage.errors import SchemaTooNew, StoreLocked, StoreUnavailable
from tonnage.store import durable, open_reader, open_writer
from tonnage.store.base import Page, RunFilter
from tonnage.store.lake.connection import attach, connect, create_catalog, data_path
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.maintenance import Upkeep
from tonnage.store.migrations import MIGRATIONS, Migration, migrate, schema_version
from tonnage.store.replica import LakeReader
from tonnage.store.schema import SCHEMA_VERSION, TABLES
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    import duckdb

    from tonnage.store.base import Snapshot

TEAM = "default"
AT_ONCE = Upkeep(snapshot_age_s=0, file_age_s=0, orphan_every_s=0)
NEVER_S = 1e6


@pytest.fixture
def place(tmp_path: Path) -> EmbeddedPlace:
    return EmbeddedPlace(tmp_path / "store")


def a_lake(place: EmbeddedPlace, *, version: int = SCHEMA_VERSION) -> duckdb.DuckDBPyConnection:
    """Return a connection to a lake at an older schema, made as the release of that schema made it."""
    durable.make_folder(data_path(place))
    connection = connect()
    create_catalog(connection, place)
    attach(connection, place, read_only=False)
    migrate(connection, now=datetime(2026, 1, 1, tzinfo=UTC), migrations=MIGRATIONS[:version])
    return connection


def stored_ids(snapshot: Snapshot) -> list[str]:
    return sorted(run.run_id for run, _ in rows_of(snapshot.runs(TEAM, RunFilter(), Page(limit=1000))))


def parquet_files(place: EmbeddedPlace) -> set[Path]:
    return set(data_path(place).rglob("*.parquet"))


def test_a_second_writer_is_told_who_holds_the_store(place: EmbeddedPlace) -> None:
    with closing(LakeWriter(place)), pytest.raises(StoreLocked) as refused:
        LakeWriter(place)
    assert refused.value.context == {"path": str(place.folder / "writer.lock"), "holder": str(os.getpid())}


def test_the_lock_is_free_after_a_close(place: EmbeddedPlace) -> None:
    LakeWriter(place).close()
    with closing(LakeWriter(place)) as next_one:
        assert len(stored(next_one, an_upload(a_stored_run(TEAM)))) == 1


def test_a_reopened_store_knows_what_it_stored(place: EmbeddedPlace) -> None:
    upload = an_upload(a_stored_run(TEAM), request_id="ci-1")
    with closing(LakeWriter(place)) as writer:
        (first,) = stored(writer, upload)
        stored(writer, an_upload(a_stored_run(TEAM, "two")))
    with closing(LakeWriter(place)) as writer:
        assert writer.data_version == 2
        assert stored(writer, upload) == [first]
        (again,) = stored(writer, replace(upload, request_id=None))
        assert (again.runs[0].already_stored, again.data_version, again.ingested_at) == (True, 1, first.ingested_at)


def test_a_reader_that_starts_first_waits_for_the_store(place: EmbeddedPlace) -> None:
    with closing(LakeReader(place, poll_s=0.01)) as reader:
        assert (reader.snapshot.data_version, reader.healthy()) == (0, False)
        assert list(reader.snapshot.configurations(TEAM)) == []
        assert reader.snapshot.runs(TEAM, RunFilter(), Page(limit=1)).rows == ()
        run = a_stored_run(TEAM)
        with closing(LakeWriter(place)) as writer:
            stored(writer, an_upload(run))
            assert stored_ids(reader.wait_for(1, 10)) == [run.run_id]
            assert reader.healthy()


def test_a_reader_that_starts_later_sees_everything(place: EmbeddedPlace) -> None:
    kept, gone = a_stored_run(TEAM), a_stored_run(TEAM, "gone")
    with closing(LakeWriter(place)) as writer:
        stored(writer, an_upload(kept))
        stored(writer, an_upload(gone))
        writer.retract(a_retraction([gone]))
    with closing(LakeReader(place)) as reader:
        assert reader.snapshot.data_version == 3
        assert stored_ids(reader.snapshot) == [kept.run_id]
        assert reader.snapshot.run(TEAM, gone.run_id)[1] == "RETRACTED"


def test_a_reader_whose_place_in_the_feed_expired_copies_anew(place: EmbeddedPlace) -> None:
    runs = [a_stored_run(TEAM, str(number)) for number in range(4)]
    with closing(LakeWriter(place, upkeep=AT_ONCE)) as writer, closing(LakeReader(place, poll_s=NEVER_S)) as reader:
        stored(writer, an_upload(runs[0]))
        assert reader.refresh() is None
        before = reader.snapshot
        for run in runs[1:]:
            stored(writer, an_upload(run))
        writer.maintain()
        assert reader.refresh() is None
        assert stored_ids(reader.snapshot) == sorted(run.run_id for run in runs)
        assert stored_ids(before) == [runs[0].run_id]


def test_a_reader_follows_a_store_that_was_put_in_the_place_of_another(tmp_path: Path, place: EmbeddedPlace) -> None:
    other = EmbeddedPlace(tmp_path / "other")
    old, new = a_stored_run(TEAM, "old"), a_stored_run(TEAM, "new")
    for where, run in ((place, old), (other, new)):
        with closing(LakeWriter(where)) as writer:
            stored(writer, an_upload(run))
    with closing(LakeReader(place, poll_s=NEVER_S)) as reader:
        assert stored_ids(reader.snapshot) == [old.run_id]
        place.folder.rename(tmp_path / "away")
        other.folder.rename(place.folder)
        assert reader.refresh() is None
        assert stored_ids(reader.snapshot) == [new.run_id]


def test_a_reader_keeps_answering_while_the_store_is_gone(tmp_path: Path, place: EmbeddedPlace) -> None:
    run = a_stored_run(TEAM)
    with closing(LakeWriter(place)) as writer:
        stored(writer, an_upload(run))
    with closing(LakeReader(place, poll_s=NEVER_S)) as reader:
        place.folder.rename(tmp_path / "away")
        assert isinstance(reader.refresh(), StoreUnavailable)
        assert stored_ids(reader.snapshot) == [run.run_id]


def test_a_store_that_was_moved_opens(tmp_path: Path, place: EmbeddedPlace) -> None:
    run = a_stored_run(TEAM)
    with closing(LakeWriter(place)) as writer:
        stored(writer, an_upload(run))
    moved = EmbeddedPlace(tmp_path / "elsewhere")
    place.folder.rename(moved.folder)
    with closing(LakeReader(moved)) as reader:
        assert reader.snapshot.run(TEAM, run.run_id)[0].levels == run.levels
    with closing(LakeWriter(moved)) as writer:
        assert stored(writer, an_upload(run))[0].runs[0].already_stored


def test_a_folder_name_is_never_read_as_sql(tmp_path: Path) -> None:
    odd = f"lake://{tmp_path}/it's%20a%20'store';%20DROP%20é"
    with closing(open_writer(odd)) as writer, closing(open_reader(odd)) as reader:
        run = a_stored_run(TEAM)
        stored(writer, an_upload(run))
        assert stored_ids(reader.wait_for(1, 10)) == [run.run_id]
    assert (tmp_path / "it's a 'store'; DROP é").is_dir()


def test_texts_are_never_read_as_sql(place: EmbeddedPlace) -> None:
    nasty = "x'); DROP TABLE lake.points; --"
    run = a_stored_run(nasty, nasty, tool=nasty, sweep_id=nasty, configuration=a_configuration(engine=nasty))
    with closing(LakeWriter(place)) as writer, closing(LakeReader(place)) as reader:
        stored(writer, an_upload(run, request_id=nasty, actor=nasty))
        chosen = RunFilter(tool=nasty, sweep_id=nasty, configuration=a_configuration(engine=nasty))
        snapshot = reader.wait_for(1, 10)
        assert snapshot.runs(nasty, chosen, Page(limit=5)).total_count == 1
        assert snapshot.run(nasty, run.run_id)[0].levels == run.levels
        assert writer.find_upload(nasty, request_id=nasty).runs[0][0] == run.run_id


def test_a_store_of_the_first_schema_opens_with_what_it_holds(place: EmbeddedPlace) -> None:
    connection = a_lake(place, version=1)
    connection.execute("INSERT INTO lake.commits VALUES ('default', 41, TIMESTAMPTZ '2026-01-01', 1, 0, 0, 0)")
    connection.close()
    with closing(LakeWriter(place)) as writer:
        assert writer.data_version == 41
        assert stored(writer, an_upload(a_stored_run(TEAM)))[0].data_version == 42


def test_a_migration_keeps_the_rows_and_runs_once(place: EmbeddedPlace) -> None:
    connection = a_lake(place)
    connection.execute("INSERT INTO lake.commits VALUES ('default', 7, TIMESTAMPTZ '2026-01-01', 1, 0, 0, 0)")
    later = Migration(
        version=SCHEMA_VERSION + 1,
        what="a column",
        statements=("ALTER TABLE lake.commits ADD COLUMN extra BIGINT DEFAULT 5",),
    )
    now = datetime(2026, 2, 1, tzinfo=UTC)
    assert migrate(connection, now=now, migrations=(*MIGRATIONS, later)) == 1
    assert migrate(connection, now=now, migrations=(*MIGRATIONS, later)) == 0
    assert connection.execute("SELECT data_version, extra FROM lake.commits").fetchall() == [(7, 5)]
    assert schema_version(connection) == SCHEMA_VERSION + 1


def test_a_migration_that_fails_leaves_the_schema_as_it_was(place: EmbeddedPlace) -> None:
    connection = a_lake(place)
    bad = Migration(
        version=SCHEMA_VERSION + 1,
        what="broken",
        statements=("ALTER TABLE lake.runs ADD COLUMN extra BIGINT", "NO SQL"),
    )
    with pytest.raises(Exception, match="syntax error"):
        migrate(connection, now=datetime(2026, 2, 1, tzinfo=UTC), migrations=(*MIGRATIONS, bad))
    assert schema_version(connection) == SCHEMA_VERSION
    assert "extra" not in {row[0] for row in connection.execute("DESCRIBE lake.runs").fetchall()}


def test_the_migrations_lead_to_the_schema(place: EmbeddedPlace) -> None:
    connection = a_lake(place)
    for name, schema in TABLES.items():
        assert connection.execute(f"SELECT * FROM lake.{name}").to_arrow_table().schema == schema  # noqa: S608 -- ours
    assert MIGRATIONS[-1].version == SCHEMA_VERSION
    assert [step.version for step in MIGRATIONS] == list(range(1, SCHEMA_VERSION + 1))


def test_a_store_of_a_later_release_is_refused(place: EmbeddedPlace) -> None:
    connection = a_lake(place)
    connection.execute("INSERT INTO lake.schema_migrations VALUES ('default', 999, TIMESTAMPTZ '2030-01-01', 'later')")
    connection.close()
    for opened in (LakeWriter, LakeReader):
        with pytest.raises(SchemaTooNew) as refused:
            opened(place)
        assert refused.value.context == {"found": "999", "known": str(SCHEMA_VERSION)}


def test_a_reader_stops_following_a_store_that_a_later_release_took_over(place: EmbeddedPlace) -> None:
    run = a_stored_run(TEAM)
    with closing(LakeWriter(place)) as writer:
        stored(writer, an_upload(run))
    with closing(LakeReader(place, poll_s=NEVER_S)) as reader:
        connection = a_lake(place)
        connection.execute("INSERT INTO lake.commits VALUES ('default', 2, TIMESTAMPTZ '2030-01-01', 999, 0, 0, 0)")
        connection.close()
        assert isinstance(reader.refresh(), SchemaTooNew)
        assert stored_ids(reader.snapshot) == [run.run_id]


def test_an_ack_comes_after_data_files_and_folders_are_on_disk(
    place: EmbeddedPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[str] = set()
    real = os.fsync

    def watched(handle: int) -> None:
        real(handle)
        synced.add(str(Path(f"/proc/self/fd/{handle}").readlink()))

    with closing(LakeWriter(place)) as writer:
        monkeypatch.setattr(os, "fsync", watched)
        stored(writer, an_upload(a_stored_run(TEAM)))
        files = parquet_files(place)
    assert files
    assert {str(path) for path in files} <= synced
    assert {str(path.parent) for path in files} <= synced


def test_a_disk_that_fails_to_sync_is_never_acknowledged(place: EmbeddedPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_stored_run(TEAM)

    def failing(handle: int) -> None:
        raise OSError(5, "Input/output error", str(handle))

    with closing(LakeWriter(place)) as writer, closing(LakeReader(place)) as reader:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", failing)
            with pytest.raises(StoreUnavailable, match="Input/output error"):
                writer.append([an_upload(run)])
        assert writer.data_version == 0
        (receipt,) = stored(writer, an_upload(run))
        assert (receipt.data_version, receipt.runs[0].already_stored) == (1, False)
        assert reader.wait_for(1, 10).run(TEAM, run.run_id)[0].levels == run.levels


def test_the_catalog_syncs_its_log_at_every_commit(place: EmbeddedPlace) -> None:
    with closing(a_lake(place)) as connection:
        mode = connection.execute(
            "SELECT * FROM sqlite_query('__ducklake_metadata_lake', 'SELECT synchronous FROM pragma_synchronous')"
        ).fetchall()
        journal = connection.execute(
            "SELECT * FROM sqlite_query('__ducklake_metadata_lake', 'SELECT journal_mode FROM pragma_journal_mode')"
        ).fetchall()
    assert mode == [("2",)]  # FULL
    assert journal == [("wal",)]


def test_housekeeping_merges_files_and_removes_old_ones(place: EmbeddedPlace) -> None:
    runs = [a_stored_run(TEAM, str(number)) for number in range(8)]
    with closing(LakeWriter(place, upkeep=AT_ONCE)) as writer, closing(LakeReader(place)) as reader:
        for run in runs:
            stored(writer, an_upload(run))
        before = len(parquet_files(place))
        writer.maintain()
        writer.maintain()
        assert before >= len(runs)
        assert len([path for path in parquet_files(place) if path.parent.name == "points"]) == 1
        stored(writer, an_upload(a_stored_run(TEAM, "more")))
        assert len(stored_ids(reader.wait_for(9, 10))) == 9
    with closing(LakeReader(place)) as reader:
        assert reader.snapshot.run(TEAM, runs[3].run_id)[0].levels == runs[3].levels


def test_housekeeping_removes_files_nothing_names_and_keeps_young_ones(place: EmbeddedPlace) -> None:
    with closing(LakeWriter(place)) as writer:
        stored(writer, an_upload(a_stored_run(TEAM)))
        (named,) = parquet_files(place)
        orphan = named.with_name("ducklake-00000000-0000-7000-8000-000000000000.parquet")
        orphan.write_bytes(named.read_bytes())
        writer.maintain()
        assert orphan.exists()
    with closing(LakeWriter(place, upkeep=AT_ONCE)) as writer:
        writer.maintain()
        assert not orphan.exists()


def test_a_busy_catalog_delays_a_commit_and_loses_nothing(place: EmbeddedPlace) -> None:
    holder = (
        "import sqlite3, sys, time\n"
        "held = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "held.execute('BEGIN IMMEDIATE')\n"
        "print('held', flush=True)\n"
        "time.sleep(1.5)\n"
        "held.execute('ROLLBACK')\n"
    )
    with closing(LakeWriter(place)) as writer:
        catalog = str(place.folder / "catalog.sqlite")
        with subprocess.Popen([sys.executable, "-c", holder, catalog], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            (receipt,) = stored(writer, an_upload(a_stored_run(TEAM)))
        assert receipt.data_version == 1


def test_many_uploads_are_one_commit(place: EmbeddedPlace) -> None:
    uploads = [an_upload(a_stored_run(TEAM, str(number))) for number in range(200)]
    with closing(LakeWriter(place)) as writer, closing(LakeReader(place)) as reader:
        receipts = stored(writer, *uploads)
        assert {receipt.data_version for receipt in receipts} == {1}
        snapshot = reader.wait_for(1, 20)
        assert [facts.run_count for facts in snapshot.configurations(TEAM)] == [200]
        assert len(parquet_files(place)) <= 5


def test_relabelling_keeps_the_time_of_the_first_ack(place: EmbeddedPlace) -> None:
    upload = an_upload(a_stored_run(TEAM))
    with closing(LakeWriter(place)) as writer:
        (first,) = stored(writer, labelled(upload, accelerator="h100"))
    with closing(LakeWriter(place)) as writer:
        new = labelled(upload, accelerator="h200")
        (second,) = stored(writer, replace(new, replace=True))
    with closing(LakeReader(place)) as reader:
        assert second.ingested_at == first.ingested_at
        assert reader.snapshot.run(TEAM, new.runs[0].run_id)[0].ingested_at == first.ingested_at


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnavailable, match="file"):
        open_writer(f"lake://{tmp_path}/file/store")


def test_a_catalog_that_is_no_catalog_is_refused(place: EmbeddedPlace) -> None:
    place.folder.mkdir()
    (place.folder / "catalog.sqlite").write_bytes(b"not a catalog at all, but long enough to be read as one")
    with pytest.raises(StoreUnavailable, match=r"catalog|database"):
        LakeWriter(place)


def test_a_user_can_query_the_store_in_plain_duckdb(place: EmbeddedPlace) -> None:
    with closing(LakeWriter(place)) as writer:
        stored(writer, an_upload(a_stored_run(TEAM)))
    connection = connect()
    connection.execute(f"ATTACH 'ducklake:sqlite:{place.folder}/catalog.sqlite' AS lake (READ_ONLY)")
    rows = connection.execute(
        "SELECT model, concurrency, requests_per_s FROM lake.points ORDER BY point_index"
    ).fetchall()
    assert rows == [("meta-llama/Llama-3.1-8B-Instruct", 1.0, 2.0), ("meta-llama/Llama-3.1-8B-Instruct", 4.0, 6.0)]


def test_the_query_in_the_docs_gives_the_curve_of_live_runs(place: EmbeddedPlace, root: Path) -> None:
    live, gone = a_stored_run(TEAM), a_stored_run(TEAM, "gone")
    with closing(LakeWriter(place)) as writer:
        stored(writer, an_upload(live), an_upload(gone))
        writer.retract(a_retraction([gone]))
    (block,) = re.findall(r"```sql\n(.*?)```", (root / "docs" / "store.md").read_text(), re.DOTALL)
    _, attached, query = (part.strip() for part in re.split(r"(?=ATTACH)|(?=-- The curve)", block))
    with closing(connect()) as connection:
        connection.execute(attached.replace("/srv/tonnage", str(place.folder)))
        rows = connection.execute(query).fetchall()
    assert [row[3] for row in rows] == [1.0, 4.0]


def test_the_docs_name_every_table_and_its_key(root: Path) -> None:
    page = (root / "docs" / "store.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(TABLES)

"""A backup is a whole store or none, and comes back as it was."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from builders_admin import (
    OTHER,
    RUN_COUNT,
    TEAM,
    a_kept_upload,
    change,
    data_file,
    flip,
    names_in,
    report_file,
)
from builders_store import rows_of, stored

from tonnage.errors import InvalidInput, SchemaTooNew, StoreDamaged, StoreLocked, StoreUnavailable
from tonnage.store.admin.backup import backup
from tonnage.store.admin.check import check
from tonnage.store.admin.manifest import read_manifest
from tonnage.store.admin.migrate import Migrated, bring_up
from tonnage.store.admin.restore import restore
from tonnage.store.base import Page, RunFilter
from tonnage.store.lake.connection import connect
from tonnage.store.lake.lock import WriterLock
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.replica import LakeReader
from tonnage.store.schema import SCHEMA_VERSION
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.domain.measurement import Run
    from tonnage.store.base import Retirement


@pytest.fixture(scope="session")
def made(filled: EmbeddedPlace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a backup that no test changes."""
    destination = tmp_path_factory.mktemp("backups") / "monday"
    backup(filled, destination)
    return destination


@pytest.fixture
def source(made: Path, tmp_path: Path) -> Path:
    """Return a backup of one's own."""
    shutil.copytree(made, tmp_path / "backup")
    return tmp_path / "backup"


@pytest.fixture
def target(tmp_path: Path) -> EmbeddedPlace:
    """Return where no store is yet."""
    return EmbeddedPlace(tmp_path / "restored")


def everything(place: EmbeddedPlace) -> list[tuple[Run, Retirement | None]]:
    """Return every run of a store with its levels."""
    with closing(LakeReader(place)) as reader:
        chosen = RunFilter(include_retired=True)
        return [
            reader.snapshot.run(namespace, run.run_id)
            for namespace in (TEAM, OTHER)
            for run, _ in rows_of(reader.snapshot.runs(namespace, chosen, Page(limit=100)))
        ]


def test_a_restored_store_is_the_store_that_was_backed_up(
    filled: EmbeddedPlace, made: Path, target: EmbeddedPlace
) -> None:
    restore(made, target)
    assert check(target).is_sound
    found = everything(target)
    assert found == everything(filled)
    assert [retired for _, retired in found].count("RETRACTED") == 1
    with closing(LakeWriter(target)) as writer:
        for run, _ in found:
            with writer.open_report(run.namespace, run.report_id) as report:
                assert report.read().startswith(b"raw report")
        (again,) = stored(writer, a_kept_upload(writer, "run 1"))
        assert (again.runs[0].already_stored, again.data_version) == (True, 1)
        assert stored(writer, a_kept_upload(writer, "after the restore"))[0].data_version == 5


def test_the_manifest_names_every_file_and_the_counts(made: Path) -> None:
    manifest = read_manifest(made)
    assert sorted(file.path for file in manifest.files) == [
        name for name in names_in(made) if name not in {"backup.json", "checksums.sha256"}
    ]
    assert (manifest.data_version, manifest.schema_version) == (4, SCHEMA_VERSION)
    assert manifest.counts[TEAM]["run_count"] == RUN_COUNT


def test_a_backup_of_a_store_that_is_written_holds_what_was_acknowledged(
    place: EmbeddedPlace, tmp_path: Path, target: EmbeddedPlace
) -> None:
    with closing(LakeWriter(place)) as writer:
        stored(writer, a_kept_upload(writer, "before"))
        assert backup(place, tmp_path / "live").data_version == 5
        stored(writer, a_kept_upload(writer, "after"))
    assert restore(tmp_path / "live", target).data_version == 5
    assert check(target).data_version == 5


def test_plain_duckdb_finds_the_data_of_a_restored_store(made: Path, target: EmbeddedPlace) -> None:
    restore(made, target)
    with closing(connect()) as connection:
        connection.execute(f"ATTACH 'ducklake:sqlite:{target.folder}/catalog.sqlite' AS lake (READ_ONLY)")
        found = connection.execute("SELECT count(DISTINCT run_id) FROM lake.points").fetchone()
    assert found == (RUN_COUNT + 1,)


@pytest.mark.parametrize("broken", ["data", "report", "missing"])
def test_a_damaged_store_is_not_backed_up_and_nothing_is_left(
    place: EmbeddedPlace, tmp_path: Path, broken: str
) -> None:
    path = data_file(place, "points") if broken == "data" else report_file(place)
    if broken == "missing":
        path.unlink()
    else:
        flip(path)
    with pytest.raises(StoreDamaged, match=path.name):
        backup(place, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_folder_with_something_in_it_is_never_backed_up_to(filled: EmbeddedPlace, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep me")
    for destination in (tmp_path, tmp_path / "mine"):
        with pytest.raises(InvalidInput, match=r"not empty|is a file") as refused:
            backup(filled, destination)
        assert refused.value.violations[0].path == "destination"
    assert names_in(tmp_path) == ["mine"]


def test_a_backup_inside_the_store_is_refused(filled: EmbeddedPlace) -> None:
    with pytest.raises(InvalidInput, match="inside the store"):
        backup(filled, filled.folder / "data" / "backup")


def test_a_store_is_never_restored_over(made: Path, place: EmbeddedPlace) -> None:
    before = names_in(place.folder)
    with pytest.raises(InvalidInput, match="not empty") as refused:
        restore(made, place)
    assert refused.value.violations[0].path == "store"
    assert names_in(place.folder) == before


def test_a_store_is_restored_to_an_empty_folder_that_is_there(made: Path, target: EmbeddedPlace) -> None:
    target.folder.mkdir()
    assert restore(made, target).data_version == 4


def test_a_writer_of_the_target_keeps_its_lock(made: Path, target: EmbeddedPlace) -> None:
    target.folder.mkdir()
    lock = WriterLock(target.folder / "writer.lock")
    with pytest.raises(StoreLocked):
        restore(made, target)
    with pytest.raises(StoreLocked):
        WriterLock(target.folder / "writer.lock")
    lock.release()


@pytest.mark.parametrize("name", ["catalog.sqlite", "data", "reports"])
def test_a_damaged_backup_is_refused_and_leaves_no_store(source: Path, target: EmbeddedPlace, name: str) -> None:
    path = source / next(file for file in names_in(source) if file.startswith(name))
    flip(path)
    with pytest.raises(StoreDamaged, match=path.name):
        restore(source, target)
    assert names_in(target.folder) == ["writer.lock"]
    flip(path)
    assert restore(source, target).data_version == 4


def test_a_backup_that_lacks_a_file_is_refused(source: Path, target: EmbeddedPlace) -> None:
    (source / next(file for file in names_in(source) if file.startswith("reports"))).unlink()
    with pytest.raises(StoreDamaged, match="is not there"):
        restore(source, target)


def test_rows_that_do_not_add_up_to_the_manifest_are_refused(source: Path, target: EmbeddedPlace) -> None:
    held = json.loads((source / "backup.json").read_text())
    held["counts"][TEAM]["point_count"] += 1
    (source / "backup.json").write_text(json.dumps(held))
    with pytest.raises(StoreDamaged, match="should hold"):
        restore(source, target)
    assert names_in(target.folder) == ["writer.lock"]


def test_an_unfinished_backup_is_refused(source: Path, target: EmbeddedPlace) -> None:
    (source / "backup.json").unlink()
    with pytest.raises(InvalidInput, match="no finished backup"):
        restore(source, target)
    assert not target.folder.exists()


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "data/../../outside"])
def test_a_manifest_that_leads_out_of_the_folder_is_refused(source: Path, target: EmbeddedPlace, path: str) -> None:
    held = json.loads((source / "backup.json").read_text())
    held["files"][1]["path"] = path
    (source / "backup.json").write_text(json.dumps(held))
    with pytest.raises(StoreDamaged, match="leads out"):
        restore(source, target)


def test_a_backup_of_a_later_release_is_refused(source: Path, target: EmbeddedPlace) -> None:
    held = json.loads((source / "backup.json").read_text())
    (source / "backup.json").write_text(json.dumps({**held, "schema_version": SCHEMA_VERSION + 1}))
    with pytest.raises(SchemaTooNew):
        restore(source, target)
    (source / "backup.json").write_text(json.dumps({**held, "layout": 99}))
    with pytest.raises(InvalidInput, match="layout 99"):
        restore(source, target)
    (source / "backup.json").write_text("half of {")
    with pytest.raises(StoreDamaged, match="cannot be read"):
        restore(source, target)


def test_a_store_of_an_earlier_release_is_backed_up_restored_and_brought_up(
    place: EmbeddedPlace, tmp_path: Path, target: EmbeddedPlace
) -> None:
    change(place, "DROP TABLE lake.plans", "DELETE FROM lake.schema_migrations WHERE version > 1")
    manifest = backup(place, tmp_path / "old")
    assert (manifest.schema_version, manifest.counts[TEAM]["plan_count"]) == (1, 0)
    restore(tmp_path / "old", target)
    assert bring_up(target) == Migrated(from_version=1, to_version=SCHEMA_VERSION)
    assert bring_up(target) == Migrated(from_version=SCHEMA_VERSION, to_version=SCHEMA_VERSION)
    assert replace(check(target), notes=()).is_sound


def test_a_store_that_is_up_to_date_is_migrated_beside_its_writer(place: EmbeddedPlace, tmp_path: Path) -> None:
    with closing(LakeWriter(place)):
        assert bring_up(place).from_version == SCHEMA_VERSION
    with pytest.raises(StoreUnavailable):
        bring_up(EmbeddedPlace(tmp_path / "nowhere"))
    assert not (tmp_path / "nowhere").exists()

"""What a check finds, and what it leaves in peace."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from builders_admin import (
    LEVEL_COUNT,
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
from builders_store import stored

from tonnage.errors import StoreDamaged, StoreUnavailable
from tonnage.store.admin.check import check
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.store.admin.check import CheckReport


def codes(found: CheckReport) -> set[str]:
    return {damage.code for damage in found.damages}


def test_a_sound_store_is_sound_and_left_as_it_was(filled: EmbeddedPlace) -> None:
    before = names_in(filled.folder)
    found = check(filled)
    assert (found.is_sound, found.damages, found.notes) == (True, (), ())
    assert (found.report_count, found.data_version) == (RUN_COUNT + 1, 4)
    assert found.counts is not None
    assert {name: (held["run_count"], held["point_count"]) for name, held in found.counts.items()} == {
        TEAM: (RUN_COUNT, RUN_COUNT * LEVEL_COUNT),
        OTHER: (1, LEVEL_COUNT),
    }
    assert names_in(filled.folder) == before


def test_a_store_is_checked_while_it_is_written(place: EmbeddedPlace) -> None:
    with closing(LakeWriter(place)) as writer:
        stored(writer, a_kept_upload(writer, "newer"))
        found = check(place)
        stored(writer, a_kept_upload(writer, "newest"))
    assert found.is_sound
    assert found.data_version == 5


@pytest.mark.parametrize("position", [4, 100, -200])
def test_one_bit_of_a_data_file_is_found(place: EmbeddedPlace, position: int) -> None:
    path = data_file(place, "points")
    flip(path, position)
    found = check(place)
    (damage,) = found.damages
    assert (damage.code, damage.path) == ("DATA_FILE_DAMAGED", path.relative_to(place.folder).as_posix())
    assert "backup" in damage.cure
    assert [note.code for note in found.notes] == ["ROWS_NOT_CHECKED"]


def test_one_bit_of_a_raw_report_is_found(place: EmbeddedPlace) -> None:
    path = report_file(place)
    flip(path)
    (damage,) = check(place).damages
    assert (damage.code, damage.path) == ("REPORT_DAMAGED", path.relative_to(place.folder).as_posix())


def test_a_damaged_report_is_mended_as_the_cure_says(place: EmbeddedPlace) -> None:
    flip(report_file(place))
    report_file(place).unlink()
    assert codes(check(place)) == {"REPORT_MISSING"}
    with closing(LakeWriter(place)) as writer:
        for number in range(RUN_COUNT):
            a_kept_upload(writer, f"run {number}")
        a_kept_upload(writer, "theirs", OTHER)
    assert check(place).is_sound


def test_a_missing_data_file_is_found(place: EmbeddedPlace) -> None:
    data_file(place, "points").unlink()
    assert codes(check(place)) == {"DATA_FILE_MISSING"}


def test_a_file_that_was_cut_is_found_without_a_checksum_too(place: EmbeddedPlace) -> None:
    (place.folder / "checksums.sha256").unlink()
    path = data_file(place, "points")
    path.write_bytes(path.read_bytes()[:-1])
    (damage,) = check(place).damages
    assert "bytes, and was written with" in damage.problem


def test_a_file_without_a_checksum_is_read_whole_and_told_of(place: EmbeddedPlace) -> None:
    (place.folder / "checksums.sha256").unlink()
    found = check(place)
    assert found.is_sound
    (note,) = found.notes
    assert (note.code, note.count) == ("FILE_WITHOUT_CHECKSUM", found.data_file_count)
    flip(data_file(place, "points"), -6)  # the length of the footer
    (damage,) = check(place).damages
    assert "cannot be read" in damage.problem


def test_files_nobody_names_are_notes(place: EmbeddedPlace) -> None:
    lost = data_file(place, "points").with_name("ducklake-lost.parquet")
    lost.write_bytes(b"half of a file")
    (place.folder / "reports" / "ab").mkdir(exist_ok=True)
    (place.folder / "reports" / "ab" / ".half").write_bytes(b"half")
    found = check(place)
    assert found.is_sound
    assert {note.code: note.paths for note in found.notes} == {
        "FILE_UNNAMED": ("data/main/points/ducklake-lost.parquet",),
        "REPORT_UNNAMED": ("reports/ab/.half",),
    }


def test_rows_that_contradict_each_other_are_damage(place: EmbeddedPlace) -> None:
    change(place, "INSERT INTO lake.points SELECT * FROM lake.points LIMIT 1")
    found = check(place)
    assert {"POINT_TWICE", "POINTS_MISSING", "COMMIT_UNLIKE_ITS_ROWS"} == codes(found)
    assert all(damage.cure and damage.problem for damage in found.damages)


def test_a_damaged_catalog_is_named(place: EmbeddedPlace) -> None:
    catalog = place.folder / "catalog.sqlite"
    data = bytearray(catalog.read_bytes())
    data[4096 * 5 : 4096 * 9] = os.urandom(4096 * 4)
    catalog.write_bytes(bytes(data))
    with pytest.raises(StoreDamaged, match=r"catalog\.sqlite"):
        check(place)


def test_no_store_is_told_apart_from_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no store"):
        check(EmbeddedPlace(tmp_path / "nowhere"))
    (tmp_path / "catalog.sqlite").write_bytes(b"this is no catalog, though it is long enough to be one" * 100)
    with pytest.raises(StoreDamaged, match="not a database"):
        check(EmbeddedPlace(tmp_path))


def test_a_log_that_a_killed_writer_left_is_read(place: EmbeddedPlace) -> None:
    """The newest rows may stand in the log alone."""
    log = place.folder / "catalog.sqlite-wal"
    with closing(LakeWriter(place)) as writer:
        stored(writer, a_kept_upload(writer, "in the log"))
        assert log.stat().st_size > 0
        left = EmbeddedPlace(place.folder.with_name("left"))
        _copy_as_a_kill_leaves_it(place, left)
    assert check(left).data_version == 5


def _copy_as_a_kill_leaves_it(place: EmbeddedPlace, left: EmbeddedPlace) -> None:
    for name in names_in(place.folder):
        if not name.endswith("-shm"):
            (left.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (left.folder / name).write_bytes((place.folder / name).read_bytes())


def test_the_copy_of_a_catalog_is_what_sqlite_wrote(filled: EmbeddedPlace, tmp_path: Path) -> None:
    from tonnage.store.admin.frozen import frozen  # noqa: PLC0415 -- this test alone looks inside

    with frozen(filled) as store:
        copy = tmp_path / "copy.sqlite"
        copy.write_bytes(store.catalog.read_bytes())
    with closing(sqlite3.connect(copy)) as found:
        assert found.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert found.execute("SELECT count(*) FROM ducklake_snapshot").fetchone()[0] > 4

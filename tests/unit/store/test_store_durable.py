"""Files and folders that survive a power cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tonnage.store.durable import NewFiles, make_folder, replacing

if TYPE_CHECKING:
    from pathlib import Path


def test_folders_are_made_with_their_parents_and_again_is_free(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_replaced_file_appears_whole(tmp_path: Path) -> None:
    with replacing(tmp_path / "final", tmp_path / "temporary"):
        (tmp_path / "temporary").write_text("whole")
        assert not (tmp_path / "final").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["final"]


def test_a_body_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with replacing(tmp_path / "final", tmp_path / "temporary"):
            (tmp_path / "temporary").write_text("half")
            raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="disk"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_only_new_data_files_are_synced(tmp_path: Path) -> None:
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / "old.parquet").touch()
    files = NewFiles(tmp_path)
    assert files.sync() == 0
    (tmp_path / "main" / "new.parquet").touch()
    (tmp_path / "main" / "other.txt").touch()
    assert files.sync() == 1
    assert files.sync() == 0


def test_a_file_that_was_removed_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    path.touch()
    files = NewFiles(tmp_path)
    path.unlink()
    assert files.sync() == 0
    path.touch()
    assert files.sync() == 1

"""Digests of data files."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from builders_admin import flip

from tonnage.store.checksums import Checksums

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return some files of a store, one with a name that holds blanks."""
    folder = tmp_path / "data" / "main"
    folder.mkdir(parents=True)
    paths = [folder / "one.parquet", folder / "two words.parquet"]
    for path in paths:
        path.write_bytes(path.name.encode() * 1000)
    return paths


def test_each_file_has_the_digest_of_its_bytes(tmp_path: Path, files: list[Path]) -> None:
    Checksums(tmp_path).add(files)
    assert Checksums(tmp_path).known() == {
        path.relative_to(tmp_path).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_sha256sum_reads_it(tmp_path: Path, files: list[Path]) -> None:
    Checksums(tmp_path).add(files)
    command = ["sha256sum", "--check", "--strict", "checksums.sha256"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    flip(files[0])
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_no_file_knows_nothing(tmp_path: Path) -> None:
    assert Checksums(tmp_path).known() == {}


@pytest.mark.parametrize("cut", [1, 30, 64, 70])
def test_half_a_line_counts_for_nothing_and_the_next_one_is_whole(tmp_path: Path, files: list[Path], cut: int) -> None:
    sums = Checksums(tmp_path)
    sums.add(files[:1])
    whole = (tmp_path / "checksums.sha256").read_bytes()
    (tmp_path / "checksums.sha256").write_bytes(whole + whole[:cut])
    assert set(sums.known()) == {"data/main/one.parquet"}
    sums.add(files[1:])
    assert set(sums.known()) == {"data/main/one.parquet", "data/main/two words.parquet"}
    assert len((tmp_path / "checksums.sha256").read_bytes().splitlines()) == 2


def test_removed_files_are_forgotten(tmp_path: Path, files: list[Path]) -> None:
    sums = Checksums(tmp_path)
    sums.add(files)
    files[0].unlink()
    sums.forget_removed()
    assert set(sums.known()) == {"data/main/two words.parquet"}
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["checksums.sha256"]


def test_changed_and_missing_files_are_damaged_and_unnoted_ones_not_judged(tmp_path: Path, files: list[Path]) -> None:
    other = files[0].with_name("unnoted.parquet")
    other.write_bytes(b"no digest was taken")
    sums = Checksums(tmp_path)
    sums.add(files)
    assert sums.damaged([*files, other]) == []
    flip(files[0])
    files[1].unlink()
    assert sums.damaged([*files, other]) == files

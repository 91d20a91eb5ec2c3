"""Raw reports on disk."""

from __future__ import annotations

import hashlib
import io
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from tonnage.errors import InvalidInput, NotStored, StoreDamaged
from tonnage.store.reports import ReportFiles

if TYPE_CHECKING:
    from pathlib import Path

DATA = bytes(range(256)) * 9000
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def reports(tmp_path: Path) -> ReportFiles:
    return ReportFiles(tmp_path)


def kept_file(folder: Path) -> Path:
    return folder / DIGEST[:2] / f"{DIGEST}.zst"


def test_a_report_is_kept_compressed_under_its_digest(tmp_path: Path, reports: ReportFiles) -> None:
    reports.keep(DIGEST, io.BytesIO(DATA))
    assert 0 < kept_file(tmp_path).stat().st_size < len(DATA) / 10
    with reports.open(DIGEST) as found:
        assert found.read() == DATA


def test_a_report_is_read_in_pieces_too(reports: ReportFiles) -> None:
    reports.keep(DIGEST, io.BytesIO(DATA))
    with reports.open(DIGEST) as found:
        assert b"".join(iter(lambda: found.read(1000), b"")) == DATA


def test_a_report_that_is_there_is_not_read_again(reports: ReportFiles) -> None:
    reports.keep(DIGEST, io.BytesIO(DATA))
    again = io.BytesIO(DATA)
    reports.keep(DIGEST, again)
    assert again.tell() == 0


def test_other_bytes_leave_nothing_behind(tmp_path: Path, reports: ReportFiles) -> None:
    with pytest.raises(InvalidInput):
        reports.keep(DIGEST, io.BytesIO(DATA + b"x"))
    assert list((tmp_path / DIGEST[:2]).iterdir()) == []


@pytest.mark.parametrize("name", ["", "abc", "../../../etc/passwd", DIGEST.upper(), DIGEST + "0", "a/" + DIGEST[2:]])
def test_what_is_no_digest_is_refused(reports: ReportFiles, name: str) -> None:
    for call in (lambda: reports.keep(name, io.BytesIO(b"")), lambda: reports.open(name)):
        with pytest.raises(InvalidInput):
            call()


def test_an_unknown_report_is_not_stored(reports: ReportFiles) -> None:
    with pytest.raises(NotStored):
        reports.open(DIGEST)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def swap(path: Path) -> None:
    other = ReportFiles(path.parent)
    other.keep(hashlib.sha256(b"other").hexdigest(), io.BytesIO(b"other"))
    next(path.parent.glob("*/*.zst")).rename(path)


def clear(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [flip, cut, swap, clear])
def test_damaged_bytes_are_noticed_while_reading(tmp_path: Path, reports: ReportFiles, damage: object) -> None:
    reports.keep(DIGEST, io.BytesIO(DATA))
    assert callable(damage)
    damage(kept_file(tmp_path))
    with pytest.raises(StoreDamaged) as refused, reports.open(DIGEST) as found:
        found.read()
    assert refused.value.context["report_id"] == DIGEST


def test_what_a_killed_writer_left_is_swept(tmp_path: Path, reports: ReportFiles) -> None:
    reports.keep(DIGEST, io.BytesIO(DATA))
    (tmp_path / DIGEST[:2] / f".{DIGEST}.1234").write_bytes(b"half")
    assert reports.sweep() == 1
    assert list((tmp_path / DIGEST[:2]).iterdir()) == [kept_file(tmp_path)]


class _Zeros(io.RawIOBase):
    """Bytes that nobody holds in memory."""

    def __init__(self, size: int) -> None:
        self._left = size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        given = min(size, self._left)
        self._left -= given
        return bytes(given)


def test_a_large_report_is_kept_in_bounded_memory(reports: ReportFiles) -> None:
    size = 64 << 20
    digest = hashlib.sha256(bytes(size)).hexdigest()
    tracemalloc.start()
    reports.keep(digest, _Zeros(size))  # type: ignore[arg-type]  # a raw stream reads like a file
    with reports.open(digest) as found:
        while found.read(1 << 20):
            pass
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 16 << 20

"""Uploads in flight stand on disk, whole or not at all."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

import pytest

from tonnage.errors import InvalidInput, StoreUnavailable, TooLarge
from tonnage.ingest.spool import FLUSH_BYTES, Spool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


async def sent(*chunks: bytes, fault: BaseException | None = None) -> AsyncIterator[bytes]:
    """Send chunks, and then a fault if one is given."""
    for chunk in chunks:
        yield chunk
    if fault is not None:
        raise fault


def spool_in(folder: Path, max_bytes: int = 4 * FLUSH_BYTES) -> Spool:
    """Return a clean spool."""
    spool = Spool(folder, max_bytes)
    spool.clean()
    return spool


def receive(spool: Spool, chunks: AsyncIterator[bytes], stated: int | None = None) -> tuple[bytes, int, str]:
    """Receive an upload; return the bytes as the reader sees them, their size and digest."""

    async def received() -> tuple[bytes, int, str]:
        async with spool.received(chunks, stated) as spooled:
            with spooled.open() as file:
                return file.read(), spooled.size_bytes, spooled.report_id

    return asyncio.run(received())


@pytest.mark.parametrize("sizes", [[], [1], [0, 5, 0], [FLUSH_BYTES - 1, 1, 1], [FLUSH_BYTES, FLUSH_BYTES, 7]])
def test_what_was_sent_is_what_is_read(tmp_path: Path, sizes: list[int]) -> None:
    chunks = [bytes([number]) * size for number, size in enumerate(sizes)]
    whole = b"".join(chunks)
    assert receive(spool_in(tmp_path), sent(*chunks)) == (whole, len(whole), hashlib.sha256(whole).hexdigest())


def test_nothing_is_left_afterwards(tmp_path: Path) -> None:
    receive(spool_in(tmp_path), sent(b"abc"))
    assert list(tmp_path.iterdir()) == []


def test_a_stream_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(asyncio.CancelledError):
        receive(spool_in(tmp_path), sent(b"abc", fault=asyncio.CancelledError()))
    assert list(tmp_path.iterdir()) == []


def test_a_stream_that_is_cancelled_as_it_ends_is_not_lent(tmp_path: Path) -> None:
    async def life() -> bool:
        is_lent = False
        ended = asyncio.Event()

        async def ending() -> AsyncIterator[bytes]:
            yield b"half"
            ended.set()

        async def upload() -> None:
            nonlocal is_lent
            async with spool_in(tmp_path).received(ending(), None):
                is_lent = True

        task = asyncio.create_task(upload())
        await ended.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return is_lent

    assert asyncio.run(life()) is False


def test_more_than_the_limit_is_refused_while_it_comes(tmp_path: Path) -> None:
    with pytest.raises(TooLarge) as caught:
        receive(spool_in(tmp_path, max_bytes=10), sent(b"123456", b"123456", b"never read" * 100))
    assert caught.value.context == {"size_bytes": "12", "limit_bytes": "10"}
    assert list(tmp_path.iterdir()) == []


def test_the_limit_itself_is_taken(tmp_path: Path) -> None:
    assert receive(spool_in(tmp_path, max_bytes=10), sent(b"1234567890"))[1] == 10


def test_a_size_stated_above_the_limit_is_refused_before_a_byte(tmp_path: Path) -> None:
    with pytest.raises(TooLarge):
        spool_in(tmp_path, max_bytes=10).refuse_size(11)


@pytest.mark.parametrize("stated", [2, 4])
def test_fewer_or_more_bytes_than_stated_are_refused(tmp_path: Path, stated: int) -> None:
    with pytest.raises(InvalidInput, match=r"metadata\.size_bytes"):
        receive(spool_in(tmp_path), sent(b"abc"), stated)


def test_a_restart_removes_what_a_killed_process_left_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "upload-abc").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")
    assert Spool(tmp_path, 10).clean() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="spool_dir"):
        Spool(tmp_path / "file" / "spool", 10).clean()


def test_a_folder_that_went_away_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be kept"):
        receive(Spool(tmp_path / "gone", 10), sent(b"abc"))

"""Uploads on their way in: bytes on disk, counted and digested, gone afterwards whatever happens."""

from __future__ import annotations

import asyncio
import hashlib
import io
import tempfile
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Final, cast

from tonnage.errors import DeadlineExceeded, InvalidInput, StoreUnavailable, TooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FLUSH_BYTES: Final = 1 << 20
_PIECE_BYTES: Final = 1 << 16
_PREFIX: Final = "upload-"
# A lost connection ends the stream like a finished one; its cancellation follows within the loop's next turns.
_SETTLE_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Spooled:
    """A whole upload on disk; ``report_id`` is the SHA-256 of its bytes, lower-case hex.

    ``abandoned`` is set when its caller is gone: a thread that still reads it is stopped at its next piece.
    """

    path: Path
    size_bytes: int
    report_id: str
    abandoned: threading.Event = field(default_factory=threading.Event, compare=False)

    def open(self) -> BinaryIO:
        """Return the bytes from the start; reading raises ``DeadlineExceeded`` once the caller is gone."""
        return cast("BinaryIO", io.BufferedReader(_WhileWanted(self.path, self.abandoned), _PIECE_BYTES))


class _WhileWanted(io.FileIO):
    """A file that ends with an error when nobody waits for what is read of it."""

    def __init__(self, path: Path, abandoned: threading.Event) -> None:
        super().__init__(path, "rb")
        self._abandoned = abandoned

    def readinto(self, buffer: bytearray | memoryview) -> int | None:  # type: ignore[override]  # typeshed names no buffer type
        if self._abandoned.is_set():
            raise DeadlineExceeded("the caller is gone; the file is read no further")
        return super().readinto(buffer)

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self.read(_PIECE_BYTES) or b"", b""))


class Spool:
    """A folder for uploads in flight."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._folder = folder

    def clean(self) -> int:
        """Create the folder, remove what a killed process left in it, and return how many files that were."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            left = list(self._folder.glob(f"{_PREFIX}*"))
            for path in left:
                path.unlink()
        except OSError as error:
            raise _no_room(self._folder, error) from error
        return len(left)

    def refuse_size(self, stated_bytes: int | None) -> None:
        """Raise ``TooLarge`` when the size stated beforehand is above the limit."""
        if stated_bytes is not None and stated_bytes > self.max_bytes:
            raise self._too_large(stated_bytes)

    @asynccontextmanager
    async def received(self, chunks: AsyncIterator[bytes], stated_bytes: int | None) -> AsyncIterator[Spooled]:
        """Take all chunks to disk and lend the file; memory stays near one flush.

        Raises ``TooLarge``, ``InvalidInput`` when the bytes are not as many as stated, and
        ``StoreUnavailable`` when the disk is full.
        """
        path: Path | None = None
        abandoned = threading.Event()
        try:
            try:
                with tempfile.NamedTemporaryFile(dir=self._folder, prefix=_PREFIX, delete=False) as file:
                    path = Path(file.name)
                    digest, size_bytes = await self._taken(file, chunks)
            except OSError as error:
                raise _no_room(self._folder, error) from error
            await _check_whole(size_bytes, stated_bytes)
            yield Spooled(path, size_bytes, digest, abandoned)
        finally:
            abandoned.set()
            if path is not None:
                path.unlink(missing_ok=True)

    async def _taken(self, file: IO[bytes], chunks: AsyncIterator[bytes]) -> tuple[str, int]:
        digest = hashlib.sha256()
        size_bytes = 0
        waiting = bytearray()

        def flush() -> None:
            digest.update(waiting)
            file.write(waiting)
            waiting.clear()

        async for chunk in chunks:
            size_bytes += len(chunk)
            if size_bytes > self.max_bytes:
                raise self._too_large(size_bytes)
            waiting += chunk
            if len(waiting) >= FLUSH_BYTES:
                await asyncio.to_thread(flush)
        flush()
        file.flush()
        return digest.hexdigest(), size_bytes

    def _too_large(self, size_bytes: int) -> TooLarge:
        return TooLarge(
            f"the upload has at least {size_bytes} bytes, the server takes {self.max_bytes}; "
            "send the tool's summary instead of its per-request records, or split it",
            size_bytes=size_bytes,
            limit_bytes=self.max_bytes,
        )


async def _check_whole(size_bytes: int, stated_bytes: int | None) -> None:
    if stated_bytes is None:
        await settle()
    elif size_bytes != stated_bytes:
        cure = "send the whole file, or leave size_bytes out"
        raise InvalidInput.field("metadata.size_bytes", stated_bytes, f"is not the {size_bytes} bytes that came", cure)


async def settle() -> None:
    """Wait until a stream that broke has been cancelled, so that only a finished one goes on."""
    await asyncio.sleep(_SETTLE_S)


def _no_room(folder: Path, error: OSError) -> StoreUnavailable:
    text = f"the upload cannot be kept in {folder}: {error.strerror}; free some room or set spool_dir"
    return StoreUnavailable(text, path=folder, detail=error.strerror or "")

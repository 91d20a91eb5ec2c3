"""Raw reports kept by digest, compressed; written and read as streams."""

from __future__ import annotations

import hashlib
import io
import os
import re
import uuid
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import pyarrow as pa

from tonnage.errors import InvalidInput, NotStored, StoreDamaged
from tonnage.store.durable import make_folder, replacing, sync

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK_BYTES: Final = 1 << 20
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class ReportFiles:
    """A folder of reports, each in ``<first two digits>/<digest>.zst``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, report_id: str, data: BinaryIO) -> None:
        """Keep the bytes of ``data`` durably; raise ``InvalidInput`` when they have another digest."""
        path = self._path(report_id)
        if path.exists():
            # Whoever renamed it may not have synced the folder yet.
            sync(path.parent)
            return
        make_folder(path.parent)
        temporary = path.with_name(f".{report_id}.{uuid.uuid4().hex}")
        with replacing(path, temporary):
            found = compress(data, temporary)
            if found != report_id:
                cure = "give the SHA-256 of the bytes"
                raise InvalidInput.field("report_id", report_id, f"is not the digest of the bytes ({found})", cure)

    def open(self, report_id: str) -> BinaryIO:
        """Return the bytes; raise ``NotStored``, and ``StoreDamaged`` while reading when they do not match."""
        path = self._path(report_id)
        try:
            file = path.open("rb")
        except FileNotFoundError as error:
            raise NotStored(f"no raw report {report_id}", report_id=report_id) from error
        return checked(file, report_id)

    def sweep(self) -> int:
        """Remove what writers that were killed left half written, and return how many files."""
        left = list(self._folder.glob("*/.*"))
        for path in left:
            path.unlink()
        return len(left)

    def _path(self, report_id: str) -> Path:
        return self._folder / checked_digest(report_id)[:2] / f"{report_id}.zst"


def checked_digest(report_id: str) -> str:
    """Return a report's id; raise ``InvalidInput`` when it is no digest."""
    if _DIGEST.fullmatch(report_id) is None:
        raise InvalidInput.field("report_id", report_id, "is not a SHA-256 digest", "give 64 lower-case hex digits")
    return report_id


def checked(file: BinaryIO, report_id: str) -> BinaryIO:
    """Return what a compressed file holds; reading raises ``StoreDamaged`` when it does not match the digest."""
    return cast("BinaryIO", io.BufferedReader(_Checked(file, report_id), _CHUNK_BYTES))


def compress(data: BinaryIO, path: Path) -> str:
    """Write ``data`` compressed to a new file and return the digest of its bytes; raises ``OSError``."""
    digest = hashlib.sha256()
    with path.open("xb") as file, pa.CompressedOutputStream(file, "zstd") as compressed:
        while chunk := data.read(_CHUNK_BYTES):
            digest.update(chunk)
            compressed.write(chunk)
    return digest.hexdigest()


class _Checked(io.RawIOBase):
    """Decompressed bytes of one report, checked at their end."""

    def __init__(self, file: BinaryIO, report_id: str) -> None:
        super().__init__()
        self._file = file
        self._report_id = report_id
        self._digest = hashlib.sha256()
        self._stream = pa.CompressedInputStream(file, "zstd") if os.fstat(file.fileno()).st_size else None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # the stub's type is private
        try:
            chunk = b"" if self._stream is None else self._stream.read(len(buffer))
        except OSError as error:
            raise self._damaged(str(error)) from error
        self._digest.update(chunk)
        if not chunk and self._digest.hexdigest() != self._report_id:
            raise self._damaged(f"digest {self._digest.hexdigest()}")
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _damaged(self, what: str) -> StoreDamaged:
        return StoreDamaged(
            f"the raw report {self._report_id} does not match its digest ({what}); restore it from a backup",
            report_id=self._report_id,
        )

"""Digests of the data files, taken when they are written: Parquet as DuckDB writes it holds no checksum of its own."""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING, BinaryIO, Final

from tonnage.store.durable import replacing, sync

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

NAME: Final = "checksums.sha256"
_LINE: Final = re.compile(r"([0-9a-f]{64})  (.+)")
_TAIL_BYTES: Final = 1 << 16


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; raises ``OSError``."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Checksums:
    """The file ``checksums.sha256`` of a store: a line a data file, as ``sha256sum -c`` reads them in that folder.

    The writer appends; anybody may read meanwhile. A line that a killed writer left half written counts for nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / NAME

    def known(self) -> dict[str, str]:
        """Return the digest of each file by its path below the store's folder; the newest line of a file holds."""
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return {}
        whole, _, _ = text.rpartition("\n")
        found = (_LINE.fullmatch(line) for line in whole.split("\n"))
        return {line.group(2): line.group(1) for line in found if line is not None}

    def add(self, paths: Iterable[Path]) -> None:
        """Note files that were just written, durably; raises ``OSError``, and may then have noted some."""
        self.note({self.name(path): digest_of(path) for path in paths})

    def note(self, digests: Mapping[str, str]) -> None:
        """Append digests that are known already, durably; raises ``OSError``."""
        is_new = not self._path.exists()
        with self._path.open("a+b") as file:
            _drop_half_a_line(file)
            file.write(_lines(digests))
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            sync(self._folder)

    def forget_removed(self) -> None:
        """Drop the lines of files that are gone; raises ``OSError``."""
        known = self.known()
        kept = {name: digest for name, digest in known.items() if (self._folder / name).exists()}
        if len(kept) == len(known):
            return
        temporary = self._path.with_name(f".{NAME}")
        with replacing(self._path, temporary):
            temporary.write_bytes(_lines(kept))

    def damaged(self, paths: Iterable[Path]) -> list[Path]:
        """Return the files that are gone or not as they were written; one without a noted digest is not judged."""
        known = self.known()
        noted = [(path, known[name]) for path in paths if (name := self.name(path)) in known]
        return [path for path, digest in noted if not path.is_file() or digest_of(path) != digest]

    def name(self, path: Path) -> str:
        """Return how a file of the store is called here."""
        return path.relative_to(self._folder).as_posix()


def _lines(digests: Mapping[str, str]) -> bytes:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode()


def _drop_half_a_line(file: BinaryIO) -> None:
    """Cut what stands behind the last line's end."""
    end = file.seek(0, os.SEEK_END)
    start = file.seek(max(0, end - _TAIL_BYTES))
    tail = file.read()
    if tail and not tail.endswith(b"\n"):
        file.truncate(start + tail.rfind(b"\n") + 1)

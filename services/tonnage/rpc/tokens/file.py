"""A token file followed by a running server, and written whole by the command."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput, TonnageError
from tonnage.rpc.tokens.book import TokenBook, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from tonnage.access import Identity
    from tonnage.rpc.logs import Log

_LOOK_S: Final = 1.0
_MODE: Final = 0o600


class TokenFile:
    """Answers from memory; looks at most once a second whether the file has changed.

    A changed file that cannot be used is told in the log and changes nothing until it is whole again.
    """

    def __init__(self, path: Path, log: Log, now: Callable[[], datetime] = utc_now, look_s: float = _LOOK_S) -> None:
        self._path = path
        self._log = log
        self._now = now
        self._look_s = look_s
        self._stamp = _stamp(path)
        self._book = TokenBook.from_file(path)
        self._looked_s = time.monotonic()

    def identity(self, secret: str) -> Identity | None:
        """Return whose secret it is, or None; raise ``Unauthenticated`` when it opens nothing any more."""
        moment_s = time.monotonic()
        if moment_s - self._looked_s >= self._look_s:
            self._looked_s = moment_s
            self._look()
        return self._book.identity(secret, self._now())

    def _look(self) -> None:
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._book = TokenBook.from_file(self._path)
        except TonnageError as error:
            self._log.error("token file cannot be used, the tokens read before still hold", detail=error.message)
        else:
            self._log.info("token file read", token_count=len(self._book.tokens))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def changing(path: Path) -> Iterator[Callable[[TokenBook], None]]:
    """Hold the file alone; what is called with a book replaces it whole, readable by its owner only."""
    lock = path.with_name(path.name + ".lock")
    try:
        held = os.open(lock, os.O_CREAT | os.O_RDWR, _MODE)
    except OSError as error:
        cure = "name a file in a folder you may write"
        raise InvalidInput.field("tokens_file", str(path), f"cannot be written: {error.strerror}", cure) from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield lambda book: _write(path, book)
    finally:
        os.close(held)


def _write(path: Path, book: TokenBook) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    number = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, _MODE)
    with os.fdopen(number, "wb") as file:
        file.write(book.to_json())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)

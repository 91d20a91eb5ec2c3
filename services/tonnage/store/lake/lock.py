"""The lock that makes one process the writer; the kernel releases it when the process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from tonnage.errors import StoreLocked

if TYPE_CHECKING:
    from pathlib import Path


class WriterLock:
    """An exclusive lock on a file that names its holder."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = _holder(self._file)
            os.close(self._file)
            raise StoreLocked(
                f"{path} is held by process {holder}: another process writes this store; stop it, or use it",
                path=path,
                holder=holder,
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let another process write."""
        os.close(self._file)


def _holder(file: int) -> str:
    return os.pread(file, 32, 0).decode(errors="replace").strip() or "unknown"

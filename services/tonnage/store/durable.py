"""Files and folders that survive a power cut: written, synced, renamed, and the folder synced too."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def sync(path: Path) -> None:
    """Make a file or a folder durable."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, each durable in the one above."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


@contextmanager
def replacing(path: Path, temporary: Path) -> Iterator[None]:
    """Rename ``temporary``, which the body writes, to ``path`` durably; remove it when the body fails."""
    try:
        yield
        sync(temporary)
        temporary.rename(path)
        sync(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class NewFiles:
    """Data files under a folder that were not there at the last call; ``note`` is told of those that are new."""

    def __init__(self, folder: Path, note: Callable[[Iterable[Path]], None] | None = None) -> None:
        self._folder = folder
        self._note = note
        self._known = self._files()

    def sync(self) -> int:
        """Make files that are new since the last call durable, with the folders above them, and return how many."""
        current = self._files()
        new = current - self._known
        for path in sorted(new):
            sync(path)
        for folder in sorted({above for path in new for above in self._above(path)}):
            sync(folder)
        if new and self._note is not None:
            self._note(new)
        self._known = current
        return len(new)

    def _files(self) -> set[Path]:
        return {
            Path(folder, name)
            for folder, _, names in os.walk(self._folder)
            for name in names
            if name.endswith(".parquet")
        }

    def _above(self, path: Path) -> list[Path]:
        return [folder for folder in path.parents if folder.is_relative_to(self._folder)]

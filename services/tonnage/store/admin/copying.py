"""Copying files durably, their digest taken on the way."""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput
from tonnage.store.admin.manifest import BackedUpFile
from tonnage.store.durable import make_folder, sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHUNK_BYTES: Final = 1 << 20


def copy_file(source: Path, folder: Path, name: str) -> BackedUpFile:
    """Copy to ``folder / name``, which must not be there, and return size and digest; raises ``OSError``.

    The file is on disk when this returns; its folder has to be synced by ``sync_folders``.
    """
    target = folder / name
    make_folder(target.parent)
    digest, size_bytes = hashlib.sha256(), 0
    with source.open("rb") as read, target.open("xb") as written:
        while chunk := read.read(_CHUNK_BYTES):
            digest.update(chunk)
            written.write(chunk)
            size_bytes += len(chunk)
        written.flush()
        os.fsync(written.fileno())
    return BackedUpFile(path=name, size_bytes=size_bytes, sha256=digest.hexdigest())


def sync_folders(folder: Path) -> None:
    """Make the names of all files below a folder durable."""
    for above, _, _ in os.walk(folder):
        sync(type(folder)(above))


@contextmanager
def filling(folder: Path, *, keep: str = "") -> Iterator[None]:
    """Run a body that fills an empty folder; when it fails, empty the folder again, but for the file ``keep``.

    A folder that was not there before goes away too.
    """
    was_there = folder.is_dir()
    try:
        make_folder(folder)
        yield
    except BaseException:
        _empty(folder, keep)
        if not was_there:
            folder.rmdir()
        raise


def _empty(folder: Path, keep: str) -> None:
    for path in folder.iterdir():
        if path.name == keep:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def refuse_used(folder: Path, field: str, *, but: str = "") -> None:
    """Raise ``InvalidInput`` naming ``field`` for a path that is no folder, or one with more in it than ``but``."""
    cure = "name a folder that is not there yet, or is empty"
    if folder.exists() and not folder.is_dir():
        raise InvalidInput.field(field, folder, "is a file", cure)
    if folder.is_dir() and any(path.name != but for path in folder.iterdir()):
        raise InvalidInput.field(field, folder, "is not empty", cure)

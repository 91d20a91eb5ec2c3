"""What stands in ``backup.json``: everything a backup holds, so that it can be verified without the store."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from tonnage.errors import InvalidInput, StoreDamaged
from tonnage.store.durable import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.store.admin.counts import Counts

NAME: Final = "backup.json"
_LAYOUT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUpFile:
    """One file; ``path`` stands below the backup's folder, as it does below the store's."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A finished backup; ``made_at`` is UTC, ISO 8601."""

    made_at: str
    release: str
    schema_version: int
    data_version: int
    counts: Counts
    files: tuple[BackedUpFile, ...]

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all files."""
        return sum(file.size_bytes for file in self.files)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest durably; it is the last file, and a backup without one is not finished."""
    temporary = folder / f".{NAME}"
    with replacing(folder / NAME, temporary):
        temporary.write_text(json.dumps({"layout": _LAYOUT, **asdict(manifest)}, indent=1), encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup.

    Raises ``InvalidInput`` (path ``source``) for a folder that is no finished backup or one of a later
    release, ``StoreDamaged`` for a manifest that cannot be read.
    """
    path = folder / NAME
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        cure = "name a folder that `tonnage store backup` finished"
        raise InvalidInput.field("source", folder, f"holds no {NAME}, so it is no finished backup", cure) from error
    try:
        held = json.loads(text)
        layout = held.pop("layout")
        if layout == _LAYOUT:
            return _manifest(held)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreDamaged(f"{path} cannot be read ({error}); take another backup", path=path) from error
    raise InvalidInput.field("source", folder, f"has layout {layout}", "restore it with the release that made it")


def _manifest(held: dict[str, Any]) -> Manifest:
    files = tuple(BackedUpFile(**file) for file in held.pop("files"))
    for file in files:
        path = PurePosixPath(file.path)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"the path {file.path} leads out of the backup")
    return Manifest(**held, files=files)

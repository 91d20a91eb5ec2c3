"""A store made from a backup, in a folder that holds nothing yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.errors import StoreDamaged
from tonnage.store.admin.copying import copy_file, filling, refuse_used, sync_folders
from tonnage.store.admin.counts import counts_of
from tonnage.store.admin.frozen import copied_catalog, opened, relocate
from tonnage.store.admin.manifest import Manifest, read_manifest
from tonnage.store.checksums import Checksums
from tonnage.store.durable import make_folder, replacing
from tonnage.store.lake.connection import catalog_path, data_path
from tonnage.store.lake.lock import WriterLock
from tonnage.store.migrations import refuse_newer
from tonnage.store.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.store.admin.manifest import BackedUpFile
    from tonnage.store.url import EmbeddedPlace

_CATALOG: Final = "catalog.sqlite"
_LOCK: Final = "writer.lock"


def restore(source: Path, place: EmbeddedPlace) -> Manifest:
    """Copy a backup to the folder of ``place``, each file against its digest, and compare the counts.

    The catalog comes last, so a folder is a store only once all of it is there; ingest is kept out
    by the writer's lock. Raises ``InvalidInput`` (path ``source``, or ``store`` when it is not
    empty), ``SchemaTooNew``, ``StoreLocked``, ``StoreDamaged`` when the backup is, ``OSError``.
    Nothing but the lock's file is left behind then.
    """
    manifest = read_manifest(source)
    refuse_newer(manifest.schema_version, SCHEMA_VERSION)
    refuse_used(place.folder, "store", but=_LOCK)
    make_folder(place.folder)
    # The lock's file stays whatever happens: removed, two processes could hold one of that name.
    lock = WriterLock(place.folder / _LOCK)
    try:
        refuse_used(place.folder, "store", but=_LOCK)
        with filling(place.folder, keep=_LOCK):
            _fill(source, place, manifest)
    finally:
        lock.release()
    return manifest


def _fill(source: Path, place: EmbeddedPlace, manifest: Manifest) -> None:
    for name in ("data", "reports"):
        make_folder(place.folder / name)
    copied = [_copied(source, place.folder, file) for file in manifest.files if file.path != _CATALOG]
    Checksums(place.folder).note({file.path: file.sha256 for file in copied if file.path.startswith("data/")})
    (catalog,) = (file for file in manifest.files if file.path == _CATALOG)
    temporary = place.folder / f".{_CATALOG}"
    with replacing(catalog_path(place), temporary):
        _copied(source, place.folder, catalog, temporary.name)
        _compare(place, temporary, manifest)
        relocate(temporary, data_path(place))
        sync_folders(place.folder)


def _copied(source: Path, folder: Path, file: BackedUpFile, name: str | None = None) -> BackedUpFile:
    try:
        found = copy_file(source / file.path, folder, name or file.path)
    except FileNotFoundError as error:
        raise _damaged(source, f"{file.path} is not there") from error
    if (found.size_bytes, found.sha256) != (file.size_bytes, file.sha256):
        raise _damaged(source, f"{file.path} is not as it was backed up")
    return found


def _compare(place: EmbeddedPlace, catalog: Path, manifest: Manifest) -> None:
    """Read what was restored, and compare it with what was backed up."""
    with copied_catalog(catalog) as (copy, scratch), opened(place, copy, scratch) as store:
        found = (store.data_version, counts_of(store))
    if found != (manifest.data_version, manifest.counts):
        raise _damaged(place.folder, f"it holds {found}, and should hold {manifest.data_version, manifest.counts}")


def _damaged(folder: Path, problem: str) -> StoreDamaged:
    return StoreDamaged(f"nothing was restored from {folder}: {problem}; take another backup", folder=folder)

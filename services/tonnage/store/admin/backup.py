"""A whole copy of a store as of one moment, made while ingest goes on."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from tonnage.errors import InvalidInput, StoreDamaged
from tonnage.store.admin.copying import copy_file, filling, refuse_used, sync_folders
from tonnage.store.admin.counts import counts_of
from tonnage.store.admin.data_check import data_damage, name_of
from tonnage.store.admin.frozen import frozen
from tonnage.store.admin.manifest import Manifest, write_manifest
from tonnage.store.admin.report_check import check_report, stored_reports
from tonnage.store.checksums import Checksums
from tonnage.store.lake.datafiles import data_files
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tonnage.store.admin.damage import Damage
    from tonnage.store.admin.frozen import Frozen
    from tonnage.store.admin.manifest import BackedUpFile


def backup(place: EmbeddedPlace, destination: Path) -> Manifest:
    """Copy catalog, data files and raw reports to an empty folder, each checked on the way.

    Raises ``InvalidInput`` (path ``destination``), ``StoreDamaged`` naming what is damaged in the store,
    ``OSError`` when the copy cannot be written, and as ``frozen`` does; nothing is left behind then.
    """
    refuse_used(destination, "destination")
    if destination.resolve().is_relative_to(place.folder.resolve()):
        raise InvalidInput.field("destination", destination, "lies inside the store", "name a folder outside of it")
    with frozen(place) as store, filling(destination):
        files = _copied(store, destination)
        Checksums(destination).note({file.path: file.sha256 for file in files if file.path.startswith("data/")})
        sync_folders(destination)
        manifest = Manifest(
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            release=version("tonnage"),
            schema_version=store.schema_version,
            data_version=store.data_version,
            counts=counts_of(store),
            files=files,
        )
        write_manifest(destination, manifest)
        return manifest


def _copied(store: Frozen, destination: Path) -> tuple[BackedUpFile, ...]:
    """Copy everything and judge the copies: a backup that is there is good. Raises ``StoreDamaged``."""
    folder, copy = store.place.folder, EmbeddedPlace(destination)
    copied = [copy_file(store.catalog, destination, "catalog.sqlite")]
    damages: list[Damage | None] = []
    known = Checksums(folder).known()
    for file in data_files(store.connection):
        name = name_of(file)
        copied += _copy(folder, destination, name)
        damages.append(data_damage(copy, file, known.get(name)))
    for report in stored_reports(store):
        copied += _copy(folder, destination, report.path)
        damages.append(check_report(destination, report))
    _refuse([damage for damage in damages if damage is not None])
    return tuple(copied)


def _copy(folder: Path, destination: Path, name: str) -> list[BackedUpFile]:
    """Copy a file; for one that is not there nothing, and the look at the copy tells of it."""
    source = folder / name
    return [copy_file(source, destination, name)] if source.is_file() else []


def _refuse(damages: Sequence[Damage]) -> None:
    if damages:
        named = "; ".join(f"{damage.path} {damage.problem}" for damage in damages[:3])
        raise StoreDamaged(
            f"damaged files in the store: {len(damages)}, and nothing was backed up: {named}; keep the backups there "
            "are, and see `tonnage store check`",
            damaged_count=len(damages),
        )

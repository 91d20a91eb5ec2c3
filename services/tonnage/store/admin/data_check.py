"""Whether the Parquet files a store names are there and as they were written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from tonnage.store.admin.damage import Damage
from tonnage.store.checksums import Checksums, digest_of
from tonnage.store.lake.connection import data_path
from tonnage.store.lake.datafiles import data_files, waiting_for_removal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.store.admin.frozen import Frozen
    from tonnage.store.lake.datafiles import DataFile
    from tonnage.store.url import EmbeddedPlace

_CURE: Final = (
    "put the same file of a backup in its place; where no backup has it, restore the newest one into an empty folder "
    "and send what came later again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCheck:
    """What a look at the data files found; ``unnoted`` have no checksum, so a changed value would go unnoticed."""

    files: tuple[DataFile, ...]
    damages: tuple[Damage, ...]
    unnoted: tuple[str, ...]


def present_files(place: EmbeddedPlace) -> set[Path]:
    """Return the files below the data folder, seen from there."""
    folder = data_path(place)
    return {Path(above, name).relative_to(folder) for above, _, names in os.walk(folder) for name in names}


def orphans(store: Frozen, present: Iterable[Path]) -> list[str]:
    """Return which of the files are not the store's; ``present`` was listed before the store was frozen."""
    named = {file.path for file in data_files(store.connection)} | waiting_for_removal(store.connection)
    return sorted(f"data/{path.as_posix()}" for path in present if path not in named)


def check_data(store: Frozen) -> DataCheck:
    """Compare every data file with the checksum of its writing; one that has none is read whole instead."""
    known = Checksums(store.place.folder).known()
    files = tuple(data_files(store.connection))
    names = [name_of(file) for file in files]
    found = [data_damage(store.place, file, known.get(name)) for file, name in zip(files, names, strict=True)]
    return DataCheck(
        files=files,
        damages=tuple(damage for damage in found if damage is not None),
        unnoted=tuple(name for name in names if name not in known),
    )


def name_of(file: DataFile) -> str:
    """Return where a data file stands below the store's folder."""
    return f"data/{file.path.as_posix()}"


def data_damage(place: EmbeddedPlace, file: DataFile, checksum: str | None) -> Damage | None:
    """Return what is wrong with a file as it lies in the folder of ``place``."""
    path, name = data_path(place) / file.path, name_of(file)
    if not path.is_file():
        return Damage(code="DATA_FILE_MISSING", path=name, problem="is not there", cure=_CURE)
    problem = _problem(path, file, checksum)
    return None if problem is None else Damage(code="DATA_FILE_DAMAGED", path=name, problem=problem, cure=_CURE)


def _problem(path: Path, file: DataFile, checksum: str | None) -> str | None:
    try:
        size_bytes = path.stat().st_size
        if size_bytes != file.size_bytes:
            return f"has {size_bytes} bytes, and was written with {file.size_bytes}"
        if checksum is None:
            return _unreadable(path, file)
        return None if digest_of(path) == checksum else "does not match the checksum of its writing"
    except OSError as error:
        return f"cannot be read: {error}"


def _unreadable(path: Path, file: DataFile) -> str | None:
    """Read every value in a DuckDB of its own: a broken file can take the connection with it."""
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": False}) as connection:
            found = connection.execute(
                "SELECT any_value(total), bit_xor(hash(COLUMNS(* EXCLUDE (total)))) "
                "FROM (SELECT *, count(*) OVER () AS total FROM read_parquet(?))",
                [str(path)],
            ).fetchone()
    except duckdb.Error as error:
        return f"cannot be read: {error}"
    count = 0 if found is None or found[0] is None else int(found[0])
    return None if count == file.record_count else f"holds {count} rows, and was written with {file.record_count}"

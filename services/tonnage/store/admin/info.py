"""What a store is, what it holds and what it takes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tonnage.store.admin.counts import counts_of
from tonnage.store.admin.frozen import frozen
from tonnage.store.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.store.admin.counts import Counts
    from tonnage.store.url import EmbeddedPlace

_PARTS: Final = ("data", "reports", "spool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the store on disk."""

    size_bytes: int
    file_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """What ``info`` tells; ``parts`` by name: catalog (log and checksums with it), data, reports, spool."""

    schema_version: int
    release_schema_version: int
    data_version: int
    counts: Counts
    parts: dict[str, Part]


def info(place: EmbeddedPlace) -> Info:
    """Return what a store holds at this moment; raises as ``frozen`` does."""
    with frozen(place) as store:
        return Info(
            schema_version=store.schema_version,
            release_schema_version=SCHEMA_VERSION,
            data_version=store.data_version,
            counts=counts_of(store),
            parts=parts_of(place.folder),
        )


def parts_of(folder: Path) -> dict[str, Part]:
    """Return bytes and files by part; a file that goes away meanwhile is left out."""
    beside = (path for path in folder.iterdir() if path.is_file())
    return {"catalog": _part(beside), **{name: _part(_files(folder / name)) for name in _PARTS}}


def _files(folder: Path) -> Iterator[Path]:
    return (Path(above, name) for above, _, names in os.walk(folder) for name in names)


def _part(paths: Iterator[Path]) -> Part:
    sizes = [size for path in paths if (size := _size_bytes(path)) is not None]
    return Part(size_bytes=sum(sizes), file_count=len(sizes))


def _size_bytes(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None

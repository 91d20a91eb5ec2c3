"""Stores to look after: filled, copied, broken on purpose."""

from __future__ import annotations

import hashlib
import io
import shutil
from contextlib import closing
from typing import TYPE_CHECKING

from builders import a_level
from builders_store import a_retraction, a_stored_run, an_upload, stored

from tonnage.store.base import ReportFacts
from tonnage.store.lake.connection import attach, connect
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.store.base import Append

TEAM, OTHER = "default", "other"
RUN_COUNT, LEVEL_COUNT = 4, 3


def a_kept_upload(writer: LakeWriter, seed: str, namespace: str = TEAM, **changes: object) -> Append:
    """Keep a raw report in a store, and return its upload, ready to be stored."""
    data = f"raw report {seed} of {namespace}\n".encode() * 100
    report_id = hashlib.sha256(data).hexdigest()
    writer.keep_report(namespace, report_id, io.BytesIO(data))
    levels = (a_level(n + 1, n + 1.5, index=n) for n in range(LEVEL_COUNT))
    run = a_stored_run(namespace, seed, *levels, report_id=report_id, **changes)
    facts = ReportFacts(report_id=report_id, filename=run.filename, size_bytes=len(data), format="tonnage-table")
    return an_upload(run, report=facts)


def fill(place: EmbeddedPlace) -> None:
    """Fill a store in several commits: four runs of one namespace, one of them retracted, and one of another."""
    with closing(LakeWriter(place)) as writer:
        uploads = [a_kept_upload(writer, f"run {number}") for number in range(RUN_COUNT)]
        stored(writer, *uploads[:2])
        stored(writer, *uploads[2:])
        stored(writer, a_kept_upload(writer, "theirs", OTHER, sweep_id="=HYPERLINK(1)"))
        writer.retract(a_retraction(uploads[0].runs))


def copied(place: EmbeddedPlace, folder: Path) -> EmbeddedPlace:
    """Return a copy of a store that nobody has open."""
    shutil.copytree(place.folder, folder)
    return EmbeddedPlace(folder)


def change(place: EmbeddedPlace, *statements: str) -> None:
    """Run SQL on a store behind its writer's back."""
    with closing(connect()) as connection:
        attach(connection, place, read_only=False)
        for statement in statements:
            connection.execute(statement)


def flip(path: Path, position: int | None = None) -> None:
    """Change one bit of a file, in its middle unless told otherwise."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if position is None else position] ^= 1
    path.write_bytes(bytes(data))


def data_file(place: EmbeddedPlace, table: str) -> Path:
    """Return the first data file of a table."""
    return min((place.folder / "data" / "main" / table).glob("*.parquet"))


def report_file(place: EmbeddedPlace) -> Path:
    """Return a raw report's file."""
    return min((place.folder / "reports").glob("*/*.zst"))


def names_in(folder: Path) -> list[str]:
    """Return every file below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

"""What people read of an answer; programs read the JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.units import GIB, KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tonnage.store.admin.check import CheckReport
    from tonnage.store.admin.counts import Counts
    from tonnage.store.admin.export import Export
    from tonnage.store.admin.info import Info
    from tonnage.store.admin.manifest import Manifest
    from tonnage.store.admin.migrate import Migrated
    from tonnage.store.admin.move import Moved

_COLUMNS: Final = {
    "runs": "run_count",
    "points": "point_count",
    "reports": "report_count",
    "events": "event_count",
    "plans": "plan_count",
}


def of_info(found: Info) -> Iterator[str]:
    """Yield the lines on a store."""
    yield f"schema        {found.schema_version} (this release has {found.release_schema_version})"
    yield f"data version  {found.data_version}"
    for name, part in found.parts.items():
        yield f"{name:<13} {_size(part.size_bytes)} in {part.file_count} files"
    yield from _counted(found.counts)


def of_check(found: CheckReport) -> Iterator[str]:
    """Yield the lines on a check, what must be mended first."""
    for damage in found.damages:
        yield f"{damage.code}: {f'{damage.path} ' if damage.path else ''}{damage.problem}"
        yield f"  {damage.cure}"
    for note in found.notes:
        yield f"note {note.code}: {note.count} × {note.what}"
        yield from (f"  {path}" for path in note.paths)
    reports = "no raw reports" if found.report_count is None else f"{found.report_count} raw reports"
    yield f"looked at {found.data_file_count} data files and {reports}"
    if found.counts is not None:
        yield from _counted(found.counts)
    yield "sound" if found.is_sound else f"damaged: {len(found.damages)} findings"


def of_move(found: Moved, place: str) -> Iterator[str]:
    """Yield the lines on a store that was copied."""
    yield f"copied data version {found.data_version} to {place}"
    yield from (f"{table.name:<13} {table.row_count} rows, digest {table.digest}" for table in found.tables)
    yield f"reports       {found.report_count}, each read back and as its digest says"


def of_backup(found: Manifest, folder: object) -> Iterator[str]:
    """Yield the lines on a backup that was made."""
    yield f"backed up data version {found.data_version} to {folder}"
    yield f"{len(found.files)} files, {_size(found.size_bytes)}, each read back and as it was written"
    yield from _counted(found.counts)


def of_restore(found: Manifest, folder: object) -> Iterator[str]:
    """Yield the lines on a store that was restored."""
    yield f"restored data version {found.data_version}, of {found.made_at}, to {folder}"
    yield f"{len(found.files)} files, {_size(found.size_bytes)}, digests and counts as backed up"
    yield from _counted(found.counts)


def of_migration(found: Migrated) -> Iterator[str]:
    """Yield the line on a migration."""
    if found.from_version == found.to_version:
        yield f"schema {found.to_version} is this release's; nothing was to do"
    else:
        yield f"brought from schema {found.from_version} to {found.to_version}"


def of_export(found: Export, folder: object) -> Iterator[str]:
    """Yield the lines on an export."""
    yield f"exported data version {found.data_version} to {folder}"
    yield from (f"{name:<15} {count:,} rows" for name, count in found.row_counts.items())


def _counted(counts: Counts) -> Iterator[str]:
    if not counts:
        yield "it holds nothing yet"
        return
    rows = [[name, *(f"{held[key]:,}" for key in _COLUMNS.values())] for name, held in counts.items()]
    yield from _table(["namespace", *_COLUMNS], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        first, *others = (f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        yield "  ".join([first.strip().ljust(widths[0]), *others])


def _size(size_bytes: int) -> str:
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.4g} {name}"
    return f"{size_bytes} B"

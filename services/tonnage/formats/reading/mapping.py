"""Which column of a table is which of ours, by name or by an explicit map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage.errors import InvalidInput, MalformedReport
from tonnage.formats.reading import columns
from tonnage.formats.reading.fields import Fields, as_number
from tonnage.formats.reading.notes import note
from tonnage.formats.reading.parquet import parquet_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tonnage.domain.finding import Finding
    from tonnage.formats.base import Source


class ColumnNames:
    """Which column of the file is which of ours; refuses what is neither ours, mapped nor a label."""

    def __init__(self, source: Source) -> None:
        self._mapped = self._checked_map(source.column_map)
        head = source.head
        self._seen = parquet_columns(source) if head.kind == "parquet" else (*head.columns, *sorted(head.keys))
        absent = sorted(theirs for theirs in source.column_map.values() if self._seen and theirs not in self._seen)
        if absent:
            raise InvalidInput.field(
                "column_map", ", ".join(absent), "names columns the file lacks", f"it has {', '.join(self._seen[:40])}"
            )

    @staticmethod
    def _checked_map(column_map: Mapping[str, str]) -> dict[str, str]:
        for ours in column_map:
            if columns.canonical(ours) is None:
                raise InvalidInput.field(
                    f'column_map["{ours}"]', ours, "is no column of ours", "see docs/formats.md for the names"
                )
        return {theirs: ours for ours, theirs in column_map.items()}

    def ignored(self) -> Iterator[Finding]:
        """Say which columns a map leaves out."""
        if not self._mapped:
            return
        left = [name for name in self._seen if name and self._ours(name) is None]
        if left:
            yield note("COLUMNS_NOT_MAPPED", f"left out, as the map does not name them: {', '.join(left)}")

    def _ours(self, column: str) -> tuple[str, float] | None:
        return columns.canonical(self._mapped.get(column, column))

    def row(self, place: str, value: object) -> Fields:
        """Return one row under our names and in our units."""
        found: dict[str, object] = {}
        for column, cell in Fields(value, place).data.items():
            ours = self._ours(column)
            if ours is None:
                if not self._mapped and column:
                    raise MalformedReport.field(
                        f"column {column}",
                        cell,
                        "is no column of ours",
                        "map it (--map ours=theirs) or name it label_…",
                    )
                continue
            name, factor = ours
            if cell is None or (name in found and column not in self._mapped):
                continue
            found[name] = cell if factor == 1.0 else _times(cell, factor, f"{place}.{column}")
        return Fields(found, place)


def _times(cell: object, factor: float, path: str) -> float | None:
    number = as_number(cell, path)
    return None if number is None else number * factor

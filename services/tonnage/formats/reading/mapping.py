"""Which column of a table is which of ours, by name or by an explicit map."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput, MalformedReport
from tonnage.formats.reading import columns
from tonnage.formats.reading.fields import Fields, as_number
from tonnage.formats.reading.notes import note
from tonnage.formats.reading.parquet import parquet_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tonnage.domain.finding import Finding
    from tonnage.formats.base import Source

_PER_ACCELERATOR: Final = re.compile(r"(per[ _.-]?|/ ?)(gpu|accelerator|device|card|chip)", re.IGNORECASE)


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
        mapped: dict[str, str] = {}
        for ours, theirs in column_map.items():
            path = f'column_map["{ours}"]'
            if columns.canonical(ours) is None:
                raise InvalidInput.field(path, ours, "is no column of ours", _near(ours))
            if theirs in mapped:
                raise InvalidInput.field(path, theirs, f"is mapped to {mapped[theirs]} too", "map each column once")
            if ours in columns.RATES_PER_ACCELERATOR.values() and _PER_ACCELERATOR.search(theirs):
                cure = f"map {ours}_per_accelerator and {columns.ACCELERATOR_COUNT}, or multiply the column"
                raise InvalidInput.field(path, theirs, f"is per accelerator, and {ours} is of the whole system", cure)
            mapped[theirs] = ours
        return mapped

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


def _near(name: str) -> str:
    near = difflib.get_close_matches(name, columns.KNOWN, n=3)
    return (f"did you mean {', '.join(near)}? " if near else "") + "docs/formats.md lists the names"


def _times(cell: object, factor: float, path: str) -> float | None:
    number = as_number(cell, path)
    return None if number is None else number * factor

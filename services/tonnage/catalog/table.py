"""Reading the catalog's CSV files; a wrong or missing fact is an error that names file, row and column."""

from __future__ import annotations

import csv
import io
from importlib import resources
from typing import TYPE_CHECKING

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator


class Row:
    """One row; each reader returns None for an empty cell and names what is wrong otherwise."""

    __slots__ = ("_cells", "path")

    def __init__(self, cells: dict[str, str], path: str) -> None:
        self._cells = cells
        self.path = path

    def text(self, column: str) -> str:
        """Return the cell's text, empty when nothing stands there."""
        return self._cells[column].strip()

    def required(self, column: str) -> str:
        """Return the cell's text; refuse an empty one."""
        found = self.text(column)
        if not found:
            raise InvalidInput.field(f"{self.path}.{column}", None, "is required and empty", "fill the cell")
        return found

    def whole(self, column: str) -> int | None:
        """Return a whole number above or at 0."""
        found = self.text(column)
        if not found:
            return None
        if not found.isascii() or not found.isdigit():
            raise InvalidInput.field(f"{self.path}.{column}", found, "is not a whole number", "write digits only")
        return int(found)

    def needed_whole(self, column: str) -> int:
        """Return a whole number; refuse an empty cell."""
        self.required(column)
        found = self.whole(column)
        assert found is not None  # noqa: S101 -- required() refused the empty cell one line above
        return found

    def number(self, column: str) -> float | None:
        """Return a number above 0."""
        found = self.text(column)
        if not found:
            return None
        try:
            value = float(found)
        except ValueError as error:
            raise InvalidInput.field(f"{self.path}.{column}", found, "is not a number", "write a number") from error
        if not 0 < value < float("inf"):
            raise InvalidInput.field(f"{self.path}.{column}", found, "is not above 0", "write a number above 0")
        return value

    def truth(self, column: str) -> bool | None:
        """Return true or false."""
        found = self.text(column)
        if not found:
            return None
        if found not in {"true", "false"}:
            raise InvalidInput.field(f"{self.path}.{column}", found, "is neither true nor false", "write true or false")
        return found == "true"


def packaged(name: str) -> str:
    """Return the text of a file under ``catalog/data``."""
    return resources.files("tonnage.catalog").joinpath("data", name).read_text("utf-8")


def rows(text: str, name: str, columns: tuple[str, ...]) -> Iterator[Row]:
    """Yield the rows of a catalog file; refuse other columns, short rows and ids that stand twice."""
    reader = csv.DictReader(io.StringIO(text))
    found = tuple(reader.fieldnames or ())
    if found != columns:
        differing = sorted(set(found) ^ set(columns)) or ["the order"]
        raise InvalidInput.field(name, ", ".join(differing), "has other columns", "use: " + ", ".join(columns))
    seen: set[str] = set()
    for number, cells in enumerate(reader, start=2):
        path = f"{name}[{number}]"
        if None in cells or None in cells.values():
            raise InvalidInput.field(path, None, "has another number of cells than the header", "check the commas")
        row = Row(cells, path)
        key = row.required("id").lower()
        if key in seen:
            raise InvalidInput.field(f"{path}.id", key, "stands twice", "remove one of the rows")
        seen.add(key)
        yield row

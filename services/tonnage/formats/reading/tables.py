"""Tables as tools write them: one header row, a delimiter to find out, decimal commas when declared."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from tonnage.errors import MalformedReport
from tonnage.formats.reading.heads import delimiter_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.formats.base import Source

_LONGEST_CELL: Final = 16 << 20
_DECLARE: Final = "declare decimal=, in the column map (--map decimal=,)"
_DECIMAL_COMMA: Final = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})*,\d+|[-+]?\d+,\d+")
_THOUSAND_DOTS: Final = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+")
_THOUSANDS: Final = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def text_lines(source: Source, newline: str = "") -> Iterator[str]:
    """Yield lines of the file with their ends, by ``newline`` as ``open`` has it.

    Raises ``MalformedReport`` where it is not UTF-8.
    """
    with source.open_binary() as stream:
        reader = io.TextIOWrapper(stream, encoding="utf-8", errors="strict", newline=newline)
        try:
            yield from reader
        except UnicodeDecodeError as error:
            raise MalformedReport.field(
                "report", str(error), "is not UTF-8 text", "save it as UTF-8 or UTF-16 with a byte-order mark"
            ) from error


def cells(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield row number (from 1, the header's) and cells of each row that is not blank."""
    csv.field_size_limit(_LONGEST_CELL)
    first = next((line for line in source.head.text.splitlines() if line.strip()), "")
    delimiter = source.options.get("delimiter") or delimiter_of(first) or ","
    reader = csv.reader(text_lines(source), delimiter=delimiter)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise MalformedReport.field(
            f"row {reader.line_num}", str(error), "is no table row", "send the file as the tool wrote it"
        ) from error


def rows(source: Source) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield place and cells by column name of each data row; an empty cell is None.

    Raises ``MalformedReport`` for a row of another length than the header, or for decimal commas nobody declared.
    """
    found = cells(source)
    _, header = next(found, (0, []))
    names = [cell.strip() for cell in header]
    twice = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if twice:
        raise MalformedReport.field("header", ", ".join(twice), "names a column twice", "name each column once")
    decimal = source.options.get("decimal", ".")
    for number, row in found:
        if len(row) != len(names):
            raise _ragged(number, row, len(names))
        yield (
            f"row {number}",
            {name: plain(cell, decimal, f"row {number}, {name}") for name, cell in zip(names, row, strict=True)},
        )


def _ragged(number: int, row: list[str], expected: int) -> MalformedReport:
    cure = "quote cells that hold the delimiter"
    if len(row) > expected and all(re.fullmatch(r"\s*-?\d+\s*", cell) for cell in row[-2:]):
        cure = f"the numbers look as if written with a decimal comma: use ; between cells and {_DECLARE}, or quote"
    return MalformedReport.field(f"row {number}", f"{len(row)} cells", f"has not the header's {expected} cells", cure)


def plain(cell: str, decimal: str, path: str) -> str | None:
    """Return a cell with a plain decimal point, None when empty.

    Raises ``MalformedReport`` for what looks like a decimal comma when none is declared: "994,57" is not guessed.
    """
    text = cell.strip()
    if not text:
        return None
    if decimal == "," and (_DECIMAL_COMMA.fullmatch(text) or _THOUSAND_DOTS.fullmatch(text)):
        return text.replace(".", "").replace(",", ".")
    if decimal != "," and _DECIMAL_COMMA.fullmatch(text) and not _THOUSANDS.fullmatch(text):
        raise MalformedReport.field(path, cell, "looks like a decimal comma", f"{_DECLARE} for this file")
    return text


def without_thousands(text: str) -> str:
    """Return "1,234.56" as "1234.56"; other texts as they are."""
    return text.replace(",", "") if _THOUSANDS.fullmatch(text.strip()) else text

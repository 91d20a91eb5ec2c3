"""Console text: control codes taken off, labels with their values, tables in box characters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.errors import MalformedReport, TooLarge
from tonnage.formats.reading.tables import text_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tonnage.formats.base import Source

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BOX: Final = re.compile(r"[│┃|]")
_MAX_TEXT_BYTES: Final = 64 << 20
_QUANTITY: Final = re.compile(r"(?<![\d.])(-?\d+(?:\.\d+)?)\s*(ns|us|µs|μs|ms|s|m|h)")
# Numbers are met at their start alone, so that a long row of digits costs its length, not its square.
_NUMBER: Final = re.compile(r"(?<![\d.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_LONGEST_LINE: Final = 65_536
_TO_MS: Final = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}


def plain_lines(source: Source) -> list[str]:
    """Return the lines without colour codes, cut at 65,536 characters; what a carriage return overwrote is gone.

    Raises ``TooLarge`` beyond 64 MiB of text.
    """
    found: list[str] = []
    total = 0
    for line in text_lines(source, "\n"):
        total += len(line)
        if total > _MAX_TEXT_BYTES:
            raise TooLarge("the log is longer than 64 MiB; send the part with the result", limit_bytes=_MAX_TEXT_BYTES)
        found.append(_ANSI.sub("", line[:_LONGEST_LINE]).rstrip("\r\n").rsplit("\r", 1)[-1].replace("\t", " "))
    return found


def last_block(lines: list[str], start: str) -> list[str]:
    """Return the lines from the last one that holds ``start``; all of them when none does."""
    places = [number for number, line in enumerate(lines) if start in line]
    return lines[places[-1] :] if places else lines


def labels(lines: Iterable[str]) -> dict[str, str]:
    """Return "Label: value" lines by label; the first of a repeated label counts."""
    found: dict[str, str] = {}
    for line in lines:
        label, colon, value = line.partition(":")
        if colon:
            found.setdefault(" ".join(label.split()), value.strip())
    return found


def box_rows(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the cells of each table row drawn with box characters or bars."""
    for line in lines:
        if _BOX.search(line):
            cells = [cell.strip() for cell in _BOX.split(line.strip())]
            yield cells[1:-1] if len(cells) > 2 else cells  # noqa: PLR2004 -- the borders left and right


def quantity_ms(text: str, path: str) -> float:
    """Return "187.96ms", "2m3s" or "12.91µs" as milliseconds; raises ``MalformedReport`` for anything else."""
    parts = _QUANTITY.findall(text)
    if not parts or _QUANTITY.sub("", text).strip():
        raise MalformedReport.field(path, text, "is no time with a unit", "send the text as the tool printed it")
    return sum(float(value) * _TO_MS[unit] for value, unit in parts)


def first_number(text: str | None) -> str | None:
    """Return the first number in a text, or None."""
    found = _NUMBER.search(text or "")
    return None if found is None else found.group()

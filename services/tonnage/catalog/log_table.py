"""Figures of start-up logs that the memory model's constants rest on, one row a log and constant."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final

from tonnage.catalog import table

FILE: Final = "startup_logs.csv"
COLUMNS: Final = ("id", "log", "family", "constant", "value", "weight", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFigure:
    """What one log says about one constant: bytes per entry for rates, GiB for the rest."""

    log: str
    family: str
    """Model family, left out when that family is judged."""
    constant: str
    value: float
    weight: float
    """Entries a rate was read over; 1 for the rest."""
    source: str


def _needed(row: table.Row, column: str) -> float:
    row.required(column)
    found = row.number(column)
    assert found is not None  # noqa: S101 -- required() refused the empty cell one line above
    return found


def read(text: str) -> tuple[LogFigure, ...]:
    """Return the figures of a catalog file's text, in its order."""
    return tuple(
        LogFigure(
            log=row.required("log"),
            family=row.required("family"),
            constant=row.required("constant"),
            value=_needed(row, "value"),
            weight=_needed(row, "weight"),
            source=row.required("source"),
        )
        for row in table.rows(text, FILE, COLUMNS)
    )


@functools.cache
def log_figures() -> tuple[LogFigure, ...]:
    """Return every figure that ships with the product."""
    return read(table.packaged(FILE))

"""Invariants of single values; each failure names the field, the value and the cure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

LONGEST_NAME = 512
LARGEST_COUNT = 2**53


def finite(path: str, value: float | None) -> None:
    """Refuse NaN and infinities."""
    if value is not None and not math.isfinite(value):
        raise InvalidInput.field(path, value, "is not a finite number", "give a finite number or leave it out")


def required(path: str, value: object) -> None:
    """Refuse an absent value or an empty text."""
    if value is None or value == "":
        raise InvalidInput.field(path, None, "is required and absent", "state it")


def not_negative(path: str, value: float | None) -> None:
    """Refuse values below 0 and non-finite ones."""
    finite(path, value)
    if value is not None and value < 0:
        raise InvalidInput.field(path, value, "is below 0", "give 0 or more")


def positive(path: str, value: float | None) -> None:
    """Refuse 0, values below it and non-finite ones."""
    finite(path, value)
    if value is not None and value <= 0:
        raise InvalidInput.field(path, value, "is not above 0", "give a number above 0")


def at_least(path: str, value: float | None, least: float) -> None:
    """Refuse values below ``least`` and non-finite ones."""
    finite(path, value)
    if value is not None and value < least:
        raise InvalidInput.field(path, value, f"is below {least:g}", f"give {least:g} or more")


def count(path: str, value: int | None, *, least: int = 1) -> None:
    """Refuse counts below ``least`` or beyond what a double holds exactly."""
    if value is None:
        return
    if value < least:
        raise InvalidInput.field(path, value, f"is below {least}", f"give {least} or more")
    if value > LARGEST_COUNT:
        raise InvalidInput.field(path, value, "is too large to be meant", f"give at most {LARGEST_COUNT}")


def ratio(path: str, value: float | None) -> None:
    """Refuse what is not within 0 and 1."""
    finite(path, value)
    if value is not None and not 0 <= value <= 1:
        raise InvalidInput.field(path, value, "is not within 0 and 1", "give a ratio, 0.2 for 20 %")


def share(path: str, value: float | None) -> None:
    """Refuse what is not above 0 and at most 1."""
    ratio(path, value)
    if value == 0:
        raise InvalidInput.field(path, value, "is not above 0", "give a share above 0, or leave the entry out")


def one_of(path: str, value: str, allowed: Collection[str]) -> None:
    """Refuse a text that is not among ``allowed``."""
    if value not in allowed:
        raise InvalidInput.field(path, value, "is not known", "use one of " + ", ".join(sorted(allowed)))


def name(path: str, value: str | None, *, longest: int = LONGEST_NAME) -> None:
    """Refuse texts that are over-long or hold control characters."""
    if value is None:
        return
    if len(value) > longest:
        raise InvalidInput.field(path, value, f"is longer than {longest} characters", "shorten it")
    if value.isprintable():
        return
    if any(ord(char) < ord(" ") or ord(char) == 127 for char in value):  # noqa: PLR2004 -- DEL
        raise InvalidInput.field(path, value, "holds control characters", "remove them")


def not_empty(path: str, value: Sequence[object]) -> None:
    """Refuse an empty list."""
    if not value:
        raise InvalidInput.field(path, None, "is empty", "give at least one entry")

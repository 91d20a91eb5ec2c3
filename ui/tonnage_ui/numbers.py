"""How numbers are shown: units, digits, and a dash for what is not known."""

from __future__ import annotations

import math
from typing import Final

DASH: Final = "–"
_GIB: Final = 1024**3
_SIGNIFICANT_DIGITS: Final = 3
_WHOLE_FROM: Final = 100


def number(value: float | None, unit: str = "") -> str:
    """Return three significant digits with the unit; a dash for None; never 0 for a small number."""
    if value is None:
        return DASH
    if not math.isfinite(value):
        return str(value)
    return _with_unit(_digits(value), unit)


def count(value: int | None) -> str:
    """Return a whole number with thousands apart, or a dash."""
    return DASH if value is None else f"{value:,}"


def percent(ratio: float | None) -> str:
    """Return a ratio as a percentage, or a dash."""
    return DASH if ratio is None else f"{_digits(100 * ratio)} %"


def gib(size_bytes: int | None) -> str:
    """Return bytes in GiB (1024³) with two decimals, or a dash."""
    return DASH if size_bytes is None else f"{as_gib(size_bytes):,.2f} GiB"


def size(size_bytes: int) -> str:
    """Return bytes in the largest binary unit that leaves a readable number."""
    for unit, factor in (("GiB", _GIB), ("MiB", 1024**2), ("KiB", 1024)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:,.2f} {unit}"
    return f"{size_bytes:,} B"


def as_gib(size_bytes: int) -> float:
    """Return bytes in GiB for an axis."""
    return size_bytes / _GIB


def money(amount: float | None, currency: str) -> str:
    """Return an amount with its currency, or a dash."""
    return DASH if amount is None else f"{amount:,.2f} {currency}".rstrip()


def text(value: str) -> str:
    """Return the text, or a dash for none."""
    return value or DASH


def _digits(value: float) -> str:
    if value == 0:
        return "0"
    if abs(value) >= _WHOLE_FROM:
        return f"{value:,.0f}"
    places = _SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(abs(value)))
    rounded = f"{value:,.{max(places, 0)}f}"
    return rounded.rstrip("0").rstrip(".") if "." in rounded else rounded


def _with_unit(shown: str, unit: str) -> str:
    return f"{shown} {unit}" if unit else shown

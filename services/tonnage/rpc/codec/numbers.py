"""Limits of what a measured number on the wire may be."""

from __future__ import annotations

from typing import Final

from tonnage import checks
from tonnage.errors import InvalidInput

# Far above anything measured: 11 days in milliseconds, a thousand million requests per second.
LARGEST_MAGNITUDE: Final = 1e9


def magnitude(path: str, value: float | None) -> None:
    """Refuse what is not finite, below 0, or too large to have been measured."""
    checks.not_negative(path, value)
    if value is not None and value > LARGEST_MAGNITUDE:
        raise InvalidInput.field(
            path, value, "is too large to be meant", f"check the unit; at most {LARGEST_MAGNITUDE:g}"
        )

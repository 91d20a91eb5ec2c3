"""Readable ends of axes."""

from __future__ import annotations

from typing import Final

_STEPS: Final = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def round_end(value: float) -> float:
    """Return the next readable end of an axis at or above a value; 1 for nothing to show."""
    if value <= 0:
        return 1.0
    decade = decade_below(value)
    return float(f"{next(step * decade for step in _STEPS if step * decade >= value):.6g}")


def decade_below(value: float) -> float:
    """Return the largest power of ten that is not above a value above 0."""
    decade = 1.0
    while decade > value:
        decade /= 10
    while decade * 10 <= value:
        decade *= 10
    return decade

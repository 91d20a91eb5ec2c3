"""R, the room kept above the peak, taken apart into named parts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.capacity import notes
from tonnage.capacity.exact import as_float, exact
from tonnage.domain.plan import NamedReserve, ReserveBreakdown

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.domain.workload import Reserve

_PARTS: Final = ("growth", "burst", "drift", "colocation")


def exact_ratio(reserve: Reserve) -> Fraction:
    """Return R = (1 + growth)(1 + burst)(1 + drift)(1 + colocation) - 1, or R as given whole; no reserve is 0.

    Raises ``InvalidInput`` for a part below 0.
    """
    kept = Fraction(1)
    for name, part in reserve.parts():
        checks.not_negative(f"reserve.{name}.ratio", part.ratio)
        kept *= 1 + exact(part.ratio)
    return kept - 1


def breakdown(reserve: Reserve) -> tuple[ReserveBreakdown, tuple[Finding, ...]]:
    """Return R with its parts, and a finding for each part that nobody stated (it counts as 0)."""
    parts = tuple(NamedReserve(part=name, ratio=part.ratio, source=part.source) for name, part in reserve.parts())
    ratio = as_float("reserve", exact_ratio(reserve))
    return ReserveBreakdown(ratio=ratio, parts=parts), _not_stated(reserve)


def _not_stated(reserve: Reserve) -> tuple[Finding, ...]:
    if reserve.whole is not None or not reserve.from_parts:
        return ()
    return tuple(
        notes.info(
            "RESERVE_PART_NOT_STATED",
            f"the {name} part of the reserve is not stated and counts as 0",
            path=f"reserve.parts.{name}",
            remedy="state it with its source; 0 with a source says that it was looked at",
        )
        for name in _PARTS
        if getattr(reserve, name) is None
    )

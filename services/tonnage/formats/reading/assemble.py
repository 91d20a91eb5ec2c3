"""Levels that belong together become one run; a load met again is another repeat."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import ArrivalKind, Level, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from tonnage.domain.measurement import Work

_SAME_SIZE_FACTOR: Final = 1.25


def arrival_of(concurrency: float | None, offered_requests_per_s: float | None) -> ArrivalKind | None:
    """Tell how requests arrived: a rate is an open loop, whatever cap stands beside it; a cap alone is closed."""
    if offered_requests_per_s is not None:
        return ArrivalKind.OPEN
    return ArrivalKind.CLOSED if concurrency is not None else None


@dataclass(frozen=True, slots=True)
class Point:
    """One level and the run it belongs to: ``header`` is that run without levels and date."""

    header: Run
    level: Level
    measured_at: datetime | None = None


def grouped(points: Iterable[Point]) -> Iterator[Run]:
    """Yield runs of the levels that share a header and a request size, in order of appearance.

    A level whose load the run already holds starts the next repeat, since a curve has one level a load.
    A run was measured when its newest level was.
    """
    groups: list[list[Point]] = []
    by_header: defaultdict[Run, list[list[Point]]] = defaultdict(list)
    for point in points:
        alike = by_header[point.header]
        known = next((group for group in alike if _continues([other.level for other in group], point.level)), None)
        if known is None:
            known = []
            groups.append(known)
            alike.append(known)
        known.append(point)
    for known in groups:
        dates = [point.measured_at for point in known if point.measured_at is not None]
        levels = tuple(point.level for point in known)
        yield replace(known[0].header, levels=levels, measured_at=max(dates, default=None))


def _continues(levels: list[Level], level: Level) -> bool:
    load = (level.concurrency, level.offered_requests_per_s)
    if any(load == (other.concurrency, other.offered_requests_per_s) for other in levels):
        return False
    return _same_size(levels[0].work, level.work)


def _same_size(one: Work, other: Work) -> bool:
    """Tell whether two request sizes are of one sample set: each figure within a quarter of the other."""
    if type(one) is not type(other):
        return False
    pairs = ((getattr(one, key), getattr(other, key)) for key in one.__dataclass_fields__)
    return all(
        (a is None) == (b is None) and (a is None or b is None or max(a, b) <= _SAME_SIZE_FACTOR * min(a, b))
        for a, b in pairs
    )

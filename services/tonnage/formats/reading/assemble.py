"""Levels that belong together become one run; a load met again is another repeat."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from tonnage.domain.measurement import ArrivalKind, Level, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from tonnage.domain.measurement import Work

_SAME_SIZE_FACTOR: Final = 1.25
_Load: TypeAlias = "tuple[float | None, float | None]"


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


@dataclass(slots=True)
class _Sized:
    """Levels of one header and one request size, by repeat; ``met`` counts how often each load came."""

    work: Work
    repeats: list[list[Point]] = field(default_factory=list)
    met: Counter[_Load] = field(default_factory=Counter)


def grouped(points: Iterable[Point]) -> Iterator[Run]:
    """Yield runs of the levels that share a header and a request size, in order of appearance.

    A level whose load the run already holds starts the next repeat, since a curve has one level a load.
    A run was measured when its newest level was. Costs the number of levels, not its square.
    """
    groups: list[list[Point]] = []
    by_header: defaultdict[Run, list[_Sized]] = defaultdict(list)
    for point in points:
        alike = by_header[point.header]
        sized = next((one for one in alike if _same_size(one.work, point.level.work)), None)
        if sized is None:
            sized = _Sized(point.level.work)
            alike.append(sized)
        load = (point.level.concurrency, point.level.offered_requests_per_s)
        repeat = sized.met[load]
        sized.met[load] += 1
        if repeat == len(sized.repeats):
            sized.repeats.append([])
            groups.append(sized.repeats[repeat])
        sized.repeats[repeat].append(point)
    for known in groups:
        dates = [point.measured_at for point in known if point.measured_at is not None]
        levels = tuple(point.level for point in known)
        yield replace(known[0].header, levels=levels, measured_at=max(dates, default=None))


def _same_size(one: Work, other: Work) -> bool:
    """Tell whether two request sizes are of one sample set: each figure within a quarter of the other."""
    if type(one) is not type(other):
        return False
    pairs = ((getattr(one, key), getattr(other, key)) for key in one.__dataclass_fields__)
    return all(
        (a is None) == (b is None) and (a is None or b is None or max(a, b) <= _SAME_SIZE_FACTOR * min(a, b))
        for a, b in pairs
    )

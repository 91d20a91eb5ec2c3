"""Levels that belong together become one run; a load met again is another repeat."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tonnage.domain.measurement import ArrivalKind, Level, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def arrival_of(concurrency: float | None, offered_requests_per_s: float | None) -> ArrivalKind | None:
    """Tell how requests arrived: a stated rate is an open loop, whatever cap stands beside it; a cap alone is closed."""
    if offered_requests_per_s is not None:
        return ArrivalKind.OPEN
    return ArrivalKind.CLOSED if concurrency is not None else None


def grouped(points: Iterable[tuple[Run, Level]]) -> Iterator[Run]:
    """Yield runs of the levels that share a header (a run without levels), in order of appearance.

    A level whose load the run already holds starts the next repeat, since a curve has one level a load.
    """
    groups: list[tuple[Run, list[Level]]] = []
    for header, level in points:
        load = (level.concurrency, level.offered_requests_per_s, level.work)
        for known, levels in groups:
            if known == header and all(load[:2] != _load(other) for other in levels):
                levels.append(level)
                break
        else:
            groups.append((header, [level]))
    for header, levels in groups:
        yield replace(header, levels=tuple(levels))


def _load(level: Level) -> tuple[float | None, float | None]:
    return level.concurrency, level.offered_requests_per_s

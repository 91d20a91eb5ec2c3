"""Repeats of one curve: the variance between runs apart from the variance inside them."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tonnage.capacity.levels import CurveLevel

_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class Components:
    """Deviations of logs between runs and inside a run, on ``free`` degrees of freedom; None where not known."""

    free: int
    between: float | None = None
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One level of one run: which run, which load, the level."""

    run: str
    load: float
    level: CurveLevel


def throughput_of(level: CurveLevel) -> float | None:
    """Return the throughput of a level."""
    return level.requests_per_s


def statistic(name: str) -> Callable[[CurveLevel], float | None]:
    """Return what reads one usable statistic of a level."""
    return lambda level: level.qualified.values.get(name)


def components(measured: Sequence[Measured], value_of: Callable[[CurveLevel], float | None]) -> Components:
    """Return the variance components of one figure over repeats, in logs.

    Logs are taken less the mean of their load, which leaves run effect + level effect. With J runs of I loads each the
    run effect's variance is (MS_between - MS_within) / I, at least 0 (method of moments, two-way layout without
    interaction; Searle, Casella and McCulloch, Variance Components, ch. 4). Where runs hold unlike loads, I is the
    harmonic mean of their counts. One load alone tells only the sum, which then counts as between runs: the wider way.
    """
    runs = _residuals(measured, value_of)
    if len(runs) < _LEAST:
        return Components(0)
    means = {run: fmean(rows.values()) for run, rows in runs.items()}
    loads = len(runs) / math.fsum(1 / len(rows) for rows in runs.values())
    apart = _groups(list(runs.values()))
    free = len(runs) - apart
    rest = sum(map(len, runs.values())) - len(runs) - len({load for rows in runs.values() for load in rows}) + apart
    spread = math.fsum(mean * mean for mean in means.values()) / free
    if rest <= 0:
        return Components(free, math.sqrt(spread), None)
    inside = math.fsum((item - means[run]) ** 2 for run, rows in runs.items() for item in rows.values()) / rest
    return Components(free, math.sqrt(max(0.0, spread - inside / loads)), math.sqrt(inside))


def _groups(rows: Sequence[Collection[float]]) -> int:
    """Return how many groups of runs share no load with each other."""
    groups: list[set[float]] = []
    for loads in rows:
        joined = set(loads)
        apart = [group for group in groups if not group & joined]
        groups = [*apart, joined.union(*(group for group in groups if group & joined))]
    return len(groups)


def _residuals(
    measured: Sequence[Measured], value_of: Callable[[CurveLevel], float | None]
) -> dict[str, dict[float, float]]:
    """Return each run's logs less the mean of their load, of loads that two runs or more measured."""
    by_load: defaultdict[float, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in sorted(measured, key=lambda item: (item.load, item.run, item.level.level.index)):
        value = value_of(item.level)
        if value is not None and value > 0:
            by_load[item.load][item.run].append(math.log(value))
    found: defaultdict[str, dict[float, float]] = defaultdict(dict)
    for load, rows in by_load.items():
        if len(rows) < _LEAST:
            continue
        means = {run: fmean(values) for run, values in rows.items()}
        middle = fmean(means.values())
        for run, value in means.items():
            found[run][load] = value - middle
    return dict(found)

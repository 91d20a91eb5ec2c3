"""Q_slo of a curve that lacks one measured load, by the planner's own crossing, at that load's own TTFT and TPOT."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from statistics import median
from typing import TYPE_CHECKING, Final

from tonnage.capacity.prediction.shapes import Bracket, load_where_latency_reaches, rate_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tonnage.capacity.accuracy.rows import Row

LIMITED: Final = ("ttft", "tpot")
FIXED_TPOT_MS: Final = (20.0, 30.0, 50.0, 100.0)
FIXED_TTFT_MS: Final = 2000.0
LEAST_RUNGS: Final = 4


@dataclass(frozen=True, slots=True)
class Rung:
    """One load of a curve with the medians of its figures."""

    load: float
    figures: Mapping[str, float]


def rungs_of(rows: Sequence[Row]) -> tuple[Rung, ...]:
    """Return the usable loads of one curve that have a throughput, in order of load."""
    by_load: dict[float, list[Row]] = {}
    for row in rows:
        if not row.barred and "throughput" in row.figures:
            by_load.setdefault(row.load, []).append(row)
    rungs = []
    for load in sorted(by_load):
        names = set.intersection(*(set(row.figures) for row in by_load[load]))
        rungs.append(Rung(load, {name: median(row.figures[name] for row in by_load[load]) for name in sorted(names)}))
    return tuple(rungs)


def q_slo(rungs: Sequence[Rung], limits: Mapping[str, float]) -> float | str:
    """Return the largest throughput inside the limits (milliseconds), or why it is not known.

    Rungs are walked up to the first that misses a limit; the limit is reached between it and the last one inside.
    """
    kept = tuple(takewhile(lambda rung: _keeps(rung, limits), rungs))
    if not kept:
        return "the lowest load left misses the limits"
    if len(kept) == len(rungs):
        return "no load left misses the limits, so only a lower bound is known"
    last, miss = kept[-1], rungs[len(kept)]
    loads = [_reached(last, miss, name, most) for name, most in limits.items() if name in miss.figures]
    if len(loads) < len(limits):
        return "a limited figure is not known on both sides of the crossing"
    rates = Bracket(last.load, last.figures["throughput"], miss.load, miss.figures["throughput"])
    return max(rate_at(rates, min(loads)), *(rung.figures["throughput"] for rung in kept))


def _reached(last: Rung, miss: Rung, name: str, most: float) -> float:
    bracket = Bracket(last.load, last.figures[name], miss.load, miss.figures[name])
    return load_where_latency_reaches(bracket, most)


def beside_fixed_limits(rungs: Sequence[Rung], load: float) -> Iterator[tuple[float, float]]:
    """Yield Q_slo without one inner load and with it, at each usual limit whose crossing lies beside that load.

    Limits are TPOT of 20, 30, 50 and 100 ms, with TTFT of 2 s where it is known; of curves of four loads or more.
    """
    known = tuple(rung for rung in rungs if "tpot" in rung.figures)
    place = next((place for place, rung in enumerate(known) if rung.load == load), 0)
    if len(known) < LEAST_RUNGS or place in (0, len(known) - 1):
        return
    prompt = {"ttft": FIXED_TTFT_MS} if all("ttft" in rung.figures for rung in known) else {}
    for most in FIXED_TPOT_MS:
        limits = {"tpot": most, **prompt}
        whole, part = q_slo(known, limits), q_slo((*known[:place], *known[place + 1 :]), limits)
        inside = sum(1 for _ in takewhile(lambda rung: _keeps(rung, limits), known))  # noqa: B023 -- used at once
        if isinstance(whole, float) and isinstance(part, float) and place in (inside - 1, inside):
            yield part, whole


def _keeps(rung: Rung, limits: Mapping[str, float]) -> bool:
    return all(rung.figures.get(name, float("inf")) <= most for name, most in limits.items())

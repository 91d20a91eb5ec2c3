"""What a run showed: latencies, limits, share inside, the line over time, recovery."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tonnage.capacity.exact import rounded
from tonnage.domain.measurement import METRICS, NOT_MEASURED, STATISTICS, Latency
from tonnage.domain.simulation import LimitOutcome, RunOutcome, SeriesPoint
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tonnage.capacity.limits import Limit
    from tonnage.capacity.simulation.events import Served
    from tonnage.capacity.simulation.pool import Bench
    from tonnage.capacity.simulation.traffic import Traffic

    Floats = npt.NDArray[np.float64]
    Bools = npt.NDArray[np.bool_]

_SHARES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
_BINS: Final = 120
_BATCHES: Final = 10
_STUDENT_9: Final = 2.262
_GOOD_BINS: Final = 2


@dataclass(frozen=True, slots=True)
class Window:
    """Times of a run, s: what is drawn, what is judged, and when a disturbance ended (None without one)."""

    drawn_from: float
    judged_from: float
    until: float
    disturbed_until: float | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """Latencies of every request, ms; ``means`` are what stands for the mean, both by metric."""

    queue_s: Floats
    draws: dict[str, Floats]
    means: dict[str, Floats]

    def values(self, limit: Limit) -> Floats | None:
        """Return what a limit is held against, for each request."""
        metric, statistic, _ = limit.name.split("_")
        return (self.means if statistic == "mean" else self.draws).get(metric)


def seen(bench: Bench, traffic: Traffic, served: Served, work: Floats, stages: Sequence[tuple[float, int]]) -> Seen:
    """Return the latencies of every request; ``stages`` are (begins at s, replicas).

    TTFT is the wait for a slot and the measured TTFT at the load found on entering; TPOT and ITL are the measured
    ones at the load whose speed the request saw.
    """
    starts, ends = np.array(served.starts_s), np.array(served.ends_s)
    replicas = np.array([count for _, count in stages])
    stage = np.searchsorted([begin for begin, _ in stages], starts, side="right") - 1
    lead = bench.lead
    low, high = lead.concurrency[0], lead.concurrency[-1]
    entered = np.clip(np.array(served.seats) / np.maximum(1, replicas[stage]), low, high)
    stayed = np.where(np.isfinite(ends), ends, 0.0) - np.where(np.isfinite(ends), starts, 0.0)
    lived = lead.load_at(np.clip(stayed / work, lead.service_s[0], lead.service_s[-1]))
    queue_s = starts - traffic.arrivals_s
    e2e = (ends - traffic.arrivals_s) * MS_PER_S
    draws, means = {"e2e": e2e}, {"e2e": e2e}
    for metric in ("ttft", "tpot", "itl", "queue"):
        load, luck = (entered, traffic.luck[0]) if metric in {"ttft", "queue"} else (lived, traffic.luck[1])
        waited = queue_s * MS_PER_S if metric in {"ttft", "queue"} else np.zeros(len(queue_s))
        known = [item.model for item in bench.classes]
        drawn = [model.draws_ms(metric, load, luck) for model in known]
        middle = [model.means_ms(metric, load) for model in known]
        if any(rows is None for rows in drawn):
            if metric == "queue":
                draws[metric] = means[metric] = waited
            continue
        draws[metric] = waited + _picked(traffic, drawn)
        means[metric] = waited + _picked(traffic, middle)
    return Seen(queue_s, draws, means)


def _picked(traffic: Traffic, rows: list[Floats | None]) -> Floats:
    picked: Floats = np.choose(traffic.buckets, rows) if len(rows) > 1 else rows[0]  # type: ignore[arg-type,assignment]
    return picked


def outcome(
    found: Seen, traffic: Traffic, served: Served, limits: Sequence[Limit], window: Window, replica_count: int
) -> RunOutcome:
    """Return what one run showed."""
    arrivals = traffic.arrivals_s
    judged = (arrivals >= window.judged_from) & (arrivals < window.until)
    inside = _inside(found, limits)
    rows = tuple(_limit(found, traffic, item, judged) for item in limits)
    told = [row.holds for row in rows]
    holds = False if False in told else (None if None in told or not told else True)
    series, good = _series(found, traffic, served, limits, inside, window)
    count = int(judged.sum())
    return RunOutcome(
        replica_count=replica_count,
        request_count=count,
        event_count=served.event_count,
        simulated_s=rounded(window.until - window.judged_from),
        queue=_latency(found.queue_s[judged] * MS_PER_S, found.queue_s[judged] * MS_PER_S),
        **{
            metric: _latency(found.draws[metric][judged], found.means[metric][judged])
            for metric in ("ttft", "tpot", "e2e")
            if metric in found.draws
        },
        waited_ratio=rounded(float((found.queue_s[judged] > 0).mean())) if count else 0.0,
        inside_ratio=rounded(float(inside[judged].mean())) if count and limits else None,
        most_waiting_count=max((point.waiting_count for point in series), default=0),
        limits=rows,
        holds=holds,
        recovery_s=_recovery(series, good, window),
        series=series,
    )


def _latency(draws: Floats, means: Floats) -> Latency:
    if not len(draws) or not np.isfinite(draws).all():
        return NOT_MEASURED
    found = {f"{name}_ms": rounded(float(np.quantile(draws, share))) for name, share in _SHARES.items()}
    return Latency(mean_ms=rounded(float(means.mean())), **found)


def _inside(found: Seen, limits: Sequence[Limit]) -> Bools:
    inside = np.ones(len(found.queue_s), dtype=bool)
    for limit in limits:
        metric = limit.name.split("_", 1)[0]
        if metric in found.draws:
            inside &= found.draws[metric] <= limit.max_ms
    return inside


def _limit(found: Seen, traffic: Traffic, limit: Limit, judged: Bools) -> LimitOutcome:
    """Return a limit on the class of requests that keeps it least."""
    metric = next(item for item in METRICS if limit.name.startswith(item))
    statistic = next(item for item in STATISTICS if f"_{item}_" in limit.name)
    values = found.values(limit)
    stated: dict[str, Any] = {"metric": metric, "statistic": statistic, "max_ms": limit.max_ms}
    classes = [judged & (traffic.buckets == place) for place in np.unique(traffic.buckets[judged])]
    if values is None or not classes or not np.isfinite(values[judged]).all():
        return LimitOutcome(**stated)
    worst = max((values[rows] for rows in classes), key=lambda rows: _statistic(rows, statistic))
    batches = [_statistic(rows, statistic) for rows in np.array_split(worst, _BATCHES) if len(rows)]
    value = _statistic(worst, statistic)
    half = _STUDENT_9 * float(np.std(batches, ddof=1)) / math.sqrt(_BATCHES) if len(batches) == _BATCHES else value
    return LimitOutcome(
        **stated, value_ms=rounded(value), low_ms=rounded(max(0.0, value - half)), high_ms=rounded(value + half)
    )


def _statistic(values: Floats, statistic: str) -> float:
    return float(values.mean()) if statistic == "mean" else float(np.quantile(values, _SHARES[statistic]))


def _series(
    found: Seen, traffic: Traffic, served: Served, limits: Sequence[Limit], inside: Bools, window: Window
) -> tuple[tuple[SeriesPoint, ...], list[bool]]:
    edges = np.linspace(window.drawn_from, window.until, _BINS + 1)
    width = float(edges[1] - edges[0])
    place = np.searchsorted(traffic.arrivals_s, edges)
    began = np.sort([*served.starts_s, *served.abandoned_s])
    joined = np.sort([*traffic.arrivals_s, *served.displaced_s])
    left = np.sort([*served.ends_s, *served.displaced_s])
    waiting = np.searchsorted(joined, edges, side="right") - np.searchsorted(began, edges, side="right")
    serving = np.searchsorted(began, edges, side="right") - np.searchsorted(left, edges, side="right")
    points, good = [], []
    for index in range(_BINS):
        rows = slice(place[index], place[index + 1])
        count = int(place[index + 1] - place[index])
        mean = float(found.queue_s[rows].mean()) * MS_PER_S if count else math.inf
        points.append(
            SeriesPoint(
                time_s=rounded(float(edges[index + 1]) - window.drawn_from),
                arrivals_requests_per_s=rounded(count / width),
                waiting_count=int(waiting[index + 1]),
                in_service_count=int(serving[index + 1]),
                queue_mean_ms=rounded(mean) if math.isfinite(mean) else None,
                inside_ratio=rounded(float(inside[rows].mean())) if count and limits else None,
            )
        )
        good.append(all(_keeps(found, limit, rows) for limit in limits) and (bool(limits) or waiting[index + 1] == 0))
    return tuple(points), good


def _keeps(found: Seen, limit: Limit, rows: slice) -> bool:
    """Tell whether a bin keeps a limit, within two standard errors of its share; an empty one does."""
    values = found.values(limit)
    if values is None or not len(values[rows]):
        return True
    statistic = limit.name.split("_")[1]
    if statistic == "mean":
        return bool(values[rows].mean() <= limit.max_ms)
    share = _SHARES[statistic]
    slack = 2 * math.sqrt(share * (1 - share) / len(values[rows]))
    return bool((values[rows] <= limit.max_ms).mean() >= share - slack)


def _recovery(series: Sequence[SeriesPoint], good: list[bool], window: Window) -> float | None:
    """Return the seconds from the end of the disturbance to the first bins that are good again; bins are its grain."""
    if window.disturbed_until is None:
        return None
    ended = window.disturbed_until - window.drawn_from
    behind = [place for place, point in enumerate(series) if point.time_s > ended]
    for place in behind:
        if all(good[place : place + _GOOD_BINS]):
            begins = series[place - 1].time_s if place else 0.0
            return rounded(max(0.0, begins - ended))
    return None

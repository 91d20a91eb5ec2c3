"""Checks on latency statistics: possible, ordered, resting on enough requests, consistent with each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.finding import Evidence, Finding, Origin, Severity
from tonnage.domain.measurement import METRICS, STATISTICS, Latency, Level, TextWork
from tonnage.formats.checks.scalars import fault
from tonnage.formats.reading.notes import note, warning

if TYPE_CHECKING:
    from tonnage.domain.measurement import Metric, StatisticName

LEAST_COUNT: Final[dict[StatisticName, int]] = {"mean": 5, "p50": 5, "p90": 10, "p95": 20, "p99": 100}
_RANKS: Final[tuple[StatisticName, ...]] = ("p50", "p90", "p95", "p99")
# Of values not below 0, at least this share lies at or above the percentile (Markov's inequality).
_SHARE_ABOVE: Final[dict[StatisticName, float]] = {"p50": 0.5, "p90": 0.1, "p95": 0.05, "p99": 0.01}
# Two numbers that were rounded apart may cross by this much.
_ROUNDING: Final = 0.001
# Mean x mean is not the mean of products: requests of unlike lengths explain this much and no more.
_SPREAD: Final = 0.10
_TPOT_TOO_SMALL: Final = 0.75


def check_latencies(level: Level) -> tuple[Level, list[Finding]]:
    """Drop latencies that cannot be true, and mark those that rest on too little."""
    found: list[Finding] = []
    for check in (_impossible, _undefined, _disordered, _mean_outside, _below_ttft):
        dropped = check(level)
        for finding in dropped:
            level = _without(level, finding.path)
        found += dropped
    return level, [*found, *_too_few(level), *_unlike_e2e(level), *_same_tail(level)]


def name_of(metric: Metric, statistic: StatisticName) -> str:
    """Return the name of a statistic as findings and files have it: ttft_p99_ms."""
    return f"{metric}_{statistic}_ms"


def _without(level: Level, name: str) -> Level:
    metric, statistic = name.split("_", 1)
    latency: Latency = replace(getattr(level, metric), **{statistic: None})
    return replace(level, **{metric: latency})  # type: ignore[arg-type]  # the names of its fields


def _impossible(level: Level) -> list[Finding]:
    checks = (
        fault(level.latency(metric).value_ms(statistic), name_of(metric, statistic), zero_is_fine=metric == "queue")
        for metric in METRICS
        for statistic in STATISTICS
    )
    return [finding for finding in checks if finding is not None]


def _undefined(level: Level) -> list[Finding]:
    """Between tokens there is no time when a request has one token (TPOT and ITL divide by tokens - 1)."""
    work = level.work
    if not isinstance(work, TextWork) or work.output_tokens_mean is None or work.output_tokens_mean > 1:
        return []
    return [
        warning(
            "IMPOSSIBLE_STATISTIC",
            f"{name_of(metric, statistic)} is {value:g}, but requests had one output token, so there is none",
            path=name_of(metric, statistic),
            remedy="measure with more output tokens",
        )
        for metric in ("tpot", "itl")
        for statistic in STATISTICS
        if (value := level.latency(metric).value_ms(statistic)) is not None
    ]


def _disordered(level: Level) -> list[Finding]:
    found: dict[str, Finding] = {}
    for metric in METRICS:
        stated = [(rank, value) for rank in _RANKS if (value := level.latency(metric).value_ms(rank)) is not None]
        for position, (low, low_ms) in enumerate(stated):
            for high, high_ms in stated[position + 1 :]:
                if high_ms < low_ms * (1 - _ROUNDING):
                    message = f"{metric} {high} is {high_ms:g} ms, below its {low} of {low_ms:g} ms"
                    for rank in (low, high):
                        name = name_of(metric, rank)
                        found.setdefault(name, warning("PERCENTILE_ORDER", message, path=name, remedy=_MAPPING))
    return list(found.values())


_MAPPING: Final = "check that the columns were read in the right order and units"


def _mean_outside(level: Level) -> list[Finding]:
    found = []
    for metric in METRICS:
        latency = level.latency(metric)
        if latency.mean_ms is None:
            continue
        for rank, share in _SHARE_ABOVE.items():
            value = latency.value_ms(rank)
            if value is not None and latency.mean_ms < value * share * (1 - _ROUNDING):
                message = f"{metric} mean is {latency.mean_ms:g} ms, less than {share:g} of its {rank} of {value:g} ms"
                found.append(warning("MEAN_OUTSIDE_RANGE", message, path=name_of(metric, "mean"), remedy=_MAPPING))
                break
    return found


def _below_ttft(level: Level) -> list[Finding]:
    """Find statistics of e2e below those of TTFT: a request cannot end before its first token."""
    found = []
    for statistic in STATISTICS:
        first, whole = level.ttft.value_ms(statistic), level.e2e.value_ms(statistic)
        if first is not None and whole is not None and whole < first * (1 - _ROUNDING):
            message = f"e2e {statistic} is {whole:g} ms, below the ttft {statistic} of {first:g} ms"
            found += [
                warning("E2E_BELOW_TTFT", message, path=name_of(metric, statistic), remedy=_MAPPING)
                for metric in ("ttft", "e2e")
            ]
    return found


def _too_few(level: Level) -> list[Finding]:
    """Mark statistics of too few requests: a p99 wants 100, a p95 20, a p90 10, a mean or median 5."""
    count = level.completed_count
    if count is None:
        return []
    return [
        _few(name_of(metric, statistic), value, statistic, count, level.location)
        for metric in METRICS
        for statistic in STATISTICS
        if count < LEAST_COUNT[statistic] and (value := level.latency(metric).value_ms(statistic)) is not None
    ]


def _few(name: str, value_ms: float, statistic: StatisticName, count: int, location: str) -> Finding:
    least = LEAST_COUNT[statistic]
    return Finding(
        code="TOO_FEW_REQUESTS_FOR_STATISTIC",
        severity=Severity.WARNING,
        path=name,
        message=f"{name} is {value_ms:g}, of {count} completed requests; a {statistic} needs at least {least}",
        remedy=f"run at least {least} requests at this load",
        evidence=(
            Evidence(origin=Origin.MEASURED, quantity=name, location=location, note=f"{value_ms:g} ms, not used"),
        ),
    )


def _unlike_e2e(level: Level) -> list[Finding]:
    """Compare e2e with TTFT + TPOT x (output tokens - 1), means with means."""
    work = level.work
    output = work.output_tokens_mean if isinstance(work, TextWork) else None
    ttft, tpot, e2e = level.ttft.mean_ms, level.tpot.mean_ms, level.e2e.mean_ms
    if output is None or ttft is None or tpot is None or e2e is None or e2e <= ttft or output <= 1:
        return []
    built = ttft + tpot * (output - 1)
    if abs(built - e2e) <= _SPREAD * e2e:
        return []
    derived = (e2e - ttft) / (output - 1)
    message = (
        f"e2e mean is {e2e:g} ms, but ttft + tpot x (output - 1) = {built:g} ms; "
        f"from e2e a TPOT of {derived:g} ms follows, the file says {tpot:g} ms"
    )
    remedy = "check what the tool calls TPOT and how it counts tokens"
    if tpot < _TPOT_TOO_SMALL * derived:
        return [
            warning("E2E_MISMATCH", message, path=name_of("tpot", statistic), remedy=remedy)
            for statistic in STATISTICS
            if level.tpot.value_ms(statistic) is not None
        ]
    return [note("E2E_MISMATCH", message, path=name_of("e2e", "mean"), remedy=remedy)]


def _same_tail(level: Level) -> list[Finding]:
    found = []
    for metric in METRICS:
        latency = level.latency(metric)
        if latency.p99_ms is not None and latency.p99_ms == latency.p95_ms:
            alike = "p90, p95 and p99 are" if latency.p90_ms == latency.p99_ms else "p95 and p99 are"
            message = f"{metric} {alike} all {latency.p99_ms:g} ms: the tail was not resolved"
            found.append(note("TAIL_NOT_RESOLVED", message, path=name_of(metric, "p99"), remedy="run more requests"))
    return found

"""Which statistics of a level may carry a capacity, and why the others may not."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tonnage.domain.finding import Finding, Severity
from tonnage.domain.measurement import METRICS, STATISTICS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tonnage.domain.measurement import Level, Metric, StatisticName

LEAST_COMPLETED: Final[dict[str, int]] = {"mean": 5, "p50": 5, "p90": 10, "p95": 20, "p99": 100}
"""Completed requests a statistic needs; a median is held to what a mean needs."""
TOO_FEW: Final = "TOO_FEW_REQUESTS_FOR_STATISTIC"
_NAMED: Final = re.compile(r"(?:^|[.\]])(ttft|tpot|itl|e2e|queue)[._](mean|p50|p90|p95|p99)(?:_ms)?$")


class Doubt(StrEnum):
    """Why a statistic carries nothing."""

    TOO_FEW = "too-few"
    IMPOSSIBLE = "impossible"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A statistic that carries nothing, in words."""

    doubt: Doubt
    reason: str


@dataclass(frozen=True, slots=True)
class Qualified:
    """Statistics of one level by name ("ttft_p99_ms"): usable values, and refusals with their reason."""

    values: Mapping[str, float]
    refusals: Mapping[str, Refusal]


def name_of(metric: Metric, statistic: StatisticName) -> str:
    """Return "ttft_p99_ms"."""
    return f"{metric}_{statistic}_ms"


def qualify(level: Level) -> Qualified:
    """Return the usable statistics of one level.

    A statistic falls for one of three reasons: a finding of the lint marks it, it is not a positive finite number,
    or too few requests completed for it (where the count is known).
    """
    refusals = _marked(level)
    values: dict[str, float] = {}
    for metric in METRICS:
        latency = level.latency(metric)
        for statistic in STATISTICS:
            name, value = name_of(metric, statistic), latency.value_ms(statistic)
            if value is None or name in refusals:
                continue
            refusal = _refusal(metric, statistic, value, level.completed_count)
            if refusal is None:
                values[name] = value
            else:
                refusals[name] = refusal
    return Qualified(values, refusals)


def _refusal(metric: Metric, statistic: StatisticName, value: float, completed: int | None) -> Refusal | None:
    if not math.isfinite(value) or value < 0 or (value == 0 and metric != "queue"):
        return Refusal(Doubt.IMPOSSIBLE, f"{metric} {statistic} of {value!r} ms cannot be")
    least = LEAST_COMPLETED[statistic]
    if completed is not None and completed < least:
        return Refusal(Doubt.TOO_FEW, too_few(statistic, completed))
    return None


def too_few(statistic: str, completed: int) -> str:
    """Return "p99 needs at least 100 completed requests, this level has 16"."""
    return f"{statistic} needs at least {LEAST_COMPLETED[statistic]} completed requests, this level has {completed}"


def named_statistic(path: str) -> str | None:
    """Return the statistic that a finding's path names ("levels[0].ttft.p99_ms" is "ttft_p99_ms"), or None."""
    found = _NAMED.search(path)
    return None if found is None else f"{found[1]}_{found[2]}_ms"


def _marked(level: Level) -> dict[str, Refusal]:
    refusals: dict[str, Refusal] = {}
    for finding in level.findings:
        name = named_statistic(finding.path)
        if name is None or (finding.severity is Severity.INFO and finding.code != TOO_FEW):
            continue
        if name not in refusals or refusals[name].doubt is Doubt.TOO_FEW:
            refusals[name] = _of_finding(finding, name.split("_")[1], level.completed_count)
    return refusals


def _of_finding(finding: Finding, statistic: str, completed: int | None) -> Refusal:
    if finding.code != TOO_FEW:
        return Refusal(Doubt.IMPOSSIBLE, f"{finding.path}: {finding.message}")
    known = finding.message if completed is None else too_few(statistic, completed)
    return Refusal(Doubt.TOO_FEW, known)

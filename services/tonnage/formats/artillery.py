"""Artillery 1 and 2: the JSON report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, as_count, ratio, scaled
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import epoch_s
from tonnage.formats.reading.statistics import block
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.formats.reading.assemble import Point

_NEW: Final = {"mean": "mean", "p50": ("p50", "median"), "p90": "p90", "p95": "p95", "p99": "p99"}
_OLD: Final = {"mean": "mean", "p50": "median", "p95": "p95", "p99": "p99"}
_GOOD: Final = "http.response_time.2xx"


class Artillery(ToolFormat):
    """Reads the aggregate of a report; percentiles come from buckets, so a p99 may pass the maximum."""

    name = "artillery"
    title = "Artillery 1, 2 (JSON report)"
    recognised_by = "aggregate and intermediate"
    metric_definitions = "artillery-1"
    expects = (("aggregate", "intermediate"),)
    definitions = (
        Definition("e2e", "http.response_time.2xx", "request sent to answer, 2xx; all answers in version 1; bucketed"),
        Definition("requests_per_s", "", "2xx / (last - first counter); http.request_rate is rounded"),
        Definition("failed_count", "", "other codes + errors.*; vusers.failed is 0 with failing answers"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the two blocks."""
        return (
            Match(score=100, why="aggregate and intermediate") if {"aggregate", "intermediate"} <= head.keys else None
        )

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of the aggregate."""
        aggregate = Fields(whole_document(source)).fields("aggregate")
        yield from grouped([_of_new(aggregate) if "counters" in aggregate else _of_old(aggregate)])


def _of_new(aggregate: Fields) -> Point:
    counters, summaries = aggregate.fields("counters"), aggregate.fields("summaries")
    codes = _sum(counters, "http.codes.")
    completed = _sum(counters, "http.codes.2")
    first_ms, last_ms = aggregate.number("firstCounterAt"), aggregate.number("lastCounterAt")
    duration_s = None if first_ms is None or last_ms is None else (last_ms - first_ms) / MS_PER_S
    is_good = _GOOD in summaries
    level = Level(
        work=TextWork(),
        requests_per_s=ratio(completed, duration_s),
        reported_requests_per_s=aggregate.fields("rates").number("http.request_rate"),
        duration_s=duration_s,
        completed_count=completed,
        failed_count=codes - completed + _sum(counters, "errors."),
        e2e=block(summaries.fields(_GOOD if is_good else "http.response_time"), _NEW),
    )
    when = epoch_s(scaled(first_ms, 1 / MS_PER_S))
    return http_point(Artillery, level, measured_at=when, with_failures=not is_good)


def _of_old(aggregate: Fields) -> Point:
    errors, codes = aggregate.fields("errors"), aggregate.fields("codes")
    completed = _sum(codes, "2")
    level = Level(
        work=TextWork(),
        reported_requests_per_s=aggregate.fields("rps").number("mean"),
        completed_count=completed,
        failed_count=_sum(codes, "") - completed + _sum(errors, ""),
        e2e=block(aggregate.fields("latency"), _OLD),
    )
    return http_point(Artillery, level, with_failures=True)


def _sum(counters: Fields, prefix: str) -> int:
    return sum(
        as_count(value, f"{counters.path}.{key}") or 0 for key, value in counters.data.items() if key.startswith(prefix)
    )


FORMAT: Final = Artillery()

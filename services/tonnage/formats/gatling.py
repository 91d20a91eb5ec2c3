"""Gatling: the report's global_stats.json and stats.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, ratio
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.notes import note
from tonnage.formats.reading.statistics import latency

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

_KEYS: Final = {
    "mean": "meanResponseTime",
    "p50": "percentiles1",
    "p95": "percentiles3",
    "p99": "percentiles4",
}
_DEFAULT_RANKS: Final = note(
    "PERCENTILES_BY_DEFAULT",
    "the report does not name its percentiles; the defaults 50, 75, 95, 99 were taken",
    path="e2e",
    remedy="check gatling.conf, charting.indicators",
)


class Gatling(ToolFormat):
    """Reads the global figures, answers that were ok."""

    name = "gatling"
    title = "Gatling (global_stats.json, stats.json)"
    recognised_by = "numberOfRequests with total, ok, ko"
    metric_definitions = "gatling-1"
    expects = (("numberOfRequests", "meanResponseTime", "percentiles1", "meanNumberOfRequestsPerSecond"),)
    definitions = (
        Definition("e2e", "meanResponseTime.ok, percentiles1-4.ok", "request sent to last byte, ok answers"),
        Definition("requests_per_s", "meanNumberOfRequestsPerSecond.ok", "ok answers / duration"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the figures, alone or under stats."""
        stats = head.first.get("stats")
        block = stats if isinstance(stats, dict) else head.first
        counts = block.get("numberOfRequests")
        is_ours = isinstance(counts, dict) and {"total", "ok", "ko"} <= counts.keys()
        return Match(score=100, why="numberOfRequests with total, ok, ko") if is_ours else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of the global figures."""
        report = Fields(whole_document(source))
        is_tree = "stats" in report
        stats = report.fields("stats") if is_tree else report
        counts, rates = stats.fields("numberOfRequests"), stats.fields("meanNumberOfRequestsPerSecond")
        level = Level(
            work=TextWork(),
            requests_per_s=rates.number("ok"),
            reported_requests_per_s=rates.number("total"),
            duration_s=ratio(counts.count("total"), rates.number("total")),
            completed_count=counts.count("ok"),
            failed_count=counts.count("ko"),
            e2e=_latency(stats),
            location="Global",
            findings=(_DEFAULT_RANKS,),
        )
        many = len(report.fields("contents").data) > 1
        yield from grouped([http_point(type(self), level, is_pool=many)])


def _latency(stats: Fields) -> Latency:
    return latency(lambda name: stats.fields(_KEYS[name]).number("ok") if name in _KEYS else None)


FORMAT: Final = Gatling()

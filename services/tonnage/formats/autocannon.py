"""autocannon: the JSON of ``--json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, ratio
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import iso_date
from tonnage.formats.reading.statistics import block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

_KEYS: Final = {"mean": ("average", "mean"), "p50": "p50", "p90": "p90", "p99": "p99"}


class Autocannon(ToolFormat):
    """Reads one run; it has a p97.5 and no p95, which stays absent."""

    name = "autocannon"
    title = "autocannon (JSON)"
    recognised_by = "2xx, non2xx and latency"
    metric_definitions = "autocannon-1"
    expects = (("2xx", "non2xx", "latency", "requests", "duration"),)
    definitions = (
        Definition("e2e", "latency", "request sent to answer, failures too; milliseconds"),
        Definition("requests_per_s", "", "2xx / duration; requests.average is of samples a second and counts all"),
        Definition("failed_count", "non2xx + errors", "errors hold the timeouts already"),
        Definition("concurrency", "connections x pipelining", "requests in flight"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the three keys."""
        is_ours = {"2xx", "non2xx", "latency"} <= head.keys
        return Match(score=100, why="keys 2xx, non2xx, latency") if is_ours else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a run."""
        report = Fields(whole_document(source))
        completed, duration_s = report.count("2xx"), report.number("duration")
        refused, errors = report.count("non2xx"), report.count("errors")
        connections, pipelining = report.rate("connections"), report.rate("pipelining")
        level = Level(
            work=TextWork(),
            concurrency=None if connections is None else connections * (pipelining or 1.0),
            requests_per_s=ratio(completed, duration_s),
            reported_requests_per_s=report.fields("requests").number("average"),
            duration_s=duration_s,
            completed_count=completed,
            failed_count=None if refused is None else refused + (errors or 0),
            e2e=block(report.fields("latency"), _KEYS),
        )
        when = iso_date(report.raw("start"))
        yield from grouped([http_point(type(self), level, measured_at=when, with_failures=True)])


FORMAT: Final = Autocannon()

"""vegeta: the JSON of ``report -type=json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, as_count, scaled
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import documents
from tonnage.formats.reading.names import iso_date
from tonnage.formats.reading.statistics import block
from tonnage.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.formats.reading.assemble import Point

_KEYS: Final = {"mean": "mean", "p50": "50th", "p90": "90th", "p95": "95th", "p99": "99th"}
_S_PER_NS: Final = 1e-9


class Vegeta(ToolFormat):
    """Reads reports; raw results (gob, CSV, NDJSON) are another form."""

    name = "vegeta"
    title = "vegeta report (JSON)"
    recognised_by = "latencies with 50th"
    metric_definitions = "vegeta-1"
    expects = (("latencies", "duration", "wait", "rate", "throughput", "status_codes"),)
    definitions = (
        Definition("e2e", "latencies", "request sent to answer, failures too; nanoseconds"),
        Definition("offered_requests_per_s", "rate", "what was sent"),
        Definition("requests_per_s", "throughput", "successes / (duration + wait)"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim latencies by their rank names."""
        latencies = head.first.get("latencies")
        return Match(score=100, why="latencies.50th") if isinstance(latencies, dict) and "50th" in latencies else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the level of each report."""
        yield from grouped(_point(Fields(value, place), place) for place, value in documents(source))


def _point(report: Fields, place: str) -> Point:
    codes = report.fields("status_codes")
    counts = {code: as_count(value, f"{codes.path}.{code}") or 0 for code, value in codes.data.items()}
    completed = sum(count for code, count in counts.items() if code.startswith("2"))
    took_ns, waited_ns = report.number("duration"), report.number("wait")
    rate = report.number("throughput")
    level = Level(
        work=TextWork(),
        offered_requests_per_s=report.rate("rate"),
        requests_per_s=rate,
        reported_requests_per_s=rate,
        duration_s=None if took_ns is None else scaled(took_ns + (waited_ns or 0.0), _S_PER_NS),
        completed_count=completed,
        failed_count=sum(counts.values()) - completed,
        e2e=block(report.fields("latencies"), _KEYS, 1 / NS_PER_MS),
        location=place,
    )
    return http_point(Vegeta, level, measured_at=iso_date(report.raw("earliest")), with_failures=True)


FORMAT: Final = Vegeta()

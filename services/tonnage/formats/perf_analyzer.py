"""Triton perf_analyzer's CSV: one row a concurrency or request rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields
from tonnage.formats.reading.notes import BYTES_NOT_TOKENS, note
from tonnage.formats.reading.statistics import latency
from tonnage.formats.reading.tables import rows
from tonnage.units import US_PER_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_INFERENCES: Final = note(
    "INFERENCES_NOT_REQUESTS",
    "the tool counts inferences; they are requests only where the batch size is 1",
    path="requests_per_s",
    remedy="divide by the batch size if it was not 1",
)


class PerfAnalyzer(ToolFormat):
    """Reads the CSV of ``perf_analyzer -f``; its rows are sorted by throughput, ours by load."""

    name = "perf-analyzer"
    title = "Triton perf_analyzer (CSV)"
    recognised_by = "columns Concurrency or Request Rate, then Inferences/Second"
    metric_definitions = "perf-analyzer-1"
    expects = (("Concurrency", "Inferences/Second", "p50 latency", "p99 latency"),)
    definitions = (
        Definition("e2e", "p50 latency …", "request sent to answer; microseconds in the file; no mean"),
        Definition("requests_per_s", "Inferences/Second", "inferences, so requests x batch size"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the tool's header."""
        if len(head.columns) > 1 and head.columns[1] == "Inferences/Second":
            return Match(score=100, why="second column Inferences/Second")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield one run with a level a row."""
        yield from grouped(_point(Fields(row, place), place) for place, row in rows(source))


def _point(row: Fields, place: str) -> Point:
    concurrency, rate = row.rate("Concurrency"), row.rate("Request Rate")
    inferences_per_s = row.number("Inferences/Second")
    level = Level(
        work=TextWork(),
        concurrency=concurrency,
        offered_requests_per_s=rate,
        requests_per_s=inferences_per_s,
        reported_requests_per_s=inferences_per_s,
        e2e=latency(lambda name: None if name == "mean" else row.number(f"{name} latency"), 1 / US_PER_MS),
        location=place,
    )
    header = Run(
        tool=PerfAnalyzer.name,
        metric_definitions=PerfAnalyzer.metric_definitions,
        levels=(),
        arrival_kind=arrival_of(concurrency, rate),
        findings=(_INFERENCES, BYTES_NOT_TOKENS),
    )
    return Point(header, level)


FORMAT: Final = PerfAnalyzer()

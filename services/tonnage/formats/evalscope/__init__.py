"""EvalScope perf: summary and percentile JSON, and the tables it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Run
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.evalscope.files import percentile_level, summary_level
from tonnage.formats.evalscope.printed import overview_levels, single_level
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.notes import warning
from tonnage.formats.reading.text import plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Level

_COUNT_KEYS: Final = frozenset({"Total Requests", "Total requests"})
_REPORT: Final = "Performance Test Summary Report"
_SINGLE: Final = "Benchmarking summary:"
_HALF: Final = warning(
    "PERCENTILES_ALONE",
    "the file holds percentiles without load, counts and throughput, which are in the summary beside it",
    remedy="give concurrency, requests_per_s and the mean lengths, or send the printed report that holds both",
)


class EvalScopePerf(ToolFormat):
    """Reads EvalScope 0.x and 1.x; the unit stands in each key."""

    name = "evalscope"
    title = "EvalScope perf (benchmark_summary, benchmark_percentile, printed report)"
    recognised_by = "keys with (s) or (ms) and Total Requests; rows of Percentiles; the printed report's titles"
    metric_definitions = "evalscope-1"
    expects = (("Concurrency", "Total Requests", "Test Duration (s)", "Avg Latency (s)"), ("Percentiles", "TTFT (ms)"))
    definitions = (
        Definition("ttft", "Avg TTFT (ms)", "request sent to first token; seconds up to 0.17"),
        Definition("tpot", "Avg TPOT (ms)", "(e2e - ttft) / (output tokens - 1); seconds up to 0.17"),
        Definition("itl", "ITL (ms)", "gaps between chunks, tiny ones included"),
        Definition("e2e", "Avg Latency (s)", "request sent to last token; seconds in all versions"),
        Definition("requests_per_s", "Req Throughput (req/s)", "successes / duration"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim by keys that carry units, or by the report's titles."""
        if head.keys & _COUNT_KEYS and any(key.endswith("(s)") for key in head.keys):
            return Match(score=100, why="Total Requests and keys ending in (s)")
        if head.kind == "json-array" and "Percentiles" in head.keys:
            return Match(score=100, why="rows of Percentiles")
        if _REPORT in head.text or _SINGLE in head.text:
            return Match(score=90, why="EvalScope's printed report")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield a run of the report's loads; percentiles alone are one level that carries no capacity."""
        yield from grouped(_points(source))


def _points(source: Source) -> Iterator[Point]:
    if source.head.kind == "json-array":
        yield _point(percentile_level(Fields({"rows": whole_document(source)})), findings=(_HALF,))
    elif source.head.kind == "json-object":
        yield _point(summary_level(Fields(whole_document(source))))
    else:
        lines = plain_lines(source)
        if any(_REPORT in line for line in lines):
            model, levels = overview_levels(lines)
            for level in levels:
                yield _point(level, model=model)
        else:
            yield _point(single_level(lines))


def _point(level: Level, *, model: str | None = None, findings: tuple[Finding, ...] = ()) -> Point:
    header = Run(
        tool=EvalScopePerf.name,
        metric_definitions=EvalScopePerf.metric_definitions,
        levels=(),
        configuration=Configuration(model=model),
        arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
        findings=findings,
    )
    return Point(header, level)


FORMAT: Final = EvalScopePerf()

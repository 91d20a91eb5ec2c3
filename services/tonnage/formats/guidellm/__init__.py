"""GuideLLM 0.2 to 0.8: benchmarks in JSON, YAML and CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.guidellm.flat import flat_points, is_flat
from tonnage.formats.guidellm.table import grouped_header, is_table, table_benchmarks
from tonnage.formats.guidellm.tree import point_of
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields
from tonnage.formats.reading.jsontext import whole_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.formats.reading.assemble import Point

_MARKS: Final = frozenset({"run_stats", "scheduler_state", "scheduler_metrics"})


class GuideLlm(ToolFormat):
    """Reads a report of several benchmarks, each one operating point."""

    name = "guidellm"
    title = "GuideLLM (JSON, YAML, CSV)"
    recognised_by = "benchmarks with run_stats, scheduler_state or metadata.guidellm_version; its CSV headers"
    metric_definitions = "guidellm-1"
    expects = (("benchmarks", "metadata", "args"), ("benchmarks", "config"))
    definitions = (
        Definition("ttft", "time_to_first_token_ms", "request sent to first token, successful requests"),
        Definition(
            "tpot",
            "inter_token_latency_ms",
            "(last - first token) / (output tokens - 1) of each request; its percentiles weigh requests by tokens. "
            "The tool's time_per_output_token_ms is another figure and is not read",
        ),
        Definition("itl", "", "not written"),
        Definition("e2e", "request_latency", "request sent to last token; seconds in the file"),
        Definition("requests_per_s", "", "successes / duration; requests_per_second.mean counts gaps and is not used"),
        Definition("output_tokens_per_s", "", "successes x mean output / duration, computed"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim reports of benchmarks with GuideLLM's own blocks."""
        if head.kind == "table":
            return Match(score=95, why="GuideLLM's CSV header") if is_table(head.columns) else None
        benchmarks = head.first.get("benchmarks")
        if not isinstance(benchmarks, list) or not benchmarks or not isinstance(benchmarks[0], dict):
            return None
        metadata = head.first.get("metadata")
        if isinstance(metadata, dict) and "guidellm_version" in metadata:
            return Match(score=100, why="metadata.guidellm_version")
        if benchmarks[0].keys() & _MARKS:
            return Match(score=100, why="benchmarks with run_stats or scheduler_state")
        return Match(score=70, why="benchmarks with a rate each") if is_flat(head.first) else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield closed-loop and open-loop levels as runs apart."""
        yield from grouped(_points(source))


def _points(source: Source) -> Iterator[Point]:
    if source.head.kind == "table":
        for place, benchmark in table_benchmarks(source, is_grouped=grouped_header(source.head.columns)):
            yield point_of(benchmark, place, GuideLlm)
        return
    report = Fields(whole_document(source))
    if is_flat(report.data):
        yield from flat_points(report, GuideLlm)
        return
    version = report.fields("metadata").text("guidellm_version")
    model = report.dig("config.spec.backend").text("model") or report.fields("args").text("model")
    for index, benchmark in enumerate(report.items("benchmarks")):
        yield point_of(benchmark, f"benchmarks[{index}]", GuideLlm, tool_version=version, model=model)


FORMAT: Final = GuideLlm()

"""AIPerf: the profile export as JSON, CSV and one record a request, and its sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.formats.aiperf.records import record_points
from tonnage.formats.aiperf.summary import summary_point
from tonnage.formats.aiperf.sweep import sweep_points
from tonnage.formats.aiperf.tables import profile_point, sweep_table_points
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields
from tonnage.formats.reading.jsontext import whole_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.formats.reading.assemble import Point

_INPUT_MARKS: Final = frozenset({"loadgen", "phases"})
_SWEEP_COLUMNS: Final = frozenset({"request_throughput_mean", "request_throughput_cv"})


class AiPerf(ToolFormat):
    """Reads AIPerf 0.1 to 0.13."""

    name = "aiperf"
    title = "AIPerf (profile export JSON, CSV, JSONL; sweeps)"
    recognised_by = "aiperf_version, input_config with loadgen or phases, or records with tag and header"
    metric_definitions = "aiperf-1"
    expects = (
        ("request_throughput", "request_latency", "request_count", "input_config", "was_cancelled"),
        ("metadata", "metrics"),
        ("Metric", "avg", "min", "max", "p99"),
    )
    definitions = (
        Definition("ttft", "time_to_first_token", "request sent to first token, a reasoning token too"),
        Definition("tpot", "inter_token_latency", "(e2e - ttft) / (output tokens - 1) of each request"),
        Definition("itl", "inter_chunk_latency", "gaps between streamed chunks, over all gaps"),
        Definition("e2e", "request_latency", "request sent to last byte, valid answers"),
        Definition(
            "requests_per_s", "request_throughput", "valid answers / (end_time - start_time), start-up included"
        ),
        Definition("duration_s", "benchmark_duration", "first request sent to last answer"),
        Definition("output_tokens_mean", "output_sequence_length", "reasoning tokens included, client's tokenizer"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim exports by version key, input blocks or CSV header."""
        if head.kind == "table":
            return _table_match(head)
        first = head.first
        if "per_combination_metrics" in first or ("aiperf_version" in first and "metrics_phase" not in first):
            return Match(score=100, why="aiperf_version or per_combination_metrics")
        given = first.get("input_config")
        if isinstance(given, dict) and given.keys() & _INPUT_MARKS and "metrics_phase" not in first:
            return Match(score=100, why="input_config with loadgen or phases")
        metadata = first.get("metadata")
        if isinstance(metadata, dict) and "benchmark_phase" in metadata:
            return Match(score=100, why="records with metadata.benchmark_phase")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield one run for a profile, one of several levels for a sweep."""
        yield from grouped(_points(source))


def _table_match(head: Head) -> Match | None:
    columns = head.columns
    if set(columns) >= _SWEEP_COLUMNS:
        return Match(score=100, why="a sweep's columns …_mean and …_cv")
    rising = columns[:2] == ("Metric", "avg") and {"p50", "p99"} <= set(columns)
    if rising and columns.index("p99") > columns.index("p50"):
        return Match(score=90, why="CSV header Metric,avg,min with percentiles in rising order")
    return None


def _points(source: Source) -> Iterator[Point]:
    head = source.head
    if head.kind == "table":
        if set(head.columns) >= _SWEEP_COLUMNS:
            yield from sweep_table_points(source, AiPerf)
        else:
            yield profile_point(source, AiPerf)
    elif (
        isinstance(head.first.get("metadata"), dict) and "metrics" in head.first and "aiperf_version" not in head.first
    ):
        yield from record_points(source, AiPerf)
    else:
        report = Fields(whole_document(source))
        if "per_combination_metrics" in report or "aggregation_type" in report.fields("metadata"):
            yield from sweep_points(report, AiPerf)
        else:
            yield summary_point(report, AiPerf)


FORMAT: Final = AiPerf()

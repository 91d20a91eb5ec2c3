"""inference-perf (kubernetes-sigs): lifecycle metrics of one stage, of all stages pooled, and of single requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, ratio
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.notes import POOLED
from tonnage.formats.reading.statistics import block
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_STATISTICS: Final = {"mean": "mean", "p50": ("median", "p50"), "p90": "p90", "p95": "p95", "p99": "p99"}


class InferencePerf(ToolFormat):
    """Reads the lifecycle metrics that each stage leaves; a summary over stages is kept and not used."""

    name = "inference-perf"
    title = "inference-perf (stage and summary lifecycle metrics)"
    recognised_by = "load_summary and successes with a latency block"
    metric_definitions = "inference-perf-1"
    expects = (("load_summary", "successes", "failures"),)
    definitions = (
        Definition("ttft", "latency.time_to_first_token", "request sent to first token; seconds in the file"),
        Definition(
            "tpot",
            "latency.time_per_output_token",
            "(e2e - ttft) / (output tokens - 1); files of 2025 hold about half of it, which the lint marks",
        ),
        Definition("itl", "latency.inter_token_latency", "gaps between chunks; files of 2025 count each twice"),
        Definition("e2e", "latency.request_latency", "request sent to last byte"),
        Definition("offered_requests_per_s", "load_summary.requested_rate", "nominal, and left out, when a cap is set"),
        Definition("duration_s", "benchmark_time_seconds", "or count / requests_per_sec; the sending time is another"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim client-side metrics; the server-side file of the same stage has no latency block."""
        first = head.first
        successes = first.get("successes")
        if "load_summary" in first and isinstance(successes, dict) and "latency" in successes:
            return Match(score=100, why="load_summary and successes.latency")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a stage."""
        yield from grouped([_point(Fields(whole_document(source)))])


def _point(report: Fields) -> Point:
    level = _level(report)
    header = Run(
        tool=InferencePerf.name,
        metric_definitions=InferencePerf.metric_definitions,
        levels=(),
        arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
    )
    return Point(header, level)


def _level(report: Fields) -> Level:
    load, successes = report.fields("load_summary"), report.fields("successes")
    rates = successes.fields("throughput")
    completed, requests_per_s = successes.count("count"), rates.number("requests_per_sec")
    duration_s = report.number("benchmark_time_seconds")
    concurrency = load.rate("concurrency")
    offered = None if concurrency is not None else load.rate("requested_rate")
    is_pool = "requested_rate" not in load and concurrency is None
    return Level(
        work=TextWork(
            input_tokens_mean=_length(successes, "prompt_tokens", "prompt_len"),
            output_tokens_mean=_length(successes, "output_tokens", "output_len"),
        ),
        concurrency=concurrency,
        offered_requests_per_s=offered,
        requests_per_s=requests_per_s,
        output_tokens_per_s=rates.number("output_tokens_per_sec"),
        total_tokens_per_s=rates.number("total_tokens_per_sec"),
        reported_requests_per_s=requests_per_s,
        duration_s=duration_s if duration_s is not None else ratio(completed, requests_per_s),
        completed_count=completed,
        failed_count=report.fields("failures").count("count"),
        ttft=_latency(successes, "time_to_first_token"),
        tpot=_latency(successes, "time_per_output_token"),
        itl=_latency(successes, "inter_token_latency"),
        e2e=_latency(successes, "request_latency"),
        findings=(POOLED,) if is_pool else (),
        usable=not is_pool,
    )


def _length(successes: Fields, *names: str) -> float | None:
    """Return a mean length, as the server counted it where that is written, else as the client did."""
    for name in names:
        value = successes.fields(name).number("mean")
        if value is not None:
            return value
    return None


def _latency(successes: Fields, name: str) -> Latency:
    return block(successes.fields("latency").fields(name), _STATISTICS, MS_PER_S)


FORMAT: Final = InferencePerf()

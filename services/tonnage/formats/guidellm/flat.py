"""A short report in GuideLLM's shape: benchmarks of a rate each, with our statistics' names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.reading.assemble import Point, arrival_of
from tonnage.formats.reading.fields import Fields, ratio
from tonnage.formats.reading.names import model_name
from tonnage.formats.reading.notes import note
from tonnage.formats.reading.statistics import latency

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tonnage.domain.finding import Finding
    from tonnage.formats.base import ToolFormat

_LENGTHS: Final = re.compile(r"prompt_tokens=(\d+).*output_tokens=(\d+)")


def is_flat(report: Mapping[str, object]) -> bool:
    """Tell a report whose benchmarks hold their figures directly."""
    benchmarks = report.get("benchmarks")
    first = benchmarks[0] if isinstance(benchmarks, list) and benchmarks else None
    return isinstance(first, dict) and "completed" in first and bool(first.keys() & {"rate", "streams"})


def flat_points(report: Fields, reader: type[ToolFormat]) -> Iterator[Point]:
    """Yield each benchmark; the report's summary pools them and is no level."""
    arguments = report.fields("args")
    findings = _configured_lengths(arguments)
    for index, benchmark in enumerate(report.items("benchmarks")):
        level = _level(benchmark, f"benchmarks[{index}]")
        header = Run(
            tool=reader.name,
            metric_definitions=reader.metric_definitions,
            levels=(),
            configuration=Configuration(model=model_name(arguments.text("model"))),
            arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
            findings=findings,
        )
        yield Point(header, level)


def _level(benchmark: Fields, place: str) -> Level:
    completed, duration_s = benchmark.count("completed"), benchmark.number("duration_s")
    return Level(
        work=TextWork(
            input_tokens_mean=benchmark.number("input_tokens_mean"),
            output_tokens_mean=benchmark.number("output_tokens_mean"),
        ),
        concurrency=benchmark.rate("streams"),
        offered_requests_per_s=benchmark.rate("rate"),
        requests_per_s=ratio(completed, duration_s),
        duration_s=duration_s,
        completed_count=completed,
        failed_count=benchmark.count("errored", "failed"),
        location=place,
        ttft=_latency(benchmark, "ttft"),
        tpot=_latency(benchmark, "tpot"),
        itl=_latency(benchmark, "itl"),
        e2e=_latency(benchmark, "e2e"),
    )


def _latency(benchmark: Fields, metric: str) -> Latency:
    return latency(lambda statistic: benchmark.number(f"{metric}_{statistic}_ms"))


def _configured_lengths(arguments: Fields) -> tuple[Finding, ...]:
    found = _LENGTHS.search(arguments.text("data") or "")
    if found is None:
        return ()
    message = f"{found[1]} input and {found[2]} output tokens were configured; what really ran is not in the file"
    remedy = "give input_tokens_mean and output_tokens_mean as measured"
    return (note("LENGTHS_NOT_MEASURED", message, path="work", remedy=remedy),)

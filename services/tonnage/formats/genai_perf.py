"""GenAI-Perf's profile export: JSON summary and CSV."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Level, Run
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.blocks import latency_of, lengths_of, mean_of
from tonnage.formats.reading.fields import Fields, as_count, product, ratio
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import model_name
from tonnage.formats.reading.notes import FAILURES_NOT_REPORTED, warning
from tonnage.formats.reading.sections import metric_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_SLACK: Final = 0.02


class GenAiPerf(ToolFormat):
    """Reads GenAI-Perf's summary; AIPerf, its successor, has its own reader."""

    name = "genai-perf"
    title = "GenAI-Perf (profile export JSON, CSV)"
    recognised_by = "input_config with perf_analyzer, or flat arguments, beside metric blocks of unit and avg"
    metric_definitions = "genai-perf-1"
    expects = (("request_throughput", "request_latency", "request_count", "input_config"),)
    definitions = (
        Definition("ttft", "time_to_first_token", "request sent to first token, answers with usable output"),
        Definition("tpot", "inter_token_latency", "(e2e - ttft) / (output tokens - 1) of each request, not gaps"),
        Definition("itl", "", "not written"),
        Definition("e2e", "request_latency", "request sent to last byte, answers with usable output"),
        Definition(
            "requests_per_s",
            "request_count / duration",
            "answers with usable output; the tool's request_throughput counts every answer and is kept as reported",
        ),
        Definition("duration_s", "", "request_count x output_sequence_length / output_token_throughput, computed"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim summaries of metric blocks with GenAI-Perf's arguments, or its CSV."""
        if head.kind == "table":
            columns = head.columns
            falling = columns[:2] == ("Metric", "avg") and {"p99", "p50"} <= set(columns)
            if falling and columns.index("p99") < columns.index("p50"):
                return Match(score=90, why="CSV header Metric,avg with percentiles in falling order")
            return None
        given = head.first.get("input_config")
        if "request_latency" not in head.first or not isinstance(given, dict) or "aiperf_version" in head.first:
            return None
        if "perf_analyzer" in given or {"concurrency", "endpoint_type"} & given.keys():
            return Match(score=95, why="input_config of GenAI-Perf")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a profile."""
        yield from grouped([_point(source)])


def _point(source: Source) -> Point:
    report = Fields(metric_blocks(source)) if source.head.kind == "table" else Fields(whole_document(source))
    given = report.fields("input_config")
    stimulus = given.dig("perf_analyzer.stimulus")
    concurrency = stimulus.rate("concurrency") or given.rate("concurrency")
    rate = stimulus.rate("request_rate") or given.rate("request_rate")
    names = given.raw("model_names", "model")
    model = names[0] if isinstance(names, list) and names else names
    header = Run(
        tool=GenAiPerf.name,
        metric_definitions=GenAiPerf.metric_definitions,
        levels=(),
        configuration=Configuration(model=model_name(model if isinstance(model, str) else None)),
        arrival_kind=arrival_of(concurrency, rate),
        findings=(FAILURES_NOT_REPORTED,),
    )
    return Point(header, replace(_level(report), concurrency=concurrency, offered_requests_per_s=rate))


def _level(report: Fields) -> Level:
    work = lengths_of(report)
    completed = as_count(mean_of(report, "request_count"), "request_count")
    output_per_s = mean_of(report, "output_token_throughput")
    duration_s = ratio(product(completed, work.output_tokens_mean), output_per_s)
    requests_per_s, reported = ratio(completed, duration_s), mean_of(report, "request_throughput")
    lengths = (work.input_tokens_mean, work.output_tokens_mean)
    total = sum(length for length in lengths if length is not None) if None not in lengths else None
    return Level(
        work=work,
        requests_per_s=requests_per_s,
        output_tokens_per_s=output_per_s,
        total_tokens_per_s=product(requests_per_s, total),
        reported_requests_per_s=reported,
        duration_s=duration_s,
        completed_count=completed,
        ttft=latency_of(report, "time_to_first_token"),
        tpot=latency_of(report, "inter_token_latency"),
        e2e=latency_of(report, "request_latency"),
        findings=_dropped_answers(requests_per_s, reported),
    )


def _dropped_answers(requests_per_s: float | None, reported: float | None) -> tuple[Finding, ...]:
    """Answers without visible text are counted in the tool's rate and in nothing else."""
    if requests_per_s is None or reported is None or reported <= requests_per_s * (1 + _SLACK):
        return ()
    return (
        warning(
            "ANSWERS_DROPPED",
            f"the tool counts {reported:g} answers/s, but only {requests_per_s:g}/s had usable output; "
            "all latencies are of the latter",
            path="reported_requests_per_s",
            remedy="find out why answers came without visible text, then measure again",
        ),
    )


FORMAT: Final = GenAiPerf()

"""LLMPerf and derivatives: a summary, one for each concurrency, or the list of single requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, product, ratio, scaled
from tonnage.formats.reading.jsontext import elements, whole_document
from tonnage.formats.reading.names import epoch_s, model_name
from tonnage.formats.reading.notes import hidden_failures
from tonnage.formats.reading.requests import Requests
from tonnage.formats.reading.statistics import latency
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_S_PER_MIN: Final = 60.0
_SUMMARY_MARK: Final = "results_ttft_s_mean"


class LlmPerf(ToolFormat):
    """Reads LLMPerf's summaries and individual responses."""

    name = "llmperf"
    title = "LLMPerf (summary, individual responses, per-concurrency wrapper)"
    recognised_by = "results_ttft_s_mean and other results_… keys; rows with error_code and ttft_s"
    metric_definitions = "llmperf-1"
    expects = (("results_ttft_s_mean", "num_concurrent_requests", "results_num_completed_requests_per_min"),)
    definitions = (
        Definition("ttft", "results_ttft_s", "request sent to first token; seconds in the file"),
        Definition("tpot", "", "not written: inter_token_latency_s is e2e / output tokens and is not read"),
        Definition("itl", "", "not written"),
        Definition("e2e", "results_end_to_end_latency_s", "request sent to last token; seconds in the file"),
        Definition("concurrency", "num_concurrent_requests", "size of a wave; fewer are in flight at its end"),
        Definition("requests_per_s", "results_num_completed_requests_per_min", "per minute in the file"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim summaries by their results_ keys, rows by error_code and ttft_s."""
        first = head.first
        values = first.values() if head.kind == "json-object" else ()
        if _SUMMARY_MARK in first or any(isinstance(value, dict) and _SUMMARY_MARK in value for value in values):
            return Match(score=100, why=f"key {_SUMMARY_MARK}")
        if any(key.startswith("results_") and key.endswith("_quantiles_p50") for key in head.keys):
            return Match(score=100, why="keys results_…_quantiles_p50")
        if head.kind == "json-array" and {"error_code", "ttft_s"} <= head.keys:
            return Match(score=100, why="rows with error_code and ttft_s")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield one run of a level a concurrency, or one level of single responses."""
        yield from grouped(_points(source))


def _points(source: Source) -> Iterator[Point]:
    if source.head.kind == "json-array":
        yield from _individual(source)
        return
    report = Fields(whole_document(source))
    if any(isinstance(value, dict) and _SUMMARY_MARK in value for value in report.data.values()):
        for key in report.data:
            yield _summary(report.fields(key), key)
    else:
        yield _summary(report, "")


def _summary(summary: Fields, place: str) -> Point:
    concurrency = summary.rate("num_concurrent_requests")
    requests_per_s = scaled(summary.number("results_num_completed_requests_per_min"), 1 / _S_PER_MIN)
    completed, failed = summary.count("results_num_completed_requests"), summary.count("results_number_errors")
    level = Level(
        work=TextWork(
            input_tokens_mean=summary.number("results_number_input_tokens_mean"),
            output_tokens_mean=summary.number("results_number_output_tokens_mean"),
        ),
        concurrency=concurrency,
        requests_per_s=requests_per_s,
        output_tokens_per_s=summary.number("results_mean_output_throughput_token_per_s"),
        reported_requests_per_s=requests_per_s,
        duration_s=ratio(completed, requests_per_s),
        completed_count=completed,
        failed_count=failed,
        ttft=_latency(summary, "ttft_s"),
        e2e=_latency(summary, "end_to_end_latency_s"),
        location=place,
        findings=hidden_failures(summary.count("results_num_requests_started"), completed, failed),
    )
    header = Run(
        tool=LlmPerf.name,
        metric_definitions=LlmPerf.metric_definitions,
        levels=(),
        tool_version=summary.text("version"),
        configuration=Configuration(model=model_name(summary.text("model"))),
        arrival_kind=arrival_of(concurrency, None),
    )
    return Point(header, level, epoch_s(summary.number("timestamp")))


def _latency(summary: Fields, name: str) -> Latency:
    def pick(statistic: str) -> float | None:
        key = f"results_{name}_mean" if statistic == "mean" else f"results_{name}_quantiles_{statistic}"
        return summary.number(key)

    return latency(pick, MS_PER_S)


def _individual(source: Source) -> Iterator[Point]:
    """Yield the level of single responses; they carry no clock, so there is neither duration nor rate."""
    requests = Requests()
    for place, value in elements(source):
        row = Fields(value, place)
        if "error_code" in row:
            requests.failed_count += 1
            continue
        requests.completed(
            e2e_ms=product(row.number("end_to_end_latency_s"), MS_PER_S),
            ttft_ms=product(row.number("ttft_s"), MS_PER_S),
            input_tokens=row.number("number_input_tokens"),
            output_tokens=row.number("number_output_tokens"),
        )
    header = Run(tool=LlmPerf.name, metric_definitions=LlmPerf.metric_definitions, levels=())
    if not requests.is_empty:
        yield Point(header, requests.level(duration_s=None, failures_known=True))


FORMAT: Final = LlmPerf()

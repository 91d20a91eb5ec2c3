"""Hugging Face inference-benchmarker: the JSON of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, scaled
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import iso_date, model_name
from tonnage.formats.reading.notes import hidden_failures
from tonnage.formats.reading.statistics import latency
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_WARMUP: Final = "warmup"


class HfInferenceBenchmarker(ToolFormat):
    """Reads the results of a run; the warm-up is left out."""

    name = "hf-inference-benchmarker"
    title = "Hugging Face inference-benchmarker (JSON)"
    recognised_by = "results with executor_type and total_requests"
    metric_definitions = "hf-inference-benchmarker-1"
    expects = (("config", "results", "start_time", "end_time"),)
    definitions = (
        Definition("ttft", "time_to_first_token_ms", "request sent to first token"),
        Definition("tpot", "", "not written"),
        Definition("itl", "inter_token_latency_ms", "gaps between tokens"),
        Definition("e2e", "e2e_latency_ms", "request sent to last token"),
        Definition("requests_per_s", "request_rate", "successes / duration"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim results by executor and counts."""
        results = head.first.get("results")
        first = results[0] if isinstance(results, list) and results else None
        is_ours = isinstance(first, dict) and {"executor_type", "total_requests"} <= first.keys()
        return Match(score=100, why="results with executor_type") if is_ours else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the levels but the warm-up."""
        report = Fields(whole_document(source))
        results = [item for item in report.items("results") if item.text("id") != _WARMUP]
        yield from grouped(_point(result, report) for result in results)


def _point(result: Fields, report: Fields) -> Point:
    config = result.fields("config")
    rate = config.rate("rate")
    # A paced run's max_vus is a pool to draw from, not a cap that binds.
    concurrency = None if rate is not None else config.rate("max_vus")
    requests_per_s = result.number("request_rate")
    completed, failed = result.count("successful_requests"), result.count("failed_requests")
    level = Level(
        work=TextWork(
            input_tokens_mean=result.number("prompt_tokens_mean"),
            output_tokens_mean=result.number("output_tokens_mean"),
        ),
        concurrency=concurrency,
        offered_requests_per_s=rate,
        requests_per_s=requests_per_s,
        output_tokens_per_s=result.number("token_throughput_secs"),
        reported_requests_per_s=requests_per_s,
        duration_s=scaled(result.number("duration_ms"), 1 / MS_PER_S),
        completed_count=completed,
        failed_count=failed,
        ttft=_latency(result, "time_to_first_token_ms"),
        itl=_latency(result, "inter_token_latency_ms"),
        e2e=_latency(result, "e2e_latency_ms"),
        location=result.text("id") or result.path,
        findings=hidden_failures(result.count("total_requests"), completed, failed),
    )
    whole = report.fields("config")
    header = Run(
        tool=HfInferenceBenchmarker.name,
        metric_definitions=HfInferenceBenchmarker.metric_definitions,
        levels=(),
        configuration=Configuration(model=model_name(whole.text("model", "tokenizer"))),
        arrival_kind=arrival_of(concurrency, rate),
    )
    return Point(header, level, iso_date(report.raw("start_time")))


def _latency(result: Fields, name: str) -> Latency:
    """Return one latency: a block, or flat keys cut to whole numbers in older versions."""
    if isinstance(result.raw(name), dict):
        block = result.fields(name)
        return latency(lambda key: block.number("avg" if key == "mean" else key))
    return latency(lambda key: result.number(f"{name}_{'avg' if key == 'mean' else key}"))


FORMAT: Final = HfInferenceBenchmarker()

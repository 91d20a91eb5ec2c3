"""GKE / AI-Hypercomputer inference-benchmark: one JSON object, units that changed with the version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, ratio, scaled
from tonnage.formats.reading.jsontext import documents
from tonnage.formats.reading.names import model_name, short_date
from tonnage.formats.reading.notes import TIME_ZONE_NOT_STATED, hidden_failures
from tonnage.formats.reading.statistics import latency
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_ERRORS: Final = (
    "ClientConnectorError",
    "TimeoutError",
    "ContentTypeError",
    "ClientOSError",
    "ServerDisconnectedError",
    "unknown_error",
)
_POOL: Final = "weighted"
_S_PER_MIN: Final = 60.0


class GkeInferenceBenchmark(ToolFormat):
    """Reads one model's result, or the one weighted over models."""

    name = "gke-inference-benchmark"
    title = "GKE / AI-Hypercomputer inference-benchmark"
    recognised_by = "metrics, dimensions and summary_stats"
    metric_definitions = "gke-inference-benchmark-1"
    expects = (("metrics", "dimensions", "config", "summary_stats"),)
    definitions = (
        Definition("ttft", "avg_TTFT_ms, avg_TTFT", "request sent to first token; seconds without _ms"),
        Definition("tpot", "", "not written: normalized_time_per_output_token is e2e / tokens and is not read"),
        Definition("itl", "avg_ITL_ms, avg_ITL", "gaps between chunks; seconds without _ms"),
        Definition("e2e", "avg_latency_ms, avg_latency", "request sent to last token; milliseconds in both"),
        Definition("requests_per_s", "", "succeeded / benchmark_time; throughput_rps counts attempts"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the three blocks."""
        wanted = {"metrics", "dimensions", "summary_stats"}
        return Match(score=100, why="keys metrics, dimensions, summary_stats") if wanted <= head.keys else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a file."""
        yield from grouped(_point(Fields(value, place), place) for place, value in documents(source))


def _point(report: Fields, place: str) -> Point:
    metrics, dimensions = report.fields("metrics"), report.fields("dimensions")
    rate = metrics.rate("request_rate")
    measured_at = short_date(dimensions.text("date"))
    model = dimensions.text("model_id")
    header = Run(
        tool=GkeInferenceBenchmark.name,
        metric_definitions=GkeInferenceBenchmark.metric_definitions,
        levels=(),
        configuration=Configuration(model=None if model == _POOL else model_name(model)),
        arrival_kind=arrival_of(None, rate),
        findings=() if measured_at is None else (TIME_ZONE_NOT_STATED,),
    )
    return Point(header, _level(metrics, rate, place), measured_at)


def _level(metrics: Fields, rate: float | None, place: str) -> Level:
    completed, duration_s = metrics.count("num_prompts_succeeded"), metrics.number("benchmark_time")
    failed, total = _failed(metrics), metrics.number("tokens_per_sec")
    return Level(
        work=TextWork(
            input_tokens_mean=metrics.number("avg_input_len"), output_tokens_mean=metrics.number("avg_output_len")
        ),
        offered_requests_per_s=rate,
        requests_per_s=ratio(completed, duration_s),
        output_tokens_per_s=metrics.number("throughput"),
        total_tokens_per_s=total if total is not None else scaled(metrics.number("tokens_per_min"), 1 / _S_PER_MIN),
        reported_requests_per_s=metrics.number("throughput_rps"),
        duration_s=duration_s,
        completed_count=completed,
        failed_count=failed,
        ttft=_latency(metrics, "TTFT", MS_PER_S),
        itl=_latency(metrics, "ITL", MS_PER_S),
        e2e=_latency(metrics, "latency", 1.0),
        location=place,
        findings=hidden_failures(metrics.count("num_prompts_attempted"), completed, failed),
    )


def _failed(metrics: Fields) -> int | None:
    """Return the errors by kind, summed: the per-model file's attempted count leaves them out."""
    counts = [count for key in _ERRORS if (count := metrics.count(key)) is not None]
    return sum(counts) if counts else None


def _latency(metrics: Fields, name: str, old_to_ms: float) -> Latency:
    """Return one latency: keys ending in _ms are milliseconds, without it the old version's unit."""
    is_new = f"avg_{name}_ms" in metrics
    ending = "_ms" if is_new else ""
    prefixes = {"mean": "avg", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99"}
    return latency(lambda key: metrics.number(f"{prefixes[key]}_{name}{ending}"), 1.0 if is_new else old_to_ms)


FORMAT: Final = GkeInferenceBenchmark()

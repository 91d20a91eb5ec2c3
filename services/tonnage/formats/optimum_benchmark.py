"""optimum-benchmark (Hugging Face): phases of a fixed batch, without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, Telemetry, TextWork
from tonnage.errors import MalformedReport
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, grouped
from tonnage.formats.reading.fields import Fields
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import model_name
from tonnage.formats.reading.notes import NOT_UNDER_LOAD
from tonnage.formats.reading.statistics import block
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_STATISTICS: Final = {"mean": "mean", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99"}
_LARGEST_BYTES: Final = 2**53
_BYTES_PER_MB: Final = 10**6
_PHASES: Final = frozenset({"load_model", "prefill", "decode"})


class OptimumBenchmark(ToolFormat):
    """Reads the phases as one level that carries no capacity."""

    name = "optimum-benchmark"
    title = "optimum-benchmark (benchmark.json, benchmark_report.json)"
    recognised_by = "load_model and decode blocks, alone or under report"
    metric_definitions = "optimum-benchmark-1"
    expects = (("load_model", "prefill", "decode", "per_token"),)
    definitions = (
        Definition("ttft", "prefill.latency", "time of a batch's prefill; seconds"),
        Definition("tpot", "per_token.latency", "gap between tokens of a fixed batch; seconds"),
        Definition("output_tokens_per_s", "decode.throughput", "decode phase of the batch"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the phase blocks."""
        report = head.first.get("report")
        keys = head.keys | (frozenset(report) if isinstance(report, dict) else frozenset())
        return Match(score=90, why="blocks load_model and decode") if {"load_model", "decode"} <= keys else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a report."""
        document = Fields(whole_document(source))
        report = document.fields("report") if "report" in document else document
        yield from grouped([_point(report, document.fields("config"))])


def _point(report: Fields, config: Fields) -> Point:
    shapes, backend = config.dig("scenario.input_shapes"), config.fields("backend")
    rate = report.dig("decode.throughput")
    level = Level(
        work=TextWork(
            input_tokens_mean=shapes.number("sequence_length"),
            output_tokens_mean=config.dig("scenario.generate_kwargs").number("max_new_tokens"),
        ),
        concurrency=shapes.rate("batch_size"),
        output_tokens_per_s=rate.number("value") if rate.text("unit") == "tokens/s" else None,
        ttft=_latency(report, "prefill"),
        tpot=_latency(report, "per_token"),
        telemetry=_telemetry(report),
        findings=(NOT_UNDER_LOAD,),
        usable=False,
    )
    header = Run(
        tool=OptimumBenchmark.name,
        metric_definitions=OptimumBenchmark.metric_definitions,
        levels=(),
        configuration=Configuration(
            model=model_name(backend.text("model")),
            weight_precision=backend.text("quantization_scheme", "torch_dtype"),
            engine=backend.text("name"),
        ),
    )
    return Point(header, level)


def _latency(report: Fields, phase: str) -> Latency:
    return block(report.fields(phase).fields("latency"), _STATISTICS, MS_PER_S)


def _telemetry(report: Fields) -> Telemetry | None:
    peaks = [
        value
        for phase in _PHASES
        if (value := report.fields(phase).fields("memory").number("max_global_vram")) is not None
    ]
    if not peaks:
        return None
    peak = max(peaks) * _BYTES_PER_MB
    if not 0 <= peak < _LARGEST_BYTES:
        cure = "send the file as the tool wrote it"
        raise MalformedReport.field("memory.max_global_vram", max(peaks), "is no size of a memory", cure)
    return Telemetry(vram_peak_bytes=round(peak))


FORMAT: Final = OptimumBenchmark()

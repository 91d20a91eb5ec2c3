"""AIPerf's JSON lines: one record a request, warm-up left out, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Run
from tonnage.formats.reading.assemble import Point
from tonnage.formats.reading.fields import Fields, as_number, scaled
from tonnage.formats.reading.jsontext import lines
from tonnage.formats.reading.names import epoch_s
from tonnage.formats.reading.requests import Requests

if TYPE_CHECKING:
    from tonnage.formats.base import Source, ToolFormat

_NS_PER_S: Final = 1e9


def record_point(source: Source, reader: type[ToolFormat]) -> Point:
    """Return the level of all profiling requests; cancelled ones count neither way."""
    requests = Requests()
    for number, value in lines(source):
        record = Fields(value, f"line {number}")
        metadata = record.fields("metadata")
        if metadata.text("benchmark_phase", "phase_kind") != "warmup":
            _add(requests, record, metadata)
    header = Run(tool=reader.name, metric_definitions=reader.metric_definitions, levels=())
    level = requests.level(duration_s=requests.duration_s, failures_known=True)
    return Point(header, level, epoch_s(requests.first_start_s))


def _add(requests: Requests, record: Fields, metadata: Fields) -> None:
    start, end = metadata.number("request_start_ns"), metadata.number("request_end_ns")
    requests.spans(scaled(start, 1 / _NS_PER_S), scaled(end, 1 / _NS_PER_S))
    if "error" in record:
        requests.failed_count += 1
        return
    if metadata.raw("was_cancelled") is True:
        return
    metrics = record.fields("metrics")
    requests.completed(
        e2e_ms=_value(metrics, "request_latency"),
        ttft_ms=_value(metrics, "time_to_first_token"),
        tpot_ms=_value(metrics, "inter_token_latency"),
        input_tokens=_value(metrics, "input_sequence_length"),
        output_tokens=_value(metrics, "output_sequence_length"),
    )
    gaps = metrics.fields("inter_chunk_latency").raw("value")
    if isinstance(gaps, list):
        path = f"{metrics.path}.inter_chunk_latency"
        requests.gaps.extend(gap for item in gaps if (gap := as_number(item, path)) is not None)


def _value(metrics: Fields, name: str) -> float | None:
    return metrics.fields(name).number("value")

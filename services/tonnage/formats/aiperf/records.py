"""AIPerf's JSON lines: one record a request, warm-up left out, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from tonnage.domain.measurement import Run
from tonnage.formats.reading.assemble import Point
from tonnage.formats.reading.fields import scaled
from tonnage.formats.reading.jsontext import typed_lines
from tonnage.formats.reading.names import epoch_s
from tonnage.formats.reading.requests import Requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.formats.base import Source, ToolFormat

_S_PER_NS: Final = 1e-9


class _Value(msgspec.Struct, frozen=True):
    value: float | None = None


class _Gaps(msgspec.Struct, frozen=True):
    value: list[float] | None = None


class _Metrics(msgspec.Struct, frozen=True):
    request_latency: _Value = _Value()
    time_to_first_token: _Value = _Value()
    inter_token_latency: _Value = _Value()
    input_sequence_length: _Value = _Value()
    output_sequence_length: _Value = _Value()
    inter_chunk_latency: _Gaps = _Gaps()


class _Metadata(msgspec.Struct, frozen=True):
    benchmark_phase: str | None = None
    request_start_ns: float | None = None
    request_end_ns: float | None = None
    was_cancelled: bool | None = None


class _Record(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    metrics: _Metrics = _Metrics()
    error: dict[str, object] | str | None = None


def record_points(source: Source, reader: type[ToolFormat]) -> Iterator[Point]:
    """Yield the level of all profiling requests; cancelled ones count neither way."""
    requests = Requests()
    for record in typed_lines(source, _Record):
        if record.metadata.benchmark_phase != "warmup":
            _add(requests, record)
    header = Run(tool=reader.name, metric_definitions=reader.metric_definitions, levels=())
    level = requests.level(duration_s=requests.duration_s, failures_known=True)
    if not requests.is_empty:
        yield Point(header, level, epoch_s(requests.first_start_s))


def _add(requests: Requests, record: _Record) -> None:
    metadata, metrics = record.metadata, record.metrics
    end_s = scaled(metadata.request_end_ns, _S_PER_NS)
    requests.spans(scaled(metadata.request_start_ns, _S_PER_NS), end_s)
    if record.error is not None:
        requests.failed_count += 1
        return
    if metadata.was_cancelled:
        return
    requests.completed(
        e2e_ms=metrics.request_latency.value,
        ttft_ms=metrics.time_to_first_token.value,
        tpot_ms=metrics.inter_token_latency.value,
        input_tokens=metrics.input_sequence_length.value,
        output_tokens=metrics.output_sequence_length.value,
        end_s=end_s,
    )
    if metrics.inter_chunk_latency.value is not None:
        requests.gaps.extend(metrics.inter_chunk_latency.value)

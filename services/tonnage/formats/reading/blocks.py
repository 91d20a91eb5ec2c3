"""Metric blocks ``{unit, avg, p1 … p99, min, max, std}`` as GenAI-Perf and AIPerf write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Latency, TextWork
from tonnage.errors import MalformedReport
from tonnage.formats.reading.statistics import latency

if TYPE_CHECKING:
    from tonnage.formats.reading.fields import Fields

_TO_MS: Final = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "sec": 1e3, "seconds": 1e3, "milliseconds": 1.0}


def mean_of(metrics: Fields, name: str) -> float | None:
    """Return the average of a block, which for counts and totals is the value itself."""
    return metrics.fields(name).number("avg", "mean")


def latency_of(metrics: Fields, name: str) -> Latency:
    """Return the statistics of a block in the unit it states; raises ``MalformedReport`` for an unknown one."""
    block = metrics.fields(name)
    unit = (block.text("unit", "units") or "ms").lower()
    if unit not in _TO_MS:
        raise MalformedReport.field(f"{block.path}.unit", unit, "is no unit of time", "send the file as written")
    return latency(
        lambda statistic: block.number("avg", "mean") if statistic == "mean" else block.number(statistic),
        _TO_MS[unit],
    )


def lengths_of(metrics: Fields) -> TextWork:
    """Return the mean sequence lengths; output includes reasoning tokens."""
    return TextWork(
        input_tokens_mean=mean_of(metrics, "input_sequence_length"),
        output_tokens_mean=mean_of(metrics, "output_sequence_length"),
    )

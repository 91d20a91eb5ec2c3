"""AIPerf's CSVs: the profile (tables one after the other) and the sweep (columns …_mean, …_cv)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Run
from tonnage.formats.aiperf.summary import metrics_level
from tonnage.formats.reading.assemble import Point, arrival_of
from tonnage.formats.reading.blocks import mean_of
from tonnage.formats.reading.fields import Fields, as_count, as_rate
from tonnage.formats.reading.notes import note
from tonnage.formats.reading.sections import metric_blocks
from tonnage.formats.reading.tables import cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.formats.base import Source, ToolFormat

_TWO_DECIMALS: Final = note(
    "ROUNDED_VALUES", "the CSV holds two decimals and neither model nor load", remedy="send the JSON beside it"
)
_MEAN: Final = re.compile(r"(.+)_mean")
_UNITS: Final = {"time_to_first_token": "ms", "inter_token_latency": "ms", "request_latency": "ms"}


def profile_point(source: Source, reader: type[ToolFormat]) -> Point:
    """Return the level of a profile's CSV."""
    metrics = Fields(metric_blocks(source))
    failed = as_count(mean_of(metrics, "error_request_count"), "Error Request Count") or 0
    return Point(_header(reader, None, None), metrics_level(metrics, failed=failed))


def sweep_table_points(source: Source, reader: type[ToolFormat]) -> Iterator[Point]:
    """Yield the level of each row of a sweep's first table; what follows it are rankings and metadata."""
    found = cells(source)
    _, names = next(found)
    for number, row in found:
        if len(row) != len(names):
            return
        place = f"row {number}"
        values = dict(zip(names, row, strict=True))
        metrics = Fields(_means(values), place)
        concurrency = as_rate(values.get("concurrency"), f"{place}, concurrency")
        rate = as_rate(values.get("request_rate"), f"{place}, request_rate")
        failed = as_count(mean_of(metrics, "error_request_count"), place)
        level = metrics_level(metrics, failed=failed, concurrency=concurrency, rate=rate, location=place)
        yield Point(_header(reader, concurrency, rate), level)


def _means(row: dict[str, str]) -> dict[str, object]:
    """Return blocks of means: the other columns spread over trials, and are no percentiles."""
    return {
        found[1]: {"avg": cell, "unit": _UNITS.get(found[1], "ms")}
        for name, cell in row.items()
        if cell and (found := _MEAN.fullmatch(name)) is not None
    }


def _header(reader: type[ToolFormat], concurrency: float | None, rate: float | None) -> Run:
    return Run(
        tool=reader.name,
        metric_definitions=reader.metric_definitions,
        levels=(),
        arrival_kind=arrival_of(concurrency, rate),
        findings=(_TWO_DECIMALS,),
    )

"""Rows of published runs, read from the columns of a CSV, as figures with traits; what cannot be used is said."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tonnage.capacity.prediction.samples import Sample, Traits
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

METRICS: Final = ("throughput", "ttft", "tpot", "ttft_p99", "tpot_p99")
"""Output tokens/s (else all tokens/s where lengths are unknown), and milliseconds: medians, else means; and p99."""
_COLUMNS: Final = ("model", "gpu", "engine", "concurrency", "request_rate", "isl_mean", "osl_mean")
_IDENTITY: Final = ("precision", "gpu", "gpu_count", "tp", "pp", "ep", "dp", "engine")
_LATENCIES: Final = {
    "ttft": ("ttft_p50_ms", "ttft_mean_ms"),
    "tpot": ("tpot_p50_ms", "tpot_mean_ms"),
    "ttft_p99": ("ttft_p99_ms",),
    "tpot_p99": ("tpot_p99_ms",),
}
_LITTLE_SLACK: Final = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured point; ``barred`` says why it is no truth to judge by, "" where it is one."""

    index: int
    curve: str
    traits: Traits
    load: float
    figures: Mapping[str, float] = field(default_factory=dict)
    barred: str = ""

    def sample(self, metric: str) -> Sample | None:
        """Return the row's figure of a metric; None where it has none, or is barred."""
        value = self.figures.get(metric)
        if value is None or self.barred:
            return None
        return Sample(curve=self.curve, traits=self.traits, load=self.load, value=value)


def rows_of(table: Iterable[Mapping[str, str]], name: str) -> tuple[Row, ...]:
    """Return the rows that state a load and a figure; ``name`` is the file's in errors.

    Raises ``InvalidInput`` for a missing column and for a cell that should be a number and is none.
    """
    rows = []
    for index, cells in enumerate(table):
        for column in _COLUMNS:
            if column not in cells:
                raise InvalidInput.field(
                    f"{name}.{column}", None, "is not a column", "use the columns of published runs, see docs/accuracy"
                )
        row = _row(index, cells, name)
        if row is not None:
            rows.append(row)
    return tuple(rows)


def _row(index: int, cells: Mapping[str, str], name: str) -> Row | None:
    numbers = _Numbers(cells, f"{name}.rows[{index}]")
    closed, offered = numbers.get("concurrency"), numbers.get("request_rate")
    load = closed if closed is not None else offered
    given, out = numbers.positive("isl_mean"), numbers.positive("osl_mean")
    figures = _figures(numbers, given, out)
    if load is None or not load > 0 or not figures:
        return None
    traits = Traits(
        model=cells["model"],
        configuration=tuple(_canonical(cells.get(column, "")) for column in _IDENTITY),
        precision=cells.get("precision", ""),
        accelerator=cells["gpu"],
        engine=cells["engine"],
        accelerator_count=numbers.positive("gpu_count"),
        variant=(cells.get("mode", ""), cells.get("spec_decode", "")),
        build="|".join((cells.get("source_id", ""), cells.get("engine_version", ""))),
        arrival="closed" if closed is not None else "open",
        input_tokens=given,
        output_tokens=out,
    )
    barred = "" if _keeps_little(cells, numbers) else "requests/s x mean time misses the concurrency by over 15 %"
    return Row(index=index, curve=_curve(cells), traits=traits, load=load, figures=figures, barred=barred)


@dataclass(frozen=True, slots=True)
class _Numbers:
    cells: Mapping[str, str]
    path: str

    def get(self, column: str) -> float | None:
        """Return a finite number, None where the cell is empty or the column absent."""
        text = self.cells.get(column) or ""
        if not text.strip():
            return None
        try:
            value = float(text)
        except ValueError as error:
            raise InvalidInput.field(f"{self.path}.{column}", text, "is not a number", "empty means unknown") from error
        return value if math.isfinite(value) else None

    def positive(self, column: str) -> float | None:
        """Return a number above 0; 0 tokens or accelerators are not known ones."""
        value = self.get(column)
        return value if value is not None and value > 0 else None


def _canonical(text: str) -> str:
    return text.strip().removesuffix(".0")


def _figures(numbers: _Numbers, given: float | None, out: float | None) -> dict[str, float]:
    found = {}
    throughput = numbers.get("output_tps")
    if throughput is None:
        throughput = numbers.get("total_tps")
        if throughput is not None and given is not None and out is not None:
            throughput *= out / (given + out)
    if throughput is not None:
        found["throughput"] = throughput
    for metric, columns in _LATENCIES.items():
        value = next((value for column in columns if (value := numbers.get(column)) is not None), None)
        if value is not None:
            found[metric] = value
    return {metric: value for metric, value in found.items() if value > 0}


def _keeps_little(cells: Mapping[str, str], numbers: _Numbers) -> bool:
    """Tell whether Little's law holds within 15 %, where the row states all three; a stated verdict counts."""
    flag = cells.get("littles_flag", "")
    if flag:
        return flag != "fail"
    rate, mean_ms, load = (numbers.get(name) for name in ("request_throughput_rps", "e2e_mean_ms", "concurrency"))
    if rate is None or mean_ms is None or load is None or not load > 0:
        return True
    return abs(rate * mean_ms / 1000.0 / load - 1.0) <= _LITTLE_SLACK


def _curve(cells: Mapping[str, str]) -> str:
    """Return the curve's name, or what tells curves apart where the file names none."""
    named = cells.get("curve_id", "")
    if named:
        return named
    columns = ("source_id", "model", *_IDENTITY, "engine_version", "isl_mean", "osl_mean", "mode", "spec_decode")
    return "|".join(cells.get(column, "") for column in columns)

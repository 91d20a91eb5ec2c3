"""EvalScope's printed tables: the report over several loads, and the summary of one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.formats.reading.fields import Fields, as_count, as_number, as_rate, as_text
from tonnage.formats.reading.text import box_rows
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

_METRIC: Final = re.compile(r"(TTFT|TPOT|ITL|Latency) \((ms|s)\)")
_METRICS: Final = {"TTFT": "ttft", "TPOT": "tpot", "ITL": "itl", "Latency": "e2e"}
_SECTIONS: Final = {"Performance Overview": "overview", "Per-Request Metrics": "requests", "Workload": "", "Basic": ""}
_COLUMNS: Final = {"avg": "mean_ms", "50%": "p50_ms", "p50": "p50_ms", "90%": "p90_ms", "p90": "p90_ms"}
_TAILS: Final = {"95%": "p95_ms", "p95": "p95_ms", "99%": "p99_ms", "p99": "p99_ms"}
_STATISTICS: Final = {**_COLUMNS, **_TAILS}
_PER_CENT: Final = 100.0


def overview_levels(lines: list[str]) -> tuple[str | None, list[Level]]:
    """Return the model and one level a concurrency of a performance report."""
    model: str | None = None
    levels: dict[tuple[str, str], Level] = {}
    section, header, load = "", list[str](), ("", "")
    for line in lines:
        section = next((name for title, name in _SECTIONS.items() if title in line), section)
        for row in box_rows([line]):
            if row[0] == "Model" and len(row) > 1:
                model = as_text(row[1])
            elif row[0].startswith("Conc"):
                header = row
            elif section == "overview" and len(row) == len(header):
                levels[row[0], row[1]] = _overview(dict(zip(header, row, strict=True)))
            elif section == "requests" and len(row) == len(header):
                load = (row[0], row[1]) if row[0] else load
                cells = dict(zip(header, row, strict=True))
                if load in levels:
                    levels[load] = _with_row(levels[load], cells.get("Metric", ""), cells)
    return model, list(levels.values())


def _overview(cells: dict[str, str]) -> Level:
    sent = as_count(cells.get("Num"), "Num")
    share = as_number((cells.get("Success") or "").rstrip("%"), "Success")
    completed = None if sent is None or share is None else round(sent * share / _PER_CENT)
    requests_per_s = as_number(cells.get("RPS"), "RPS")
    return Level(
        concurrency=as_rate(cells.get("Conc."), "Conc."),
        offered_requests_per_s=as_rate(cells.get("Rate"), "Rate"),
        requests_per_s=requests_per_s,
        output_tokens_per_s=as_number(cells.get("Gen/s"), "Gen/s"),
        reported_requests_per_s=requests_per_s,
        completed_count=completed,
        failed_count=None if sent is None or completed is None else sent - completed,
        location=f"concurrency {cells.get('Conc.')}",
    )


def _with_row(level: Level, name: str, cells: dict[str, str]) -> Level:
    """Return the level with one printed row: a latency, or a mean length."""
    if name.lower() in {"input tokens", "output tokens"}:
        work = level.work if isinstance(level.work, TextWork) else TextWork()
        key = f"{name.split(maxsplit=1)[0].lower()}_tokens_mean"
        mean = as_number(cells.get("avg"), name)
        return level if mean is None else replace(level, work=replace(work, **{key: mean}))
    found = _METRIC.fullmatch(name)
    if found is None:
        return level
    to_ms = 1.0 if found[2] == "ms" else MS_PER_S
    stated = {
        ours: number * to_ms
        for column, ours in _STATISTICS.items()
        if (number := as_number(cells.get(column), name)) is not None
    }
    metric = _METRICS[found[1]]
    latency: Latency = getattr(level, metric)
    return replace(level, **{metric: replace(latency, **stated)})  # type: ignore[arg-type]  # its field


def single_level(lines: list[str]) -> Level:
    """Return the level of "Benchmarking summary:" and "Percentile results:"; of several, the last."""
    starts = [number for number, line in enumerate(lines) if "Benchmarking summary:" in line]
    rows = list(box_rows(lines[starts[-1] if starts else 0 :]))
    pairs = {row[0]: row[1] for row in rows if len(row) == 2}  # noqa: PLR2004 -- Metric and Value
    level = _of_pairs(Fields(pairs))
    for name in ("Latency (s)", "TTFT (ms)", "TPOT (ms)", "ITL (ms)"):
        mean = pairs.get("Avg Latency (s)" if name == "Latency (s)" else name)
        level = _with_row(level, name, {"avg": mean or ""})
    for name, cells in _percentile_rows(rows):
        level = _with_row(level, name, cells)
    return level


def _of_pairs(pairs: Fields) -> Level:
    counts = (pairs.text("Total / Success / Failed") or "").split("/")
    known = len(counts) == 3  # noqa: PLR2004 -- total, success, failed
    return Level(
        work=TextWork(
            input_tokens_mean=pairs.number("Avg Input Tokens"), output_tokens_mean=pairs.number("Avg Output Tokens")
        ),
        concurrency=pairs.rate("Concurrency"),
        offered_requests_per_s=pairs.rate("Request Rate (req/s)"),
        requests_per_s=pairs.number("Req Throughput (req/s)"),
        output_tokens_per_s=pairs.number("Output Throughput (tok/s)"),
        total_tokens_per_s=pairs.number("Total Throughput (tok/s)"),
        reported_requests_per_s=pairs.number("Req Throughput (req/s)"),
        duration_s=pairs.number("Test Duration (s)"),
        completed_count=as_count(counts[1], "Success") if known else None,
        failed_count=as_count(counts[2], "Failed") if known else None,
    )


def _percentile_rows(rows: list[list[str]]) -> Iterator[tuple[str, dict[str, str]]]:
    header: list[str] = []
    for row in rows:
        if row[0] == "Metric" and "50%" in row:
            header = row
        elif header and len(row) == len(header):
            yield row[0], dict(zip(header, row, strict=True))

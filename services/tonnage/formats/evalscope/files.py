"""EvalScope's two JSON files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.formats.reading.notes import hidden_failures
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from tonnage.formats.reading.fields import Fields

_RANKS: Final = {"50%": "p50_ms", "90%": "p90_ms", "95%": "p95_ms", "99%": "p99_ms"}
_ROW_NAMES: Final = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2e": "Latency"}


def summary_level(summary: Fields) -> Level:
    """Return the level of means that a benchmark_summary.json holds, of 1.x or earlier."""
    sent = summary.count("Total Requests", "Total requests")
    completed = summary.count("Success Requests", "Succeed requests")
    failed = summary.count("Failed Requests", "Failed requests")
    return Level(
        work=TextWork(
            input_tokens_mean=summary.number("Avg Input Tokens", "Average input tokens per request"),
            output_tokens_mean=summary.number("Avg Output Tokens", "Average output tokens per request"),
        ),
        concurrency=summary.rate("Concurrency", "Number of concurrency"),
        offered_requests_per_s=summary.rate("Request Rate (req/s)"),
        requests_per_s=summary.number("Req Throughput (req/s)", "Request throughput (req/s)"),
        output_tokens_per_s=summary.number("Output Throughput (tok/s)", "Output token throughput (tok/s)"),
        total_tokens_per_s=summary.number("Total Throughput (tok/s)", "Total token throughput (tok/s)"),
        reported_requests_per_s=summary.number("Req Throughput (req/s)", "Request throughput (req/s)"),
        duration_s=summary.number("Test Duration (s)", "Time taken for tests (s)"),
        completed_count=completed,
        failed_count=failed,
        ttft=_mean(summary, "Avg TTFT", "Average time to first token"),
        tpot=_mean(summary, "Avg TPOT", "Average time per output token"),
        itl=_mean(summary, "Avg ITL", "Average inter-token latency"),
        e2e=_mean(summary, "Avg Latency", "Average latency"),
        findings=hidden_failures(sent, completed, failed),
    )


def _mean(summary: Fields, *names: str) -> Latency:
    for name in names:
        for unit, to_ms in (("ms", 1.0), ("s", MS_PER_S)):
            value = summary.number(f"{name} ({unit})")
            if value is not None:
                return Latency(mean_ms=value * to_ms)
    return Latency()


def percentile_level(document: Fields) -> Level:
    """Return the level of percentiles that a benchmark_percentile.json holds."""
    level = Level()
    for row in document.items("rows"):
        rank = _RANKS.get(row.text("Percentiles") or "")
        if rank is None:
            continue
        found = {
            metric: replace(level.latency(metric), **{rank: _value_ms(row, name)})  # type: ignore[arg-type]
            for metric, name in _ROW_NAMES.items()
        }
        level = replace(level, **found)  # type: ignore[arg-type]  # the names of its fields
    return level


def _value_ms(row: Fields, name: str) -> float | None:
    for unit, to_ms in (("ms", 1.0), ("s", MS_PER_S)):
        value = row.number(f"{name} ({unit})")
        if value is not None:
            return value * to_ms
    return None

"""The result block that vLLM's and SGLang's serving benchmarks print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, ratio
from tonnage.formats.reading.notes import FAILURES_NOT_REPORTED, note
from tonnage.formats.reading.statistics import latency
from tonnage.formats.reading.text import last_block, plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_TITLE: Final = "Serving Benchmark Result"
_PREFIXES: Final = {"mean": "Mean", "p50": "Median", "p90": "P90", "p95": "P95", "p99": "P99"}
_ROUNDED: Final = note("ROUNDED_VALUES", "the console prints two decimals", remedy="send the file of --save-result")


class ServingConsole(ToolFormat):
    """Reads the last result block of a log; both tools print the same labels."""

    name = "serving-console"
    title = "vLLM bench serve and SGLang bench_serving, printed result"
    recognised_by = "Serving Benchmark Result"
    metric_definitions = "vllm-serve-1"
    expects = ()
    definitions = (
        Definition("ttft", "Mean TTFT (ms) …", "request sent to first streamed chunk"),
        Definition("tpot", "Mean TPOT (ms) …", "(e2e - ttft) / (output tokens - 1), over requests"),
        Definition("itl", "Mean ITL (ms) …", "gaps between streamed chunks, over all gaps"),
        Definition("e2e", "Mean E2EL (ms) …, Mean E2E Latency (ms) …", "request sent to last chunk"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the block's title, or a log of the benchmark whose block lies further on."""
        if head.kind not in {"text", "table", "yaml"}:
            return None
        if _TITLE in head.text:
            return Match(score=100, why=_TITLE)
        started = "Starting main benchmark run" in head.text or "#Input tokens" in head.text
        return Match(score=60, why="log of a serving benchmark") if started else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of the last block."""
        lines = plain_lines(source)
        if not any(_TITLE in line for line in lines):
            return
        said = Fields(_labels(last_block(lines, _TITLE)))
        is_sglang = "Backend" in said
        level = _level(said)
        header = Run(
            tool="sglang-bench-serving" if is_sglang else "vllm-bench-serve",
            metric_definitions="sglang-serving-1" if is_sglang else self.metric_definitions,
            levels=(),
            configuration=Configuration(engine="sglang" if said.text("Backend") == "sglang" else None),
            arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
            findings=(_ROUNDED,) if level.failed_count is not None else (_ROUNDED, FAILURES_NOT_REPORTED),
        )
        yield from grouped([Point(header, level)])


def _labels(block: list[str]) -> dict[str, object]:
    """Return label and value of each line; "not set" is no value."""
    found: dict[str, object] = {}
    for line in block:
        label, colon, value = line.rpartition(":")
        if colon and label.strip():
            found.setdefault(label.strip(), None if value.strip() == "not set" else value.strip())
    return found


def _level(said: Fields) -> Level:
    completed, duration_s = said.count("Successful requests"), said.number("Benchmark duration (s)")
    requests_per_s = said.number("Request throughput (req/s)")
    return Level(
        work=TextWork(
            input_tokens_mean=ratio(said.number("Total input tokens"), completed),
            output_tokens_mean=ratio(said.number("Total generated tokens"), completed),
        ),
        concurrency=said.rate("Maximum request concurrency", "Max request concurrency"),
        offered_requests_per_s=said.rate("Request rate configured (RPS)", "Traffic request rate"),
        requests_per_s=requests_per_s,
        output_tokens_per_s=said.number("Output token throughput (tok/s)"),
        total_tokens_per_s=said.number("Total token throughput (tok/s)", "Total Token throughput (tok/s)"),
        reported_requests_per_s=requests_per_s,
        duration_s=duration_s,
        completed_count=completed,
        failed_count=said.count("Failed requests"),
        ttft=_latency(said, "TTFT"),
        tpot=_latency(said, "TPOT"),
        itl=_latency(said, "ITL"),
        e2e=_latency(said, "E2EL", "E2E Latency"),
    )


def _latency(said: Fields, *names: str) -> Latency:
    return latency(lambda key: said.number(*(f"{_PREFIXES[key]} {name} (ms)" for name in names)))


FORMAT: Final = ServingConsole()

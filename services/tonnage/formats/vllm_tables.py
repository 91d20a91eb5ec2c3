"""vLLM's other results: nightly tables, the PyTorch benchmark form, and the offline throughput and latency benches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.errors import MalformedReport
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, as_number, as_rate, product
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import model_name
from tonnage.formats.reading.notes import FAILURES_NOT_REPORTED, NOT_UNDER_LOAD
from tonnage.formats.reading.statistics import latency
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tonnage.domain.finding import Finding

_PREFIXES: Final = {"mean": "Mean", "p50": "Median", "p90": "P90", "p95": "P95", "p99": "P99"}
_KEYS: Final = {"mean": ("mean",), "p50": ("p50", "median"), "p90": ("p90",), "p95": ("p95",), "p99": ("p99",)}
_RATE: Final = re.compile(r"_qps_([\d.]+|inf)")
_PARALLEL: Final = re.compile(r"_(tp|pp)(\d+)(?=_|$)")
_THROUGHPUT: Final = frozenset({"elapsed_time", "requests_per_second", "tokens_per_second"})
_LATENCY: Final = frozenset({"avg_latency", "latencies", "percentiles"})


class VllmTables(ToolFormat):
    """Reads results that vLLM's continuous benchmarks leave beside the serving files."""

    name = "vllm-tables"
    title = "vLLM nightly tables, PyTorch form, bench throughput, bench latency"
    recognised_by = "rows with Test name; benchmark and metric; elapsed_time; avg_latency and latencies"
    metric_definitions = "vllm-serve-1"
    expects = (
        ("Test name", "# of req.", "Tput (req/s)", "Mean TTFT (ms)"),
        tuple(sorted(_THROUGHPUT)),
        tuple(sorted(_LATENCY)),
    )
    definitions = (
        Definition("ttft", "Mean TTFT (ms) …", "request sent to first streamed chunk"),
        Definition("tpot", "Mean TPOT (ms) …", "(e2e - ttft) / (output tokens - 1), over requests"),
        Definition("itl", "Mean ITL (ms) …", "gaps between streamed chunks, over all gaps"),
        Definition("e2e", "avg_latency", "bench latency: time of a whole fixed batch, not of a request under load"),
        Definition("total_tokens_per_s", "tokens_per_second", "bench throughput: input and output, offline"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim each form by its keys."""
        keys = head.keys
        if "Test name" in keys and any("TTFT" in key for key in keys):
            return Match(score=100, why="rows with Test name and TTFT")
        if head.kind == "json-array" and {"benchmark", "metric"} <= keys:
            return Match(score=90, why="rows with benchmark and metric")
        if keys >= _THROUGHPUT:
            return Match(score=90, why="elapsed_time, requests_per_second, tokens_per_second")
        return Match(score=90, why="avg_latency, latencies, percentiles") if keys >= _LATENCY else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the levels of whichever form it is."""
        keys = source.head.keys
        document = whole_document(source)
        if "Test name" in keys:
            points = [_nightly(row, place) for place, row in _table(document)]
        elif "metric" in keys:
            points = _pytorch([row for _, row in _table(document)])
        elif keys >= _THROUGHPUT:
            points = [_throughput(Fields(document))]
        else:
            points = [_batch(Fields(document))]
        yield from grouped(points)


def _table(document: object) -> Iterator[tuple[str, Fields]]:
    """Yield the rows of an array, or of an object of columns."""
    if isinstance(document, list):
        for index, row in enumerate(document):
            yield f"[{index}]", Fields(row, f"[{index}]")
        return
    columns = Fields(document).data
    names = columns.get("Test name")
    for key in names if isinstance(names, dict) else ():
        row = {name: values.get(key) for name, values in columns.items() if isinstance(values, dict)}
        yield f"row {key}", Fields(row, f"row {key}")


def _nightly(row: Fields, place: str) -> Point:
    name = row.text("Test name") or ""
    found = _RATE.search(name)
    rate = None if found is None else as_rate(found[1], f"{place}.Test name")
    parallel = {kind: int(count) for kind, count in _PARALLEL.findall(name)}
    requests_per_s = row.number("Tput (req/s)")
    level = Level(
        work=TextWork(),
        offered_requests_per_s=rate,
        requests_per_s=requests_per_s,
        output_tokens_per_s=row.number("Output Tput (tok/s)"),
        total_tokens_per_s=row.number("Total Tput (tok/s)", "Total Token Tput (tok/s)"),
        reported_requests_per_s=requests_per_s,
        completed_count=row.count("# of req."),
        ttft=_printed(row, "TTFT"),
        tpot=_printed(row, "TPOT"),
        itl=_printed(row, "ITL"),
        e2e=_printed(row, "E2EL"),
        location=name or place,
    )
    configuration = Configuration(
        engine="vllm",
        accelerator=row.text("GPU"),
        tensor_parallel=parallel.get("tp"),
        pipeline_parallel=parallel.get("pp"),
    )
    return Point(_header(configuration, level), level)


def _printed(row: Fields, name: str) -> Latency:
    return latency(lambda key: row.number(f"{_PREFIXES[key]} {name} (ms)"))


def _pytorch(found: Sequence[Fields]) -> list[Point]:
    """Return one level of rows that each hold one metric; load and model stand in the arguments."""
    values: dict[str, object] = {}
    for row in found:
        metric = row.fields("metric")
        measured = metric.raw("benchmark_values")
        if isinstance(measured, list) and measured:
            values[metric.text("name") or ""] = measured[0]
    if not found:
        return []
    arguments = found[0].dig("benchmark.extra_info.args")
    metrics = Fields({key: value for key, value in values.items() if isinstance(value, (int, float, str))})
    level = Level(
        work=TextWork(),
        concurrency=_argument(arguments, "max_concurrency"),
        offered_requests_per_s=_argument(arguments, "request_rate"),
        ttft=_keyed(metrics, "ttft"),
        tpot=_keyed(metrics, "tpot"),
        itl=_keyed(metrics, "itl"),
        e2e=_keyed(metrics, "e2el"),
    )
    model = found[0].fields("model").text("name") or arguments.text("model")
    return [Point(_header(Configuration(model=model_name(model), engine="vllm"), level), level)]


def _argument(arguments: Fields, name: str) -> float | None:
    """Return a load from the arguments; what could not be written became a text about a function."""
    value = arguments.raw(name)
    if isinstance(value, str) and value.startswith("<"):
        return None
    return as_rate(value, f"{arguments.path}.{name}")


def _keyed(metrics: Fields, name: str) -> Latency:
    return latency(lambda key: metrics.number(*(f"{prefix}_{name}_ms" for prefix in _KEYS[key])))


def _throughput(result: Fields) -> Point:
    level = Level(
        work=TextWork(),
        requests_per_s=result.number("requests_per_second"),
        total_tokens_per_s=result.number("tokens_per_second"),
        reported_requests_per_s=result.number("requests_per_second"),
        duration_s=result.number("elapsed_time"),
        completed_count=result.count("num_requests"),
        findings=(NOT_UNDER_LOAD,),
        usable=False,
    )
    return Point(_header(Configuration(engine="vllm"), level), level)


def _batch(result: Fields) -> Point:
    percentiles = result.fields("percentiles")

    def pick(key: str) -> float | None:
        return result.number("avg_latency") if key == "mean" else percentiles.number(key.removeprefix("p"))

    times = result.raw("latencies")
    if not isinstance(times, list):
        raise MalformedReport.field("latencies", times, "is not a list", "send the file as vLLM wrote it")
    count = sum(as_number(item, "latencies") is not None for item in times)
    level = Level(
        work=TextWork(),
        duration_s=product(result.number("avg_latency"), float(count)),
        completed_count=count,
        e2e=latency(pick, MS_PER_S),
        findings=(NOT_UNDER_LOAD,),
        usable=False,
    )
    return Point(_header(Configuration(engine="vllm"), level), level)


def _header(configuration: Configuration, level: Level) -> Run:
    return Run(
        tool="vllm-bench-serve" if level.usable else "vllm-bench-offline",
        metric_definitions=VllmTables.metric_definitions,
        levels=(),
        configuration=configuration,
        arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
        findings=(FAILURES_NOT_REPORTED,),
    )


FORMAT: Final = VllmTables()

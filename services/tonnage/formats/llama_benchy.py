"""llama-benchy: llama-bench's tests against a served model, JSON and CSV."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.errors import MalformedReport
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import iso_date, model_name
from tonnage.formats.reading.notes import warning
from tonnage.formats.reading.tables import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_DECODE_RATE: Final = warning(
    "DECODE_PHASE_RATE",
    "tokens/s are of the decode phase alone, which is more than output tokens / duration",
    path="output_tokens_per_s",
    remedy="measure throughput with a load tool that times whole requests",
)
_TEST: Final = re.compile(r"(?P<kind>pp|tg)(?P<tokens>\d+)(?: @ d\d+)? \(c(?P<concurrency>\d+)\)")


class LlamaBenchy(ToolFormat):
    """Reads rows by concurrency; decode-phase rates are shown and not used as capacity."""

    name = "llama-benchy"
    title = "llama-benchy (JSON, CSV)"
    recognised_by = "benchmarks with tg_throughput; columns model, test_name, t_s_mean"
    metric_definitions = "llama-benchy-1"
    expects = (("benchmarks", "latency_mode", "model"), ("model", "test_name", "t_s_mean"))
    definitions = (
        Definition("ttft", "e2e_ttft", "request sent to first token; ttfr and est_ppt are other figures"),
        Definition("tpot", "", "not written"),
        Definition("output_tokens_per_s", "tg_throughput", "decode phase of all sequences, not whole requests"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the JSON by its blocks, the CSV by its header."""
        if head.columns[:3] == ("model", "test_name", "t_s_mean"):
            return Match(score=100, why="columns model, test_name, t_s_mean")
        benchmarks = head.first.get("benchmarks")
        first = benchmarks[0] if isinstance(benchmarks, list) and benchmarks else None
        if isinstance(first, dict) and "tg_throughput" in first:
            return Match(score=100, why="benchmarks with tg_throughput")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield levels by concurrency; the filling of a context is not one."""
        yield from grouped(_of_table(source) if source.head.kind == "table" else _of_json(source))


def _of_json(source: Source) -> Iterator[Point]:
    report = Fields(whole_document(source))
    measured_at = iso_date((report.text("timestamp") or "").replace(" ", "T", 1))
    for index, benchmark in enumerate(report.items("benchmarks")):
        if benchmark.raw("is_context_prefill_phase") is True:
            continue
        concurrency = benchmark.rate("concurrency")
        level = Level(
            work=TextWork(
                input_tokens_mean=benchmark.number("prompt_size"), output_tokens_mean=benchmark.number("response_size")
            ),
            concurrency=concurrency,
            output_tokens_per_s=benchmark.fields("tg_throughput").number("mean"),
            ttft=Latency(mean_ms=benchmark.fields("e2e_ttft").number("mean")),
            location=f"benchmarks[{index}]",
            findings=(_DECODE_RATE,),
            usable=False,
        )
        sample_set = f"context {benchmark.text('context_size')}" if "context_size" in benchmark else None
        yield Point(_header(report.text("model"), concurrency, report.text("version"), sample_set), level, measured_at)


def _of_table(source: Source) -> Iterator[Point]:
    for place, cells in rows(source):
        row = Fields(cells, place)
        test = _TEST.fullmatch(row.text("test_name") or "")
        if test is None:
            raise MalformedReport.field(
                f"{place}.test_name", row.text("test_name"), "is no test of llama-benchy", "send the file as written"
            )
        tokens, concurrency = float(test["tokens"]), float(test["concurrency"])
        is_prefill = test["kind"] == "pp"
        level = Level(
            work=TextWork(input_tokens_mean=tokens) if is_prefill else TextWork(output_tokens_mean=tokens),
            concurrency=concurrency,
            output_tokens_per_s=None if is_prefill else row.number("t_s_mean"),
            ttft=Latency(mean_ms=row.number("e2e_ttft_mean")) if is_prefill else Latency(),
            location=place,
            findings=(_DECODE_RATE,),
            usable=False,
        )
        yield Point(_header(row.text("model"), concurrency, None, None), level)


def _header(model: str | None, concurrency: float | None, version: str | None, sample_set: str | None) -> Run:
    return Run(
        tool=LlamaBenchy.name,
        metric_definitions=LlamaBenchy.metric_definitions,
        levels=(),
        tool_version=version,
        configuration=Configuration(model=model_name(model)),
        arrival_kind=arrival_of(concurrency, None),
        sample_set=sample_set,
    )


FORMAT: Final = LlamaBenchy()

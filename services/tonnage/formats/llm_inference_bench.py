"""LLM-Inference-Bench (Argonne): a CSV of fixed batches, throughput over input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, grouped
from tonnage.formats.reading.fields import Fields, product, scaled
from tonnage.formats.reading.names import model_name
from tonnage.formats.reading.notes import NOT_UNDER_LOAD
from tonnage.formats.reading.tables import rows
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_MARKS: Final = frozenset({"Hardware", "Num of Hardware", "Framework", "Batch Size"})


class LlmInferenceBench(ToolFormat):
    """Reads each row as a level of a fixed batch that carries no capacity."""

    name = "llm-inference-bench"
    title = "LLM-Inference-Bench (CSV)"
    recognised_by = "columns Hardware, Num of Hardware, Framework, Batch Size"
    metric_definitions = "llm-inference-bench-1"
    expects = (tuple(sorted(_MARKS)),)
    definitions = (
        Definition("e2e", "Latency", "time of the whole batch; seconds"),
        Definition("ttft", "TTFT Latency", "time of the batch's prefill; seconds; in its own file"),
        Definition("total_tokens_per_s", "Throughput", "input and output together: 2 x length x batch / latency"),
        Definition("output_tokens_per_s", "Throughput / 2", "input and output have one length"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the header, whatever the order of its columns."""
        return Match(score=100, why="columns of LLM-Inference-Bench") if set(head.columns) >= _MARKS else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield runs of the rows that share hardware, framework and model."""
        yield from grouped(_point(Fields(row, place), place) for place, row in rows(source))


def _point(row: Fields, place: str) -> Point:
    length, total = row.number("Input Output Length"), row.number("Throughput")
    level = Level(
        work=TextWork(input_tokens_mean=length, output_tokens_mean=length),
        concurrency=row.rate("Batch Size"),
        output_tokens_per_s=scaled(total, 0.5),
        total_tokens_per_s=total,
        ttft=Latency(mean_ms=product(row.number("TTFT Latency"), MS_PER_S)),
        e2e=Latency(mean_ms=product(row.number("Latency"), MS_PER_S)),
        location=place,
        findings=(NOT_UNDER_LOAD,),
        usable=False,
    )
    header = Run(
        tool=LlmInferenceBench.name,
        metric_definitions=LlmInferenceBench.metric_definitions,
        levels=(),
        configuration=Configuration(
            model=model_name(row.text("Model")),
            engine=row.text("Framework"),
            accelerator=row.text("Hardware"),
            accelerators_per_replica=row.count("Num of Hardware"),
        ),
    )
    return Point(header, level)


FORMAT: Final = LlmInferenceBench()

"""llama.cpp ``llama-bench``: JSON, JSON lines and CSV rows, and the Markdown table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, grouped
from tonnage.formats.reading.fields import Fields, as_number, product, ratio
from tonnage.formats.reading.jsontext import documents
from tonnage.formats.reading.names import iso_date, model_name
from tonnage.formats.reading.notes import NOT_UNDER_LOAD
from tonnage.formats.reading.tables import rows
from tonnage.formats.reading.text import box_rows, first_number, plain_lines
from tonnage.units import MS_PER_S, NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_ROW: Final = frozenset({"n_prompt", "n_gen", "avg_ts"})
_TEST: Final = re.compile(r"(?:pp(?P<prompt>\d+))?\+?(?:tg(?P<generated>\d+))?(?: @ d\d+)?")


class LlamaBench(ToolFormat):
    """Reads each test as a level of one sequence without a server; none carries capacity."""

    name = "llama-bench"
    title = "llama.cpp llama-bench (JSON, JSON lines, CSV, Markdown)"
    recognised_by = "rows with n_prompt, n_gen and avg_ts; a table with t/s and test"
    metric_definitions = "llama-bench-1"
    expects = (("n_prompt", "n_gen", "avg_ts", "model_filename"),)
    definitions = (
        Definition("ttft", "avg_ns of a prompt test", "time of the whole prompt, one sequence"),
        Definition("tpot", "1000 / avg_ts of a generation test", "one sequence"),
        Definition("output_tokens_per_s", "avg_ts of a generation test", "decode alone, one sequence"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim rows by their keys, the Markdown table by its columns."""
        if head.keys >= _ROW or set(head.columns) >= _ROW:
            return Match(score=100, why="n_prompt, n_gen, avg_ts")
        if re.search(r"\|\s*test\s*\|\s*t/s\s*\|", head.text) and "±" in head.text:
            return Match(score=90, why="a table of test and t/s with ±")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield each test as a level."""
        yield from grouped(_points(source))


def _points(source: Source) -> Iterator[Point]:
    head = source.head
    if head.document is not None:
        for place, value in documents(source):
            yield _of_row(Fields(value, place), place)
    elif set(head.columns) >= _ROW:
        for place, row in rows(source):
            yield _of_row(Fields(row, place), place)
    else:
        yield from _of_markdown(source)


def _of_row(row: Fields, place: str) -> Point:
    prompt, generated = row.number("n_prompt") or 0.0, row.number("n_gen") or 0.0
    level = _level(prompt, generated, row.number("avg_ts"), place)
    if prompt and not generated:
        level = _prefill(prompt, product(row.number("avg_ns"), 1 / NS_PER_MS), place)
    configuration = Configuration(
        model=model_name(row.text("model_filename")),
        engine="llama.cpp",
        engine_version=row.text("build_number"),
        accelerator=row.text("gpu_info"),
        kv_cache_type=row.text("type_k"),
    )
    return Point(_header(configuration), level, iso_date(row.raw("test_time")))


def _level(prompt: float, generated: float, tokens_per_s: float | None, place: str) -> Level:
    """Return a generation test, or one of both kinds, of which the rate is over all tokens."""
    if prompt and generated:
        return _test(TextWork(input_tokens_mean=prompt, output_tokens_mean=generated), place, total=tokens_per_s)
    tpot = ratio(MS_PER_S, tokens_per_s)
    return _test(TextWork(output_tokens_mean=generated), place, output=tokens_per_s, tpot=Latency(mean_ms=tpot))


def _prefill(prompt: float, time_ms: float | None, place: str) -> Level:
    return _test(TextWork(input_tokens_mean=prompt), place, ttft=Latency(mean_ms=time_ms))


def _test(
    work: TextWork,
    place: str,
    *,
    output: float | None = None,
    total: float | None = None,
    ttft: Latency | None = None,
    tpot: Latency | None = None,
) -> Level:
    return Level(
        work=work,
        concurrency=1.0,
        output_tokens_per_s=output,
        total_tokens_per_s=total,
        ttft=ttft or Latency(),
        tpot=tpot or Latency(),
        location=place,
        findings=(NOT_UNDER_LOAD,),
        usable=False,
    )


def _of_markdown(source: Source) -> Iterator[Point]:
    header: list[str] = []
    for number, line in enumerate(plain_lines(source), start=1):
        for row in box_rows([line]):
            if "t/s" in row:
                header = row
            elif len(row) == len(header) and (found := _TEST.fullmatch(dict(zip(header, row, strict=True))["test"])):
                cells = dict(zip(header, row, strict=True))
                yield _of_test(cells, found, f"line {number}")


def _of_test(cells: dict[str, str], test: re.Match[str], place: str) -> Point:
    prompt, generated = float(test["prompt"] or 0), float(test["generated"] or 0)
    tokens_per_s = as_number(first_number(cells["t/s"]), f"{place}, t/s")
    level = _level(prompt, generated, tokens_per_s, place)
    if prompt and not generated:
        level = _prefill(prompt, product(ratio(prompt, tokens_per_s), MS_PER_S), place)
    return Point(_header(Configuration(model=model_name(cells.get("model")), engine="llama.cpp")), level)


def _header(configuration: Configuration) -> Run:
    return Run(
        tool=LlamaBench.name, metric_definitions=LlamaBench.metric_definitions, levels=(), configuration=configuration
    )


FORMAT: Final = LlamaBench()

"""hey: the CSV of single requests, and the printed summary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.columnar import batches
from tonnage.formats.reading.fields import as_number, ratio
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.requests import Requests
from tonnage.formats.reading.statistics import latency, overflow_is_infinite
from tonnage.formats.reading.text import labels, plain_lines
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

_STATUS: Final = re.compile(r"\[(\d{1,9})\][ \t]+(\d{1,12}) responses")
_ERROR: Final = re.compile(r"\[(\d{1,12})\][ \t]+(?!\d{1,12} responses)\S")
_RANK: Final = re.compile(r"(?<!\d)(\d{1,3})% in (\d{1,12}\.\d{1,12}) secs")
_GOOD: Final = range(200, 300)


class Hey(ToolFormat):
    """Reads hey's rows, or its summary."""

    name = "hey"
    title = "hey (CSV, text)"
    recognised_by = "columns response-time,DNS+dialup; Response time histogram in text"
    metric_definitions = "hey-1"
    expects = (("response-time", "DNS+dialup", "status-code", "offset"),)
    definitions = (
        Definition("e2e", "response-time", "request sent to last byte; seconds; 2xx alone in the CSV"),
        Definition("requests_per_s", "", "2xx / duration; the summary's Requests/sec counts failures"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the CSV's header or the summary's titles."""
        if head.columns[:2] == ("response-time", "DNS+dialup"):
            return Match(score=100, why="columns response-time,DNS+dialup")
        is_text = "Response time histogram" in head.text and "Status code distribution" in head.text
        return Match(score=90, why="hey's summary") if is_text else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a run."""
        if source.head.columns[:1] == ("response-time",):
            requests = _of_rows(source)
            level = requests.level(duration_s=requests.duration_s, failures_known=True)
            points = [] if requests.is_empty else [http_point(type(self), level)]
        else:
            points = [http_point(type(self), _of_text(source), with_failures=True)]
        yield from grouped(points)


@overflow_is_infinite
def _of_rows(source: Source) -> Requests:
    requests = Requests()
    for batch in batches(source, ("response-time", "status-code", "offset")):
        took_s, codes = batch.numbers("response-time"), batch.numbers("status-code")
        good = (codes >= _GOOD.start) & (codes < _GOOD.stop)
        ends = batch.numbers("offset") + took_s
        requests.completed_rows(e2e_ms=took_s[good] * MS_PER_S, end_s=ends[good], count=int(good.sum()))
        requests.failed_count += int((~good).sum())
        requests.span_rows(np.zeros_like(ends), ends)
    return requests


def _of_text(source: Source) -> Level:
    lines = plain_lines(source)
    text, said = "\n".join(lines), labels(lines)
    counts = {int(code): int(count) for code, count in _STATUS.findall(text)}
    errors = text.partition("Error distribution")[2]
    completed = sum(count for code, count in counts.items() if code in _GOOD)
    failed = sum(counts.values()) - completed + sum(int(count) for count in _ERROR.findall(errors))
    duration_s = _seconds(said.get("Total"))
    return Level(
        work=TextWork(),
        requests_per_s=ratio(completed, duration_s),
        reported_requests_per_s=_seconds(said.get("Requests/sec")),
        duration_s=duration_s,
        completed_count=completed,
        failed_count=failed,
        e2e=_latency(text, _seconds(said.get("Average"))),
    )


def _seconds(cell: str | None) -> float | None:
    return None if cell is None else as_number(cell.replace("secs", ""), "summary")


def _latency(text: str, mean_s: float | None) -> Latency:
    ranks = {f"p{rank}": float(value) for rank, value in _RANK.findall(text)}
    return latency(lambda name: mean_s if name == "mean" else ranks.get(name), MS_PER_S)


FORMAT: Final = Hey()

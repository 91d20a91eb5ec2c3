"""ApacheBench: the printed report, and the percentile table of ``-e``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, as_number, ratio
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.statistics import latency
from tonnage.formats.reading.tables import rows
from tonnage.formats.reading.text import first_number, labels, plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

_KINDS: Final = re.compile(r"Connect: (\d+), Receive: (\d+), Length: \d+, Exceptions: (\d+)")
_TOTAL: Final = re.compile(r"^Total: +\d+ +(\d+)", re.MULTILINE)
_RANK: Final = re.compile(r"^ *(\d{1,3})% +(\d{1,12})", re.MULTILINE)
_TABLE: Final = ("Percentage served", "Time in ms")


class ApacheBench(ToolFormat):
    """Reads one run; answers of another length than the first are no failures for a language model."""

    name = "apache-bench"
    title = "ApacheBench (text, -e CSV)"
    recognised_by = "This is ApacheBench; columns Percentage served, Time in ms"
    metric_definitions = "apache-bench-1"
    expects = (_TABLE,)
    definitions = (
        Definition("e2e", "Total", "connect to last byte, failures too; whole milliseconds in the text"),
        Definition("failed_count", "", "Connect + Receive + Exceptions + Non-2xx; Length is another answer's length"),
        Definition("requests_per_s", "", "(complete - Non-2xx) / time taken; the printed rate counts all"),
        Definition("concurrency", "Concurrency Level", "requests in flight"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the banner or the table's header."""
        if head.columns == _TABLE:
            return Match(score=100, why="columns Percentage served, Time in ms")
        return Match(score=100, why="This is ApacheBench") if "This is ApacheBench" in head.text else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a run."""
        level = _of_table(source) if source.head.columns == _TABLE else _of_text(source)
        yield from grouped([http_point(type(self), level, with_failures=True)])


def _of_table(source: Source) -> Level:
    served: dict[str, float | None] = {}
    for place, cells in rows(source):
        row = Fields(cells, place)
        served[f"p{row.text(_TABLE[0])}"] = row.number(_TABLE[1])
    return Level(work=TextWork(), e2e=latency(served.get))


def _of_text(source: Source) -> Level:
    lines = plain_lines(source)
    text = "\n".join(lines)
    said = Fields({key: first_number(value) for key, value in labels(lines).items()})
    kinds = _KINDS.search(text)
    refused = said.count("Non-2xx responses") or 0
    complete, duration_s = said.count("Complete requests"), said.number("Time taken for tests")
    completed = None if complete is None else complete - refused
    return Level(
        work=TextWork(),
        concurrency=said.rate("Concurrency Level"),
        requests_per_s=ratio(completed, duration_s),
        reported_requests_per_s=said.number("Requests per second"),
        duration_s=duration_s,
        completed_count=completed,
        failed_count=refused + (0 if kinds is None else sum(map(int, kinds.groups()))),
        e2e=_latency(text),
    )


def _latency(text: str) -> Latency:
    total = _TOTAL.search(text)
    ranks = {f"p{rank}": float(value) for rank, value in _RANK.findall(text)}
    mean = None if total is None else as_number(total[1], "Total")
    return latency(lambda name: mean if name == "mean" else ranks.get(name))


FORMAT: Final = ApacheBench()

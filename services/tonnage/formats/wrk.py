"""wrk and wrk2: the text they print."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import as_count, as_number, ratio, scaled
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.statistics import latency
from tonnage.formats.reading.text import last_block, plain_lines, quantity_ms
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

_CONNECTIONS: Final = re.compile(r"threads? and (\d+) connections?")
_TOTAL: Final = re.compile(r"(?<!\d)(\d+) requests in ([\d.]+[a-z]+),")
_BAD: Final = re.compile(r"Non-2xx or 3xx responses: (\d+)")
_SOCKET: Final = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_RATE: Final = re.compile(r"Requests/sec:\s*([\d.]+)")
_MEAN: Final = re.compile(r"^ *Latency +([\d.]+[a-z]+)", re.MULTILINE)
_RANK: Final = re.compile(r"^ *(\d{1,3})(?:\.0+)?% +([\d.]+[a-z]+) *$", re.MULTILINE)


class Wrk(ToolFormat):
    """Reads one run; percentiles are there with --latency."""

    name = "wrk"
    title = "wrk, wrk2 (text)"
    recognised_by = "Thread Stats"
    metric_definitions = "wrk-1"
    expects = ()
    definitions = (
        Definition("e2e", "Latency", "request sent to answer, failures too; each cell has its own unit"),
        Definition("requests_per_s", "", "(requests - Non-2xx) / duration; Requests/sec counts failures"),
        Definition("concurrency", "connections", "one request in flight on each"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the statistics' title."""
        is_ours = "Thread Stats" in head.text and "Requests/sec" in head.text
        return Match(score=100, why="Thread Stats and Requests/sec") if is_ours else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a run; of several in one log, the last."""
        text = "\n".join(last_block(plain_lines(source), "Running "))
        yield from grouped([http_point(type(self), _level(text), with_failures=True)])


def _level(text: str) -> Level:
    total, rate, connections = _TOTAL.search(text), _RATE.search(text), _CONNECTIONS.search(text)
    sent = None if total is None else as_count(total[1], "requests")
    duration_s = None if total is None else scaled(quantity_ms(total[2], "duration"), 1 / MS_PER_S)
    bad, socket = _BAD.search(text), _SOCKET.search(text)
    refused = 0 if bad is None else int(bad[1])
    broken = 0 if socket is None else sum(map(int, socket.groups()))
    completed = None if sent is None else sent - refused
    return Level(
        work=TextWork(),
        concurrency=None if connections is None else float(connections[1]),
        requests_per_s=ratio(completed, duration_s),
        reported_requests_per_s=None if rate is None else as_number(rate[1], "Requests/sec"),
        duration_s=duration_s,
        completed_count=completed,
        failed_count=refused + broken,
        e2e=_latency(text),
    )


def _latency(text: str) -> Latency:
    mean = _MEAN.search(text)
    ranks: dict[str, str] = {}
    for rank, value in _RANK.findall(text):
        # wrk2 prints corrected latencies first, uncorrected ones after them.
        ranks.setdefault(f"p{rank}", value)

    def pick(name: str) -> float | None:
        cell = (None if mean is None else mean[1]) if name == "mean" else ranks.get(name)
        return None if cell is None else quantity_ms(cell, name)

    return latency(pick)


FORMAT: Final = Wrk()

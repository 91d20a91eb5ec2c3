"""Locust: the statistics CSV, its history, and the JSON of --json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, as_number, ratio
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import elements
from tonnage.formats.reading.names import epoch_s
from tonnage.formats.reading.notes import note
from tonnage.formats.reading.statistics import latency
from tonnage.formats.reading.tables import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.formats.reading.assemble import Point

_VERBS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_KEYS: Final = {"mean": "Average Response Time", "p50": "50%", "p90": "90%", "p95": "95%", "p99": "99%"}
_POOL: Final = "Aggregated"


class Locust(ToolFormat):
    """Reads each endpoint as a level, and the aggregate, which pools them."""

    name = "locust"
    title = "Locust (_stats.csv, _stats_history.csv, JSON)"
    recognised_by = "columns Type,Name,Request Count or Timestamp,User Count; JSON entries with num_none_requests"
    metric_definitions = "locust-1"
    expects = (("Type", "Name", "Request Count", "Failure Count"), ("num_requests", "num_none_requests"))
    definitions = (
        Definition("ttft", "", "not read, also where a script records one as a request of its own type"),
        Definition("e2e", "response time", "request sent to answer, failures too; rounded to two digits"),
        Definition("requests_per_s", "", "(requests - failures) / duration; Requests/s counts failures"),
        Definition("concurrency", "User Count", "history alone; users may think between requests"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the two headers and the JSON entries."""
        if head.columns[:3] == ("Type", "Name", "Request Count"):
            return Match(score=100, why="columns Type,Name,Request Count")
        if head.columns[:2] == ("Timestamp", "User Count"):
            return Match(score=100, why="columns Timestamp,User Count")
        if head.kind == "json-array" and "num_none_requests" in head.keys:
            return Match(score=100, why="entries with num_none_requests")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield a level for each endpoint; entries a script made up are left out by name."""
        if source.head.kind == "json-array":
            entries = [(place, Fields(value, place)) for place, value in elements(source)]
            yield from _left_out(entry.text("method") for _, entry in entries)
            yield from grouped(_of_entry(entry) for _, entry in entries if entry.text("method") in _VERBS)
        elif source.head.columns[0] == "Timestamp":
            yield from grouped(_of_history(source))
        else:
            found = [Fields(row, place) for place, row in rows(source)]
            yield from _left_out(row.text("Type") for row in found)
            yield from grouped(_of_rows(found))


def _left_out(kinds: Iterator[str | None]) -> Iterator[Finding]:
    """Say which entries were left out: a script's own timings look like requests and are none."""
    made_up = sorted({kind for kind in kinds if kind is not None and kind not in _VERBS})
    if made_up:
        message = f"entries of type {', '.join(made_up)} are a script's own timings and were left out"
        yield note("USER_METRIC_LEFT_OUT", message, remedy="measure first tokens with a tool that defines them")


def _of_rows(found: list[Fields]) -> Iterator[Point]:
    parts = [row for row in found if row.text("Name") != _POOL]
    for row in found:
        is_pool = row.text("Name") == _POOL and row.text("Type") is None
        if not is_pool and row.text("Type") not in _VERBS:
            continue
        yield http_point(Locust, _level(row), with_failures=True, is_pool=is_pool and len(parts) > 1)


def _level(row: Fields) -> Level:
    sent, failed, rate = row.count("Request Count"), row.count("Failure Count"), row.number("Requests/s")
    completed = None if sent is None else sent - (failed or 0)
    duration_s = ratio(sent, rate)
    return Level(
        work=TextWork(),
        requests_per_s=ratio(completed, duration_s),
        reported_requests_per_s=rate,
        duration_s=duration_s,
        completed_count=completed,
        failed_count=failed,
        e2e=latency(lambda name: row.number(_KEYS[name])),
        location=" ".join(part for part in (row.text("Type"), row.text("Name")) if part),
    )


def _of_history(source: Source) -> Iterator[Point]:
    """Yield the totals of the last aggregated row: rates and percentiles there are of 10 s alone."""
    last: Fields | None = None
    names: set[str] = set()
    for place, row in rows(source):
        entry = Fields(row, place)
        name = entry.text("Name")
        names.add(name or "")
        last = entry if name == _POOL else last
    if last is None:
        return
    sent, failed = last.count("Total Request Count"), last.count("Total Failure Count")
    level = Level(
        work=TextWork(),
        concurrency=last.rate("User Count"),
        completed_count=None if sent is None else sent - (failed or 0),
        failed_count=failed,
        e2e=Latency(
            mean_ms=last.number("Total Average Response Time"), p50_ms=last.number("Total Median Response Time")
        ),
        location=last.path,
    )
    when = epoch_s(last.number("Timestamp"))
    yield http_point(Locust, level, measured_at=when, with_failures=True, is_pool=len(names - {_POOL}) > 1)


def _of_entry(entry: Fields) -> Point:
    sent, failed = entry.count("num_requests"), entry.count("num_failures")
    start_s, end_s = entry.number("start_time"), entry.number("last_request_timestamp")
    completed = None if sent is None else sent - (failed or 0)
    duration_s = None if start_s is None or end_s is None else end_s - start_s
    level = Level(
        work=TextWork(),
        requests_per_s=ratio(completed, duration_s),
        reported_requests_per_s=ratio(sent, duration_s),
        duration_s=duration_s,
        completed_count=completed,
        failed_count=failed,
        e2e=_histogram(entry.fields("response_times"), ratio(entry.number("total_response_time"), sent)),
        location=" ".join(part for part in (entry.text("method"), entry.text("name")) if part),
    )
    return http_point(Locust, level, measured_at=epoch_s(start_s), with_failures=True)


def _histogram(times: Fields, mean_ms: float | None) -> Latency:
    """Return percentiles of a histogram of rounded times: the smallest time that covers the share."""
    pairs = sorted((_time(times, key), times.count(key) or 0) for key in times.data)
    if not pairs:
        return Latency(mean_ms=mean_ms)
    covered = np.cumsum([count for _, count in pairs])

    def pick(name: str) -> float | None:
        if name == "mean":
            return mean_ms
        place = int(np.searchsorted(covered, covered[-1] * int(name[1:]) / 100))
        return pairs[min(place, len(pairs) - 1)][0]

    return latency(pick)


def _time(times: Fields, key: str) -> float:
    return as_number(key, f"{times.path}.{key}") or 0.0


FORMAT: Final = Locust()

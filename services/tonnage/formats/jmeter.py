"""JMeter: the JTL of single samples as CSV, and the dashboard's statistics.json."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, ratio, scaled
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import epoch_s
from tonnage.formats.reading.requests import Requests
from tonnage.formats.reading.statistics import block
from tonnage.formats.reading.tables import rows
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.formats.reading.assemble import Point

_KEYS: Final = {
    "mean": "meanResTime",
    "p50": "medianResTime",
    "p90": "pct1ResTime",
    "p95": "pct2ResTime",
    "p99": "pct3ResTime",
}
_SUB_SAMPLE: Final = re.compile(r"(.+)-\d+")
_CONTROLLER: Final = "Number of samples in transaction"
_TOTAL: Final = "Total"


class JMeter(ToolFormat):
    """Reads samples, parents alone; statistics by label and in total."""

    name = "jmeter"
    title = "JMeter (JTL as CSV, dashboard statistics.json)"
    recognised_by = "columns timeStamp,elapsed,label; entries with sampleCount and pct1ResTime"
    metric_definitions = "jmeter-1"
    expects = (("timeStamp", "elapsed", "label", "success"),)
    definitions = (
        Definition("ttft", "", "not read: Latency ends at the first byte, which need be no token"),
        Definition("e2e", "elapsed", "request sent to last byte; successes alone in a JTL, all in statistics"),
        Definition("requests_per_s", "", "successes / (last end - first start); the dashboard's counts failures"),
        Definition("concurrency", "allThreads", "most threads at once; they may think between requests"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the JTL's header, or statistics by their percentiles."""
        if {"timeStamp", "elapsed", "label"} <= set(head.columns):
            return Match(score=100, why="columns timeStamp,elapsed,label")
        values = list(head.first.values())
        if values and all(
            isinstance(value, dict) and {"sampleCount", "pct1ResTime"} <= value.keys() for value in values
        ):
            return Match(score=100, why="entries with sampleCount and pct1ResTime")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the level of a JTL, or one for each label and the total of a dashboard."""
        yield from grouped([_of_samples(source)] if source.head.kind == "table" else _of_statistics(source))


def _of_samples(source: Source) -> Point:
    requests = Requests()
    most_threads: float | None = None
    parents: set[str] = set()
    for place, cells in rows(source):
        row = Fields(cells, place)
        label = row.text("label") or ""
        sub = _SUB_SAMPLE.fullmatch(label)
        if (sub is not None and sub[1] in parents) or (row.text("responseMessage") or "").startswith(_CONTROLLER):
            continue
        parents.add(label)
        start_s = scaled(row.number("timeStamp"), 1 / MS_PER_S)
        took_ms = row.number("elapsed")
        requests.spans(start_s, None if start_s is None or took_ms is None else start_s + took_ms / MS_PER_S)
        threads = row.number("allThreads")
        most_threads = threads if most_threads is None else max(most_threads, threads or 0.0)
        if (row.text("success") or "").lower() == "true":
            requests.completed(e2e_ms=took_ms)
        else:
            requests.failed_count += 1
    level = requests.level(duration_s=requests.duration_s, failures_known=True, concurrency=most_threads)
    sent = requests.completed_count + requests.failed_count
    level = replace(level, reported_requests_per_s=ratio(sent, requests.duration_s))
    return http_point(JMeter, level, measured_at=epoch_s(requests.first_start_s), is_pool=len(parents) > 1)


def _of_statistics(source: Source) -> Iterator[Point]:
    report = Fields(whole_document(source))
    labels = [key for key in report.data if key != _TOTAL]
    for key in report.data:
        entry = report.fields(key)
        sent, failed, rate = entry.count("sampleCount"), entry.count("errorCount"), entry.number("throughput")
        completed, duration_s = None if sent is None else sent - (failed or 0), ratio(sent, rate)
        level = Level(
            work=TextWork(),
            requests_per_s=ratio(completed, duration_s),
            reported_requests_per_s=rate,
            duration_s=duration_s,
            completed_count=completed,
            failed_count=failed,
            e2e=block(entry, _KEYS),
            location=key,
        )
        yield http_point(JMeter, level, with_failures=True, is_pool=key == _TOTAL and len(labels) > 1)


FORMAT: Final = JMeter()

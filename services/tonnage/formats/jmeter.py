"""JMeter: the JTL of single samples as CSV, and the dashboard's statistics.json."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.domain.measurement import Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.columnar import Batch, batches
from tonnage.formats.reading.fields import Fields, ratio
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import epoch_s
from tonnage.formats.reading.requests import Requests
from tonnage.formats.reading.statistics import block, overflow_is_infinite
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
        yield from grouped(_of_samples(source) if source.head.kind == "table" else _of_statistics(source))


@overflow_is_infinite
def _of_samples(source: Source) -> list[Point]:
    requests = Requests()
    most_threads: float | None = None
    parents: set[str] = set()
    for batch in batches(source, ("timeStamp", "elapsed", "allThreads"), ("label", "success", "responseMessage")):
        own = _own(batch, parents)
        start_s, took_ms = batch.numbers("timeStamp")[own] / MS_PER_S, batch.numbers("elapsed")[own]
        end_s = start_s + took_ms / MS_PER_S
        requests.span_rows(start_s, end_s)
        threads = batch.numbers("allThreads")[own]
        if np.isfinite(threads).any():
            most_threads = max(most_threads or 0.0, float(np.nanmax(threads)))
        good = batch.texts("success")[own] == "true"
        requests.completed_rows(e2e_ms=took_ms[good], end_s=end_s[good], count=int(good.sum()))
        requests.failed_count += int((~good).sum())
    if requests.is_empty:
        return []
    level = requests.level(duration_s=requests.duration_s, failures_known=True, concurrency=most_threads)
    sent = requests.completed_count + requests.failed_count
    level = replace(level, reported_requests_per_s=ratio(sent, requests.duration_s))
    return [http_point(JMeter, level, measured_at=epoch_s(requests.first_start_s), is_pool=len(parents) > 1)]


def _own(batch: Batch, parents: set[str]) -> np.ndarray:
    """Tell which rows are requests of their own: neither parts of one (label-0) nor a controller's sum."""
    labels, messages = batch.texts("label"), batch.texts("responseMessage")
    counted: dict[str, bool] = {}
    for label in dict.fromkeys(labels):
        sub = _SUB_SAMPLE.fullmatch(label)
        counted[label] = sub is None or sub[1] not in parents
        if counted[label]:
            parents.add(label)
    sums = {message: message.startswith(_CONTROLLER) for message in dict.fromkeys(messages)}
    return np.array(
        [counted[label] and not sums[message] for label, message in zip(labels, messages, strict=True)], dtype=bool
    )


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

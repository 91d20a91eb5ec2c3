"""k6: --summary-export, handleSummary, and the console's end-of-test summary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, ratio, scaled
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.notes import note
from tonnage.formats.reading.statistics import latency
from tonnage.formats.reading.text import plain_lines, quantity_ms
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

_KEYS: Final = {"mean": "avg", "p50": "med", "p90": "p(90)", "p95": "p(95)", "p99": "p(99)"}
_GOOD: Final = "http_req_duration{expected_response:true}"
_ALL: Final = "http_req_duration"
_TOKENS: Final = "output_tokens"
_LINE: Final = re.compile(r" *(\{ expected_response:true \}|[\w{}:]+)\.*: (.+)")
_PAIR: Final = re.compile(r"(?<![\w()])([\w()]+)=(\S+)")
_RATE: Final = re.compile(r"(?<!\d)(\d{1,15})\s+(\d{1,15}(?:\.\d+)?)/s")
_FAILED: Final = re.compile(r"% (\d{1,15}) out of (\d{1,15})")


class K6(ToolFormat):
    """Reads one test; a counter of the user's named …output_tokens gives the token rate."""

    name = "k6"
    title = "k6 (summary export, handleSummary, console)"
    recognised_by = "metrics with http_reqs; TOTAL RESULTS in text"
    metric_definitions = "k6-1"
    expects = (("metrics", "root_group"),)
    definitions = (
        Definition("ttft", "", "not read: http_req_waiting ends at the first byte, which need be no token"),
        Definition("e2e", _GOOD, "request sent to last byte of expected answers; of all where that is missing"),
        Definition("requests_per_s", "", "(http_reqs - failed) / duration; http_reqs.rate counts failures"),
        Definition("failed_count", "http_req_failed.passes", "a rate metric of failure: its passes are the failed"),
        Definition("concurrency", "vus", "the virtual users, when all of them were busy and no arrival rate was set"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the metric object, or the console's banner."""
        metrics = head.first.get("metrics")
        if isinstance(metrics, dict) and "http_reqs" in metrics:
            return Match(score=100, why="metrics with http_reqs")
        if "TOTAL RESULTS" in head.text and "http_req" in head.text:
            return Match(score=100, why="TOTAL RESULTS of http_req metrics")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a test."""
        level = _of_json(source) if source.head.kind == "json-object" else _of_text(source)
        yield from grouped([http_point(type(self), level)])


def _of_json(source: Source) -> Level:
    report = Fields(whole_document(source))
    metrics = report.fields("metrics")
    requests, failures = _values(metrics, "http_reqs"), _values(metrics, "http_req_failed")
    duration_ms = report.fields("state").number("testRunDurationMs")
    duration_s = scaled(duration_ms, 1 / MS_PER_S)
    if duration_s is None:
        duration_s = ratio(requests.count("count"), requests.number("rate"))
    is_good = _GOOD in metrics
    values = _values(metrics, _GOOD if is_good else _ALL)
    tokens = next((name for name in metrics.data if name.endswith(_TOKENS)), None)
    return _level(
        sent=requests.count("count"),
        failed=failures.count("passes"),
        rate=requests.number("rate"),
        duration_s=duration_s,
        e2e=latency(lambda name: values.number(_KEYS[name])),
        tokens_per_s=None if tokens is None else _values(metrics, tokens).number("rate"),
        concurrency=_users(metrics),
        token_counter=tokens,
    )


def _values(metrics: Fields, name: str) -> Fields:
    """Return a metric's figures: flat in a summary export, under values in handleSummary."""
    metric = metrics.fields(name)
    return metric.fields("values") if "values" in metric else metric


def _users(metrics: Fields) -> float | None:
    """Return the users as the cap: with an arrival rate some of the allocated ones idle, or iterations are dropped."""
    most, allocated = _values(metrics, "vus").rate("max"), _values(metrics, "vus_max").rate("max", "value")
    if most is None or "dropped_iterations" in metrics or (allocated is not None and most != allocated):
        return None
    return most


def _of_text(source: Source) -> Level:
    found: dict[str, str] = {}
    for line in plain_lines(source):
        match = _LINE.fullmatch(line.rstrip())
        if match is not None:
            found.setdefault(match[1].strip("{ }"), match[2])
    sent, rate = _counted(found.get("http_reqs"))
    failed = _FAILED.search(found.get("http_req_failed", ""))
    good = dict(_PAIR.findall(found.get("expected_response:true", found.get(_ALL, ""))))
    tokens = next((name for name in found if name.endswith(_TOKENS)), None)
    users, allocated = (dict(_PAIR.findall(found.get(name, ""))).get("max") for name in ("vus", "vus_max"))
    return _level(
        sent=sent,
        failed=None if failed is None else int(failed[1]),
        rate=rate,
        duration_s=ratio(sent, rate),
        e2e=_text_latency(good),
        tokens_per_s=None if tokens is None else _counted(found[tokens])[1],
        concurrency=float(users) if users is not None and users == allocated else None,
        token_counter=tokens,
    )


def _counted(text: str | None) -> tuple[int | None, float | None]:
    found = _RATE.search(text or "")
    return (None, None) if found is None else (int(found[1]), float(found[2]))


def _text_latency(pairs: Mapping[str, str]) -> Latency:
    def pick(name: str) -> float | None:
        cell = pairs.get(_KEYS[name])
        return None if cell is None else quantity_ms(cell, _KEYS[name])

    return latency(pick)


def _level(  # noqa: PLR0913 -- the figures of one test
    *,
    sent: int | None,
    failed: int | None,
    rate: float | None,
    duration_s: float | None,
    e2e: Latency,
    tokens_per_s: float | None,
    concurrency: float | None,
    token_counter: str | None,
) -> Level:
    completed = None if sent is None else sent - (failed or 0)
    used = () if token_counter is None else (_counter_used(token_counter),)
    return Level(
        work=TextWork(),
        concurrency=concurrency,
        requests_per_s=ratio(completed, duration_s),
        output_tokens_per_s=tokens_per_s,
        reported_requests_per_s=rate,
        duration_s=duration_s,
        completed_count=completed,
        failed_count=failed,
        e2e=e2e,
        findings=used,
    )


def _counter_used(name: str) -> Finding:
    message = f"output tokens/s are taken from the script's own counter {name}"
    return note("USER_METRIC_USED", message, path="output_tokens_per_s", remedy="check that it counts output tokens")


FORMAT: Final = K6()

"""MLPerf Inference LoadGen: the summary text and the detail log."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import ArrivalKind, Latency, Level, Run, TextWork
from tonnage.errors import MalformedReport
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, grouped
from tonnage.formats.reading.fields import Fields, product, ratio, scaled
from tonnage.formats.reading.notes import warning
from tonnage.formats.reading.statistics import latency
from tonnage.formats.reading.tables import text_lines
from tonnage.formats.reading.text import labels, plain_lines
from tonnage.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_DETAIL_MARK: Final = ":::MLLOG"
_S_PER_NS: Final = 1e-9
# Our names to what the summary prints; the detail log's keys are brought to the same labels.
_RATES: Final = ("Completed samples per second", "Samples per second", "QPS w/ loadgen overhead")
_DETAIL: Final = {
    "effective_scenario": "Scenario",
    "effective_test_mode": "Mode",
    "result_validity": "Result is",
    "effective_target_qps": "target_qps",
    "result_query_count": "query_count",
    "result_completed_samples_per_sec": "Completed samples per second",
    "result_samples_per_second": "Samples per second",
    "result_qps_with_loadgen_overhead": "QPS w/ loadgen overhead",
    "result_completed_tokens_per_second": "Completed tokens per second",
    "result_tokens_per_second": "Tokens per second",
    "result_max_latency_ns": "Max latency (ns)",
    "result_mean_latency_ns": "Mean latency (ns)",
    "result_first_token_mean_latency_ns": "Mean First Token latency (ns)",
    "result_time_to_output_token_mean": "Mean Time to Output Token (ns)",
}
_PERCENTILE_KEYS: Final = (
    (re.compile(r"result_(\d\d\.\d\d)_percentile_latency_ns"), "{} percentile latency (ns)"),
    (re.compile(r"result_first_token_(\d\d\.\d\d)_percentile_latency_ns"), "{} percentile first token latency (ns)"),
    (re.compile(r"result_time_per_output_token_(\d\d\.\d\d)_percentile_ns"), "{} percentile time to output token (ns)"),
)
_RANKS: Final = {"p50": "50.00", "p90": "90.00", "p95": "95.00", "p99": "99.00"}


class MlPerf(ToolFormat):
    """Reads LoadGen's logs; model and accelerators are in the submission's folder names alone."""

    name = "mlperf-loadgen"
    title = "MLPerf LoadGen (mlperf_log_summary.txt, mlperf_log_detail.txt)"
    recognised_by = "MLPerf Results Summary, or lines of :::MLLOG"
    metric_definitions = "mlperf-loadgen-1"
    expects = ()
    definitions = (
        Definition("ttft", "first token latency (ns)", "query issued to first token; nanoseconds"),
        Definition("tpot", "time to output token (ns)", "(e2e - ttft) / (output tokens - 1) of each query"),
        Definition("itl", "", "not written"),
        Definition("e2e", "latency (ns)", "query issued to last token; offline it is time in the queue"),
        Definition("offered_requests_per_s", "target_qps", "Server scenario; offline it only sizes the run"),
        Definition("requests_per_s", "Completed samples per second", "the scheduled rate is another"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim LoadGen's banner or log prefix."""
        if head.text.lstrip().startswith(_DETAIL_MARK):
            return Match(score=100, why=f"lines of {_DETAIL_MARK}")
        return Match(score=100, why="MLPerf Results Summary") if "MLPerf Results Summary" in head.text else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a log."""
        is_detail = source.head.text.lstrip().startswith(_DETAIL_MARK)
        said = _detail(source) if is_detail else labels(plain_lines(source))
        yield from grouped([_point(Fields({key.strip(): value for key, value in said.items()}))])


def _detail(source: Source) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(text_lines(source), start=1):
        if not line.startswith(_DETAIL_MARK):
            continue
        try:
            entry = Fields(json.loads(line.removeprefix(_DETAIL_MARK)), f"line {number}")
        except (ValueError, RecursionError) as error:
            raise MalformedReport.field(
                f"line {number}", line, "is no JSON after :::MLLOG", "send the log whole"
            ) from error
        label = _label(entry.text("key") or "")
        if label is not None:
            found[label] = str(entry.raw("value"))
    return found


def _label(key: str) -> str | None:
    if key in _DETAIL:
        return _DETAIL[key]
    for pattern, label in _PERCENTILE_KEYS:
        found = pattern.fullmatch(key)
        if found is not None:
            return label.format(found[1])
    return None


def _point(said: Fields) -> Point:
    scenario = said.text("Scenario") or ""
    level = _level(said)
    if scenario == "Server":
        level = replace(level, offered_requests_per_s=said.rate("target_qps"))
    elif scenario == "Offline":
        level = _offline(level, said)
    elif scenario == "SingleStream":
        level = replace(level, concurrency=1.0)
    kinds = {"Server": ArrivalKind.OPEN, "SingleStream": ArrivalKind.CLOSED}
    header = Run(
        tool=MlPerf.name,
        metric_definitions=MlPerf.metric_definitions,
        levels=(),
        arrival_kind=kinds.get(scenario),
        findings=tuple(_doubts(said)),
    )
    return Point(header, replace(level, usable=said.text("Mode") != "AccuracyOnly", location=scenario))


def _level(said: Fields) -> Level:
    requests_per_s = said.number(*_RATES)
    output_per_s = said.number("Completed tokens per second", "Tokens per second")
    completed = said.count("query_count")
    return Level(
        work=TextWork(output_tokens_mean=ratio(output_per_s, requests_per_s)),
        requests_per_s=requests_per_s,
        output_tokens_per_s=output_per_s,
        reported_requests_per_s=requests_per_s,
        duration_s=ratio(completed, requests_per_s),
        completed_count=completed,
        ttft=_latency(said, "Mean First Token latency (ns)", "{} percentile first token latency (ns)"),
        tpot=_latency(said, "Mean Time to Output Token (ns)", "{} percentile time to output token (ns)"),
        e2e=_latency(said, "Mean latency (ns)", "{} percentile latency (ns)"),
    )


def _latency(said: Fields, mean: str, percentile: str) -> Latency:
    return latency(
        lambda statistic: said.number(mean if statistic == "mean" else percentile.format(_RANKS[statistic])),
        1 / NS_PER_MS,
    )


def _offline(level: Level, said: Fields) -> Level:
    """All queries are issued at the start: the slowest gives the duration, the rate their number."""
    duration_s = scaled(said.number("Max latency (ns)"), _S_PER_NS)
    count = product(level.requests_per_s, duration_s)
    marks = tuple(
        warning(
            "QUEUEING_NOT_LATENCY", "offline, every query waits from the start: this is time in the queue", path=path
        )
        for path in ("e2e_mean_ms", "e2e_p50_ms", "e2e_p90_ms", "e2e_p95_ms", "e2e_p99_ms")
    )
    return replace(
        level,
        duration_s=duration_s,
        completed_count=None if count is None or not math.isfinite(count) else round(count),
        findings=marks,
    )


def _doubts(said: Fields) -> Iterator[Finding]:
    if said.text("Mode") == "AccuracyOnly":
        yield warning("NOT_A_SPEED_RUN", "the log is of an accuracy run", remedy="send the performance run's log")
    if said.text("Result is") == "INVALID":
        yield warning(
            "RESULT_INVALID", "LoadGen calls the result INVALID: a constraint was missed", remedy="see the log"
        )


FORMAT: Final = MlPerf()

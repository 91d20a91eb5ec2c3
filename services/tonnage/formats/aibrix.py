"""AIBrix: the client's JSON lines of single requests, and the optimizer's profile in long form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, scaled
from tonnage.formats.reading.jsontext import documents, typed_lines
from tonnage.formats.reading.notes import FAILURES_NOT_REPORTED, note
from tonnage.formats.reading.requests import Requests
from tonnage.formats.reading.statistics import block
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_MIXED: Final = note(
    "RUNS_MAY_BE_MIXED",
    "the client appends to its file, which may hold several runs; no duration or rate follows from it",
    remedy="give requests_per_s and the load, or measure into a fresh file",
)
_CLIENT: Final = frozenset({"prompt_tokens", "output_tokens", "latency"})
_PROFILE: Final = frozenset({"metric", "input_tokens", "mean"})
_STATISTICS: Final = {"mean": "mean", "p50": "P50", "p90": "P90", "p95": "P95", "p99": "P99"}


class AiBrix(ToolFormat):
    """Reads the client's rows as one level, the profile's rows as levels by lengths and rate."""

    name = "aibrix"
    title = "AIBrix benchmark client and optimizer profile"
    recognised_by = "JSON lines with prompt_tokens and latency, or metric, input_tokens and mean"
    metric_definitions = "aibrix-1"
    expects = (tuple(sorted(_CLIENT)), tuple(sorted(_PROFILE)))
    definitions = (
        Definition("ttft", "ttft, TTFT", "request sent to first token; seconds; absent in early rows"),
        Definition("tpot", "tpot, TPOT", "(e2e - ttft) / (output tokens - 1); seconds"),
        Definition("itl", "", "not written"),
        Definition("e2e", "latency, E2E", "request sent to last token; seconds"),
        Definition("requests_per_s", "TPUT", "profile alone; the client's throughput is of one request"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the two forms of lines."""
        if head.kind not in {"json-lines", "json-object"}:
            return None
        if head.keys >= _CLIENT:
            return Match(score=90, why="lines with prompt_tokens, output_tokens, latency")
        return Match(score=90, why="lines with metric, input_tokens, mean") if head.keys >= _PROFILE else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the level of a client's file, or those of a profile."""
        yield from grouped(_client(source) if source.head.keys >= _CLIENT else _profile(source))


class _Row(msgspec.Struct, frozen=True):
    prompt_tokens: float | None = None
    output_tokens: float | None = None
    latency: float | None = None
    ttft: float | None = None
    tpot: float | None = None


def _client(source: Source) -> list[Point]:
    requests = Requests()
    for row in typed_lines(source, _Row):
        requests.completed(
            e2e_ms=scaled(row.latency, MS_PER_S),
            ttft_ms=scaled(row.ttft, MS_PER_S),
            tpot_ms=scaled(row.tpot, MS_PER_S),
            input_tokens=row.prompt_tokens,
            output_tokens=row.output_tokens,
        )
    level = requests.level(duration_s=None, failures_known=False)
    return [] if requests.is_empty else [Point(_header(_MIXED), level)]


def _profile(source: Source) -> Iterator[Point]:
    groups: dict[tuple[float | None, ...], dict[str, Fields]] = {}
    for place, value in documents(source):
        row = Fields(value, place)
        key = tuple(row.number(name) for name in ("input_tokens", "output_tokens", "request_rate"))
        groups.setdefault(key, {})[row.text("metric") or ""] = row
    for (inputs, outputs, rate), metrics in groups.items():
        requests_per_s = metrics["TPUT"].number("mean") if "TPUT" in metrics else None
        level = Level(
            work=TextWork(input_tokens_mean=inputs, output_tokens_mean=outputs),
            offered_requests_per_s=rate,
            requests_per_s=requests_per_s,
            total_tokens_per_s=metrics["TT"].number("mean") if "TT" in metrics else None,
            reported_requests_per_s=requests_per_s,
            ttft=_latency(metrics, "TTFT"),
            tpot=_latency(metrics, "TPOT"),
            e2e=_latency(metrics, "E2E"),
            location=next(iter(metrics.values())).path,
        )
        yield Point(_header(rate=rate), level)


def _latency(metrics: dict[str, Fields], name: str) -> Latency:
    return block(metrics[name], _STATISTICS, MS_PER_S) if name in metrics else Latency()


def _header(*findings: Finding, rate: float | None = None) -> Run:
    return Run(
        tool=AiBrix.name,
        metric_definitions=AiBrix.metric_definitions,
        levels=(),
        arrival_kind=arrival_of(None, rate),
        findings=(FAILURES_NOT_REPORTED, *findings),
    )


FORMAT: Final = AiBrix()

"""Ollama's API timings: one answer, or JSON lines of several, nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Run
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, grouped
from tonnage.formats.reading.fields import Fields, ratio, scaled
from tonnage.formats.reading.jsontext import documents
from tonnage.formats.reading.names import iso_date, model_name
from tonnage.formats.reading.notes import FAILURES_NOT_REPORTED, note
from tonnage.formats.reading.requests import Requests
from tonnage.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tonnage.domain.finding import Finding

_MARKS: Final = frozenset({"eval_count", "eval_duration", "total_duration"})
_SERVER_SIDE: Final = note(
    "SERVER_SIDE_TIMES", "the times are the server's own: waiting before it and the network are not in them"
)


class Ollama(ToolFormat):
    """Reads answers' timings as one level of single requests without a stated load."""

    name = "ollama"
    title = "Ollama API timings (JSON, JSON lines)"
    recognised_by = "eval_count, eval_duration, total_duration"
    metric_definitions = "ollama-1"
    expects = (tuple(sorted(_MARKS)),)
    definitions = (
        Definition("ttft", "prompt_eval_duration", "prompt processing in the server; loading the model is left out"),
        Definition("tpot", "eval_duration / eval_count", "server's own; the first token is among the counted"),
        Definition("e2e", "total_duration - load_duration", "the server's own"),
        Definition("input_tokens_mean", "prompt_eval_count", "missing or small where the prompt was cached"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim answers by their counters."""
        return Match(score=100, why="eval_count and eval_duration") if head.keys >= _MARKS else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield one level for each model."""
        by_model: dict[str | None, Requests] = {}
        newest: dict[str | None, datetime | None] = {}
        for place, value in documents(source):
            answer = Fields(value, place)
            model = answer.text("model")
            _add(by_model.setdefault(model, Requests()), answer)
            newest[model] = iso_date(answer.raw("created_at")) or newest.get(model)
        yield from grouped(
            Point(_header(model), requests.level(duration_s=None, failures_known=False), newest[model])
            for model, requests in by_model.items()
        )


def _add(requests: Requests, answer: Fields) -> None:
    load_ns, total_ns = answer.number("load_duration") or 0.0, answer.number("total_duration")
    generated = answer.number("eval_count")
    requests.completed(
        e2e_ms=None if total_ns is None else (total_ns - load_ns) / NS_PER_MS,
        ttft_ms=scaled(answer.number("prompt_eval_duration"), 1 / NS_PER_MS),
        tpot_ms=scaled(ratio(answer.number("eval_duration"), generated), 1 / NS_PER_MS),
        input_tokens=answer.number("prompt_eval_count"),
        output_tokens=generated,
    )


def _header(model: str | None) -> Run:
    return Run(
        tool=Ollama.name,
        metric_definitions=Ollama.metric_definitions,
        levels=(),
        configuration=Configuration(model=model_name(model), engine="ollama"),
        findings=(FAILURES_NOT_REPORTED, _SERVER_SIDE),
    )


FORMAT: Final = Ollama()

"""LMBenchmark (LMCache multi-round QA): a CSV of one row a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.domain.measurement import Run
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, grouped
from tonnage.formats.reading.columnar import Batch, batches
from tonnage.formats.reading.names import epoch_s
from tonnage.formats.reading.notes import FAILURES_NOT_REPORTED, note
from tonnage.formats.reading.requests import Requests
from tonnage.formats.reading.statistics import overflow_is_infinite
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_NEW_TEXT_ALONE: Final = note(
    "PROMPT_MAY_LEAVE_OUT_HISTORY",
    "some versions count only the new text of each round as prompt tokens, not the history sent with it",
    path="input_tokens_mean",
    remedy="compare with the engine's own count",
)
_NUMBERS: Final = (
    "prompt_tokens",
    "generation_tokens",
    "ttft",
    "generation_time",
    "launch_time",
    "finish_time",
)
_COLUMNS: Final = frozenset({"prompt_tokens", "generation_tokens", "ttft", "generation_time"})


class LmBenchmark(ToolFormat):
    """Reads the request rows; rate and model are in file and folder names alone."""

    name = "lmbenchmark"
    title = "LMBenchmark (LMCache multi-round QA)"
    recognised_by = "columns prompt_tokens, generation_tokens, ttft, generation_time"
    metric_definitions = "lmbenchmark-1"
    expects = (tuple(sorted(_COLUMNS)),)
    definitions = (
        Definition("ttft", "ttft", "request sent to first token; seconds"),
        Definition("tpot", "generation_time / (generation_tokens - 1)", "of each request; seconds"),
        Definition("itl", "", "not written"),
        Definition("e2e", "finish_time - launch_time", "of each request; seconds"),
        Definition("requests_per_s", "", "rows / (last finish - first launch); failures are not written"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the request columns."""
        return Match(score=100, why="LMBenchmark's columns") if set(head.columns) >= _COLUMNS else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of all rows."""
        requests = Requests()
        for batch in batches(source, _NUMBERS):
            _add(requests, batch)
        header = Run(
            tool=self.name,
            metric_definitions=self.metric_definitions,
            levels=(),
            findings=(FAILURES_NOT_REPORTED, _NEW_TEXT_ALONE),
        )
        if requests.is_empty:
            return
        level = requests.level(duration_s=requests.duration_s, failures_known=False)
        yield from grouped([Point(header, level, epoch_s(requests.first_start_s))])


@overflow_is_infinite
def _add(requests: Requests, batch: Batch) -> None:
    launched, finished = batch.numbers("launch_time"), batch.numbers("finish_time")
    generated = batch.numbers("generation_tokens")
    several = np.where(generated > 1, generated - 1, np.nan)
    requests.completed_rows(
        e2e_ms=(finished - launched) * MS_PER_S,
        ttft_ms=batch.numbers("ttft") * MS_PER_S,
        tpot_ms=batch.numbers("generation_time") * MS_PER_S / several,
        input_tokens=batch.numbers("prompt_tokens"),
        output_tokens=generated,
        end_s=finished,
        count=batch.row_count,
    )
    requests.span_rows(launched, finished)


FORMAT: Final = LmBenchmark()

"""A curve as people read it: one line a level, with what the SLO says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tonnage.cli.output import UNKNOWN, facts, field, number, table, word
from tonnage.cli.render import words
from tonnage.cli.render.findings import findings
from tonnage.client import messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table


def curve(answer: messages.GetCurveResponse) -> Iterator[RenderableType]:
    """Yield the parts of a curve."""
    yield Text(words.configuration(answer.configuration), style="bold")
    yield facts(_facts(answer))
    yield _points(answer)
    yield from findings(answer.findings)


def _facts(answer: messages.GetCurveResponse) -> Iterator[tuple[str, str]]:
    yield "sweep", f"{answer.sweep_id or UNKNOWN}, {words.work(answer.measured_work)}"
    if answer.HasField("capacity"):
        yield "Q_slo", words.q_slo(answer.capacity)
        if answer.capacity.reason:
            yield "", answer.capacity.reason
    yield "knee", f"{number(field(answer, 'knee_offered_load'))} offered"
    yield "saturation", f"{number(field(answer, 'saturation_requests_per_s'))} requests/s a replica"
    if answer.other_sweep_ids:
        yield "other sweeps", ", ".join(answer.other_sweep_ids)
    yield "data version", str(answer.data_version)


def _points(answer: messages.GetCurveResponse) -> Table:
    axis = "concurrency" if answer.arrival_kind == messages.ARRIVAL_KIND_CLOSED else "offered"
    columns = (
        axis,
        "requests/s",
        "tokens/s out",
        "TTFT p50",
        "p90",
        "p99",
        "TPOT p50",
        "p99",
        "e2e p50",
        "p99",
        "SLO",
        "source",
    )
    rows = [
        (
            number(point.offered_load),
            number(field(point, "requests_per_s_per_replica")),
            number(field(point, "output_tokens_per_s_per_replica")),
            *(number(field(point.level.ttft, name)) for name in ("p50_ms", "p90_ms", "p99_ms")),
            *(number(field(point.level.tpot, name)) for name in ("p50_ms", "p99_ms")),
            *(number(field(point.level.e2e, name)) for name in ("p50_ms", "p99_ms")),
            _kept(point),
            point.evidence.source or word(messages.Origin, point.evidence.origin),
        )
        for point in answer.points
    ]
    return table("Levels, rates of one replica, latencies in ms", columns, rows, right=tuple(range(10)))


def _kept(point: messages.CurvePoint) -> str:
    if not point.HasField("admissible"):
        return UNKNOWN
    return "kept" if point.admissible else f"missed: {point.miss}"

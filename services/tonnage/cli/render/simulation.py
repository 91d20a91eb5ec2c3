"""What a simulation found, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.cli.output import UNKNOWN, facts, field, number, percent, table, word
from tonnage.cli.render import findings, words
from tonnage.client import messages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

_COLUMNS: Final = (
    "scenario",
    "replicas",
    "wait p95 ms",
    "ttft p95 ms",
    "e2e p95 ms",
    "inside",
    "most waiting",
    "recovers, s",
    "holds",
)


def simulation(result: messages.SimulatePlanResult) -> Iterable[RenderableType]:
    """Yield verdict, runs, formulas beside them, findings."""
    found = result.simulation
    if result.HasField("simulation"):
        yield facts(
            (
                ("verdict", word(messages.SimulationVerdict, found.verdict)),
                ("", found.summary),
                ("configuration", words.configuration(result.configuration)),
            )
        )
        yield table("Simulated", _COLUMNS, _rows(found), right=tuple(range(1, len(_COLUMNS))))
        yield table(
            "By formula", ("replicas", "load", "waits", "Erlang C p95 ms", "Allen-Cunneen p95 ms"), _tails(found)
        )
    yield from findings.findings((*found.findings, *result.findings))


def _rows(found: messages.Simulation) -> Iterable[tuple[str, ...]]:
    for row in found.scenarios:
        name = (row.scenario.WhichOneof("kind") or "").replace("_", " ")
        yield _row(name, row.planned, field(row, "holds"))
        if row.HasField("one_fewer"):
            yield _row(f"{name}, one fewer", row.one_fewer, field(row.one_fewer, "holds"))


def _row(name: str, run: messages.SimulatedRun, holds: bool | None) -> tuple[str, ...]:
    return (
        name,
        str(run.replica_count),
        number(field(run.queue, "p95_ms")),
        number(field(run.ttft, "p95_ms")),
        number(field(run.e2e, "p95_ms")),
        percent(field(run, "inside_ratio")),
        str(run.most_waiting_count),
        number(field(run, "recovery_s")),
        UNKNOWN if holds is None else ("yes" if holds else "no"),
    )


def _tails(found: messages.Simulation) -> Iterable[tuple[str, ...]]:
    for tail in found.tails:
        yield (
            str(tail.replica_count),
            percent(tail.load_ratio),
            percent(field(tail, "wait_probability")),
            number(field(tail.erlang_c, "p95_ms")),
            number(field(tail.allen_cunneen, "p95_ms")),
        )

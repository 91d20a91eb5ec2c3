"""How sure a candidate is, as people read it: sentences, then N and money by confidence, then what matters most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tonnage.cli.output import field, number, percent, table, word
from tonnage.cli.render import words
from tonnage.client import messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

_SWINGS_SHOWN = 6


def confidence(item: messages.Candidate) -> Iterator[RenderableType]:
    """Yield how sure one candidate is; nothing where it was not asked."""
    if not item.HasField("confidence"):
        return
    found = item.confidence
    for line in _sentences(item, found):
        yield Text(line)
    yield _counts(found)
    if found.swings:
        yield _swings(found)


def _sentences(item: messages.Candidate, found: messages.CandidateConfidence) -> Iterator[str]:
    bound = ", at most: the curve never met its limit" if found.at_most else ""
    yield (
        f"{item.count.replica_count} replicas are enough in {percent(found.sufficient_probability)} of "
        f"{found.world_count} worlds, reserve and losses included{bound}."
    )
    for bucket in found.buckets:
        q_slo = bucket.q_slo_requests_per_s
        yield (
            f"Q_slo is {number(field(q_slo, 'median'))} requests/s, {number(field(q_slo, 'low_80'))} to "
            f"{number(field(q_slo, 'high_80'))} in 80 %; {bucket.spread.run_count} run(s) at that load."
        )
    if found.unserved_probability > 0:
        yield f"In {percent(found.unserved_probability)} the lowest measured load misses a limit: no count is enough."
    growth, fall = (percent(field(found.next_count, f"capacity_{name}_ratio")) for name in ("fall", "rise"))
    yield f"One more replica once Q is {growth} lower, one fewer once it is {fall} higher."
    if found.HasField("least_regret"):
        choice = found.least_regret.choice
        yield (
            f"Least regret: {choice.server_count} servers, {number(choice.regret_per_hour)} "
            f"{found.least_regret.currency} an hour expected."
        )
    if found.HasField("current"):
        verdict = word(messages.CurrentVerdict, found.current.verdict)
        yield f"Servers that run now: {verdict} (planned less current {found.current.server_count_change:+d})."


def _counts(found: messages.CandidateConfidence) -> RenderableType:
    rows = [
        (
            percent(item.confidence),
            number(field(item, "replica_count")),
            number(field(item, "server_count")),
            words.money(item.per_hour) if item.HasField("per_hour") else number(None),
        )
        for item in found.counts
    ]
    return table("How sure", ("enough in", "replicas", "servers", "an hour"), rows, right=(1, 2))


def _swings(found: messages.CandidateConfidence) -> RenderableType:
    rows = [
        (item.input, str(item.low_replica_count), number(field(item, "high_replica_count")))
        for item in found.swings[:_SWINGS_SHOWN]
    ]
    return table("What matters most", ("input alone, 5 to 95 %", "from replicas", "to"), rows, right=(1, 2))

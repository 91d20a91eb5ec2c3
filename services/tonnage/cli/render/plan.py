"""A plan as people read it: the verdict first, then counts, why, on what, and what was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tonnage.cli.output import clean, facts, field, number, percent, table, word
from tonnage.cli.render import words
from tonnage.cli.render.confidence import confidence
from tonnage.cli.render.findings import evidence, findings
from tonnage.client import messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType


def plan(answer: messages.Plan) -> Iterator[RenderableType]:
    """Yield the parts of a plan."""
    yield _verdict(answer)
    if answer.summary:
        yield Text(clean(answer.summary))
    yield ""
    yield facts(_asked(answer))
    for position, candidate in enumerate(answer.candidates[:1]):
        yield ""
        yield from _candidate(candidate, position)
    if len(answer.candidates) > 1:
        yield ""
        yield _others(answer.candidates)
    if answer.rejections:
        yield ""
        yield rejections(answer.rejections)
    yield from findings(answer.findings)
    yield ""
    yield Text(f"plan {answer.plan_id}, data version {answer.data_version}, release {answer.release}", style="dim")


def _verdict(answer: messages.Plan) -> Text:
    verdict = word(messages.PlanVerdict, answer.verdict).upper()
    style = "bold green" if answer.verdict == messages.PLAN_VERDICT_FEASIBLE else "bold red"
    if not answer.candidates:
        return Text(verdict, style=style)
    best = answer.candidates[0]
    bound = "at most " if best.upper_bound else ""
    return Text.assemble((verdict, style), (f"  {bound}{counted(best.count)}", "bold"))


def counted(count: messages.ServerCount) -> str:
    """Return the counts, kept apart."""
    parts = [f"{count.replica_count} replicas", f"{count.server_count} servers"]
    if count.HasField("accelerator_count"):
        parts.append(f"{count.accelerator_count} accelerators")
    if count.HasField("installed_accelerator_count"):
        parts.append(f"{count.installed_accelerator_count} installed")
    return ", ".join(parts)


def _asked(answer: messages.Plan) -> Iterable[tuple[str, str]]:
    workload = answer.request.workload
    yield "model", workload.model
    yield "demand", demand_line(answer.demand)
    for bucket in workload.buckets:
        yield "size", f"{words.work(bucket.work)} ({percent(field(bucket, 'share'))} of requests)"
    yield "limits", words.limits(workload.slo)
    if answer.request.configuration.ListFields():
        yield "only", words.configuration(answer.request.configuration)
    yield "policy", f"{word(messages.CapacityPolicy, answer.request.policy)}, as of {answer.request.as_of_date}"


def demand_line(demand: messages.DemandSummary) -> str:
    """Return the peak, and how it came about."""
    source = f" ({demand.source})" if demand.source else ""
    return f"{number(demand.peak_requests_per_s)} requests/s at peak: {demand.equation}{source}"


def _candidate(item: messages.Candidate, position: int) -> Iterator[RenderableType]:
    yield Text(f"{position + 1}. {words.configuration(item.configuration)}", style="bold")
    yield facts(_why(item))
    yield from confidence(item)
    yield from evidence(item.evidence)
    yield from findings(item.findings, "Findings of this configuration")


def _why(item: messages.Candidate) -> Iterator[tuple[str, str]]:
    bound = " (an upper bound: the curve never met its limit)" if item.upper_bound else ""
    yield "servers", counted(item.count) + bound
    for bucket in item.buckets:
        yield "Q_slo", f"{words.q_slo(bucket.capacity)}, measured at {words.work(bucket.measured_work)}"
        yield "", _readings(bucket.capacity)
    yield "sum", item.count.equation
    yield "reserve", reserve_line(item.reserve)
    yield "headroom", headroom(item.count)
    yield "utilization", f"{percent(item.utilization_ratio)} at peak, without reserve"
    yield "decides", words.bottleneck(item.bottleneck)
    if item.assumed_fields:
        yield "left open", ", ".join(item.assumed_fields) + " (filled by what was measured)"
    if item.HasField("cost"):
        yield "cost", _cost(item.cost)


def _readings(capacity: messages.SloCapacity) -> str:
    """Return the two readings of a curve side by side."""
    measured = number(field(capacity, "measured_requests_per_s"))
    crossing = number(field(capacity, "crossing_requests_per_s"))
    return f"best measured {measured}, interpolated crossing {crossing} requests/s; {capacity.reason}".rstrip("; ")


def reserve_line(reserve: messages.ReserveBreakdown) -> str:
    """Return R and its parts with their sources."""
    parts = ", ".join(f"{item.part} {number(item.ratio)} ({item.source})" for item in reserve.parts)
    return f"R = {number(reserve.ratio)}" + (f": {parts}" if parts else "")


def headroom(count: messages.ServerCount) -> str:
    """Return how far demand may move before the count does."""
    up = percent(field(count, "demand_headroom_ratio"))
    down = percent(field(count, "demand_surplus_ratio"))
    losses = count.survived_replica_losses
    return f"one more replica after +{up}, one fewer after -{down}; survives the loss of {losses} replicas"


def _cost(cost: messages.CostSummary) -> str:
    text = f"{words.money(cost.per_hour)} an hour"
    if cost.HasField("per_million_output_tokens"):
        at = percent(field(cost, "utilization_ratio"))
        text += f"; {words.money(cost.per_million_output_tokens)} per million output tokens at {at} utilization"
    return text


def _others(items: Iterable[messages.Candidate]) -> RenderableType:
    rows = [
        (
            str(position),
            words.configuration(item.configuration, with_model=False),
            str(item.count.replica_count),
            str(item.count.server_count),
            number(field(item.count, "accelerator_count")),
            words.money(item.cost.per_hour),
            words.bottleneck(item.bottleneck),
            "upper bound" if item.upper_bound else "",
        )
        for position, item in enumerate(items, start=1)
    ]
    columns = ("", "configuration", "replicas", "servers", "accelerators", "an hour", "decides", "")
    return table("All that serve it", columns, rows, right=(2, 3, 4))


def rejections(items: Iterable[messages.Rejection]) -> RenderableType:
    """Return what was refused, with the reason and what to do."""
    rows = [
        (
            words.configuration(item.configuration),
            item.code,
            words.bottleneck(item.bottleneck),
            item.reason,
            item.remedy,
        )
        for item in items
    ]
    return table("Refused", ("configuration", "code", "bottleneck", "why", "what to do"), rows)

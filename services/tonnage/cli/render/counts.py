"""Counts, demand and utilization as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tonnage.cli.output import UNKNOWN, facts, field, number, percent, table
from tonnage.cli.render import words
from tonnage.cli.render.findings import findings
from tonnage.cli.render.plan import counted, demand_line, headroom, reserve_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from tonnage.client import messages


def servers(answer: messages.EstimateServerCountResponse) -> Iterator[RenderableType]:
    """Yield the parts of a server count."""
    if answer.impossible:
        yield Text("NOT POSSIBLE  no count survives the loss asked for", style="bold red")
    else:
        yield Text(counted(answer.count), style="bold")
        yield facts(
            [
                ("sum", answer.count.equation),
                ("reserve", reserve_line(answer.reserve)),
                ("headroom", headroom(answer.count)),
            ]
        )
    yield from findings(answer.findings)


def demand(answer: messages.EstimateTokenDemandResponse) -> Iterator[RenderableType]:
    """Yield the parts of a token demand; base and peak side by side."""
    summary = answer.demand
    yield Text(demand_line(summary), style="bold")
    base = summary.base_tokens if summary.HasField("base_tokens") else None
    rows = [_token_row("all", "", base, summary.peak_tokens)]
    for item in summary.buckets:
        own_base = item.base if item.HasField("base") else None
        rows.append(_token_row(words.work(item.work), percent(item.share), own_base, item.peak))
    columns = ("size", "share", "base in", "base out", "base total", "peak in", "cached", "uncached", "out", "total")
    yield table("Tokens/s", columns, rows, right=tuple(range(1, 10)))
    yield from findings(answer.findings)


def _token_row(name: str, share: str, base: messages.TokenDemand | None, peak: messages.TokenDemand) -> tuple[str, ...]:
    low = (
        (UNKNOWN,) * 3
        if base is None
        else tuple(map(number, (base.input_tokens_per_s, base.output_tokens_per_s, base.total_tokens_per_s)))
    )
    high = (
        peak.input_tokens_per_s,
        peak.cached_input_tokens_per_s,
        peak.uncached_input_tokens_per_s,
        peak.output_tokens_per_s,
        peak.total_tokens_per_s,
    )
    return (name, share, *low, *map(number, high))


def utilization(answer: messages.ComputeUtilizationResponse) -> Iterator[RenderableType]:
    """Yield the parts of a utilization."""
    verdict, style = ("WITHIN", "bold green") if answer.within_limit else ("OVER", "bold red")
    total, limit = percent(field(answer, "total_utilization_ratio")), percent(answer.limit_ratio)
    yield Text.assemble((f"{verdict} THE LIMIT", style), (f"  {total} of {limit}", "bold"))
    yield facts([("sum", answer.equation), ("first to breach", answer.first_to_breach or UNKNOWN)])
    rows = [
        (
            item.tenant,
            number(item.peak_requests_per_s),
            number(item.q_slo_requests_per_s),
            percent(item.utilization_ratio),
            percent(item.share),
            percent(field(item, "growth_until_limit_ratio")),
        )
        for item in answer.tenants
    ]
    columns = ("tenant", "peak/s", "Q_slo/s", "U", "share", "growth until limit")
    yield table("Tenants", columns, rows, right=(1, 2, 3, 4, 5))
    yield from findings(answer.findings)

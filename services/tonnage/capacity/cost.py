"""Cost of a planned count, by the hour and by the million output tokens at the planned utilization."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.capacity import notes
from tonnage.capacity.exact import Amount, as_float, exact, product, shown
from tonnage.domain.plan import CostSummary
from tonnage.units import S_PER_HOUR

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.domain.plan import ServerCount
    from tonnage.domain.workload import ServerShape

_PER_MILLION = 10**6


def per_million_output_tokens(
    amount_per_hour: Amount, output_tokens_per_s: Amount, utilization_ratio: Amount
) -> float | None:
    """Return the price of a million output tokens: amount / (tokens/s x 3600 x utilization) x 10^6.

    ``output_tokens_per_s`` is what the servers carry inside the SLO; idle hours are paid, so a lower utilization
    raises the price. None at utilization 0, where no price is defined. Raises ``InvalidInput`` out of range.
    """
    checks.not_negative("amount_per_hour", float(amount_per_hour))
    checks.positive("output_tokens_per_s", float(output_tokens_per_s))
    checks.not_negative("utilization_ratio", float(utilization_ratio))
    tokens = product(output_tokens_per_s, S_PER_HOUR, utilization_ratio)
    if tokens == 0:
        return None
    return as_float("amount_per_hour", exact(amount_per_hour) * _PER_MILLION / tokens)


def summary(
    count: ServerCount, server: ServerShape, *, utilization_ratio: float, output_tokens_per_s: float | None
) -> tuple[CostSummary | None, tuple[Finding, ...]]:
    """Return the cost of a count, or None without a price.

    ``utilization_ratio`` is the planned one, at peak; ``output_tokens_per_s`` is what all replicas carry inside the
    SLO together, None where the work generates no text.
    """
    price = server.price_per_hour
    if price is None:
        return None, (
            notes.info(
                "PRICE_NOT_STATED",
                "no price of a server was stated, so there is no cost and no ranking by it",
                path="server.price_per_hour",
                remedy="state the price of one server and hour, with its source and date",
            ),
        )
    amount = as_float("server.price_per_hour.amount", product(price.amount, count.server_count))
    unit = None
    if output_tokens_per_s is not None and output_tokens_per_s > 0:
        unit = per_million_output_tokens(amount, output_tokens_per_s, utilization_ratio)
    result = CostSummary(
        per_hour=replace(price, amount=amount),
        per_million_output_tokens=None if unit is None else replace(price, amount=unit),
        utilization_ratio=utilization_ratio,
    )
    return result, (_said(unit, utilization_ratio, has_tokens=output_tokens_per_s is not None),)


def _said(unit: float | None, utilization_ratio: float, *, has_tokens: bool) -> Finding:
    path = "server.price_per_hour"
    if unit is not None:
        return notes.info(
            "COST_AT_PEAK",
            f"the price of output tokens holds while the peak is served (utilization {shown(utilization_ratio)}); "
            "hours below the peak cost the same and serve less, so the mean price is higher",
            path=path,
        )
    if has_tokens:
        return notes.warning(
            "UNIT_COST_NOT_DEFINED", "nothing is generated at utilization 0, so no price a token is defined", path=path
        )
    return notes.info(
        "UNIT_COST_NOT_DEFINED", "the work has no known output tokens, so no price a token is given", path=path
    )

"""Money."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders_capacity import codes

from tonnage.capacity.cost import per_million_output_tokens, summary
from tonnage.capacity.sizing import server_count
from tonnage.domain.workload import Money, Reserve, ServerShape
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.domain.plan import ServerCount


def price(amount: float) -> ServerShape:
    return ServerShape(price_per_hour=Money(currency="USD", amount=amount, source="quote", as_of_date="2026-01-01"))


def three_servers() -> ServerCount:
    count = server_count([(6.0, 2.0)], Reserve()).count
    assert count is not None
    return count


def test_idle_hours_raise_the_price_of_a_token() -> None:
    full, tenth = (per_million_output_tokens(2.5, 700, share) for share in (1.0, 0.1))
    assert full == pytest.approx(0.992, rel=1e-3)
    assert tenth == pytest.approx(9.921, rel=1e-3)


def test_at_no_use_no_price_of_a_token_is_defined() -> None:
    assert per_million_output_tokens(2.5, 700, 0.0) is None


@pytest.mark.parametrize(("tokens", "share"), [(0.0, 1.0), (-1.0, 1.0), (700.0, -0.1), (float("nan"), 1.0)])
def test_figures_out_of_range_are_refused(tokens: float, share: float) -> None:
    with pytest.raises(InvalidInput):
        per_million_output_tokens(2.5, tokens, share)


def test_servers_are_paid_by_the_hour() -> None:
    found, findings = summary(three_servers(), price(0.1), utilization_ratio=0.5, output_tokens_per_s=1000.0)
    assert found is not None
    assert found.per_hour.amount == 0.3  # in floats 0.1 x 3 is 0.30000000000000004
    assert (found.per_hour.currency, found.per_hour.source, found.per_hour.as_of_date) == ("USD", "quote", "2026-01-01")
    assert found.per_million_output_tokens is not None
    assert found.per_million_output_tokens.amount == pytest.approx(0.3 / (1000 * 3600 * 0.5) * 1e6)
    assert codes(findings) == ["COST_AT_PEAK"]


def test_without_a_price_there_is_no_cost() -> None:
    found, findings = summary(three_servers(), ServerShape(), utilization_ratio=0.5, output_tokens_per_s=1000.0)
    assert (found, codes(findings)) == (None, ["PRICE_NOT_STATED"])


def test_a_price_of_nothing_is_free_and_not_unknown() -> None:
    found, _ = summary(three_servers(), price(0.0), utilization_ratio=0.5, output_tokens_per_s=1000.0)
    assert found is not None
    assert found.per_million_output_tokens is not None
    assert (found.per_hour.amount, found.per_million_output_tokens.amount) == (0.0, 0.0)


@pytest.mark.parametrize(("tokens", "utilization"), [(None, 0.5), (0.0, 0.0), (1000.0, 0.0)])
def test_a_token_price_that_is_not_defined_is_said(tokens: float | None, utilization: float) -> None:
    found, findings = summary(three_servers(), price(1.0), utilization_ratio=utilization, output_tokens_per_s=tokens)
    assert found is not None
    assert found.per_million_output_tokens is None
    assert codes(findings) == ["UNIT_COST_NOT_DEFINED"]

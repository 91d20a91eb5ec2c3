"""The Freshness form as a request."""

from __future__ import annotations

from tonnage_ui.forms.configuration import fill_configuration
from tonnage_ui.forms.values import Values, count_of, put, text_of
from tonnage_ui.messages import pb


def retest_request(values: Values, page_size: int) -> pb.CheckRetestRequest:
    """Return the question: what is planned, against everything that was measured."""
    request = pb.CheckRetestRequest(page_size=page_size)
    named = {key: value for key, value in values.items() if key != "fingerprint"}
    fill_configuration(request.planned, named)
    put(request.planned, "model", text_of(values, "model"))
    put(request, "max_age_days", count_of(values, "max_age_days"))
    if not request.planned.ListFields():
        request.ClearField("planned")
    return request


def key_of_field(path: str) -> str | None:
    """Return the widget key of a request's field."""
    return path.removeprefix("planned.")

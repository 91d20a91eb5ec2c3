"""The what-if form as a request: one thing is varied, and one more may draw several lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage_ui.forms.plan import LIMITS, plan_request
from tonnage_ui.forms.values import Values, count_of, number_of, put, text_of
from tonnage_ui.messages import enum_word, pb

if TYPE_CHECKING:
    from collections.abc import Sequence

# By the names of the command line.
FIELDS: Final = {
    "peak_rps": "PEAK_REQUESTS_PER_S",
    "peak_factor": "PEAK_FACTOR",
    "reserve": "RESERVE_RATIO",
    "input_tokens": "INPUT_TOKENS_MEAN",
    "output_tokens": "OUTPUT_TOKENS_MEAN",
    "lost_replicas": "LOST_REPLICA_COUNT",
}
VARIED: Final = (*FIELDS, *(f"{name}_ms" for name in LIMITS))


def explore_request(values: Values) -> pb.ExplorePlansRequest:
    """Return the plan request of the form and the axes over which it is varied."""
    request = pb.ExplorePlansRequest(base=plan_request(values))
    name = text_of(values, "vary")
    if name in VARIED:
        axis = request.axes.add()
        _name_field(axis, name)
        axis.span.SetInParent()
        put(axis.span, "low", number_of(values, "vary_low"))
        put(axis.span, "high", number_of(values, "vary_high"))
        put(axis.span, "count", count_of(values, "vary_count"))
        axis.span.geometric = bool(values.get("vary_geometric"))
    lines = text_of(values, "lines")
    if lines in VARIED:
        axis = request.axes.add()
        _name_field(axis, lines)
        axis.values.values.extend(_numbers(text_of(values, "lines_values")))
    return request


def is_askable(values: Values) -> bool:
    """Tell whether something to vary and its ends are named; the rest is the server's to judge."""
    named = text_of(values, "vary") in VARIED
    return named and None not in (number_of(values, "vary_low"), number_of(values, "vary_high"))


def not_numbers(values: Values) -> list[str]:
    """Return the parts of the list of lines that are no numbers."""
    return [part for part in _parts(text_of(values, "lines_values")) if not _is_number(part)]


def _name_field(axis: pb.ExploreAxis, name: str) -> None:
    if name in FIELDS:
        axis.field = pb.ExploreField.Value(f"EXPLORE_FIELD_{FIELDS[name]}")
        return
    metric, statistic, _ = name.split("_")
    axis.field = pb.EXPLORE_FIELD_LATENCY_LIMIT_MS
    axis.metric = pb.LatencyMetric.Value(f"LATENCY_METRIC_{metric.upper()}")
    axis.statistic = pb.Statistic.Value(f"STATISTIC_{statistic.upper()}")


def _numbers(text: str) -> Sequence[float]:
    return [float(part) for part in _parts(text) if _is_number(part)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _is_number(part: str) -> bool:
    try:
        float(part)
    except ValueError:
        return False
    return True


def name_of(axis: pb.ExploreAxis) -> str:
    """Return the name under which an axis is picked."""
    if axis.field == pb.EXPLORE_FIELD_LATENCY_LIMIT_MS:
        return f"{enum_word(axis, 'metric')}_{enum_word(axis, 'statistic')}_ms"
    word = enum_word(axis, "field").upper()
    return next(name for name, field in FIELDS.items() if field == word)

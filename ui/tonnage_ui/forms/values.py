"""Setting a message's fields from widget values: what nobody filled in stays absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.message import Message

Values = Mapping[str, object]


def put(message: Message, field: str, value: object) -> None:
    """Set one field unless the widget is empty; empty is never 0."""
    if value is None or value == "":
        return
    setattr(message, field, value)


def text_of(values: Values, key: str) -> str:
    """Return a text widget's value without blanks around it, or an empty text."""
    value = values.get(key)
    return "" if value is None else str(value).strip()


def number_of(values: Values, key: str) -> float | None:
    """Return a number widget's value, or None where it is empty."""
    value = values.get(key)
    if value is None or value == "" or not isinstance(value, int | float):
        return None
    return float(value)


def count_of(values: Values, key: str) -> int | None:
    """Return a whole-number widget's value, or None where it is empty."""
    value = number_of(values, key)
    return None if value is None else int(value)

"""How a message is asked: what is absent is None, what is required and absent is refused."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tonnage import access, checks
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.message import Message

Value = TypeVar("Value")

# Beyond these a figure is a slip of the keyboard, and the counts that follow would not be whole numbers any more.
LARGEST_RATE: Final = 1e9
SMALLEST_RATE: Final = 1e-9
LARGEST_RATIO: Final = 1e6
LARGEST_LENGTH: Final = 1e9

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def optional(message: Message, name: str) -> Any:  # noqa: ANN401 -- the type is that of the field
    """Return a field with presence, or None when it is absent."""
    return getattr(message, name) if message.HasField(name) else None


def text(value: str) -> str | None:
    """Return a text, or None when it is empty."""
    return value or None


def needed(message: Message, name: str, cure: str = "state it") -> Any:  # noqa: ANN401 -- the type is that of the field
    """Return a field with presence; raise ``InvalidInput`` with the cure when it is absent."""
    if not message.HasField(name):
        raise InvalidInput.field(name, None, "is required and absent", cure)
    return getattr(message, name)


def chosen(message: Message, oneof: str, path: str, cure: str) -> str:
    """Return the name of the field set in a oneof; raise ``InvalidInput`` when none is."""
    kind: str | None = message.WhichOneof(oneof)
    if kind is None:
        raise InvalidInput.field(path, None, "is required and absent", cure)
    return kind


def member(table: Mapping[Any, Value], number: int, path: str) -> Value:
    """Return what an enum number means; raise ``InvalidInput`` for one we do not know and for "unspecified"."""
    if number not in table:
        problem = "is not stated" if number == 0 else "is a number this release does not know"
        raise InvalidInput.field(path, number, problem, "use one of " + ", ".join(str(item) for item in table.values()))
    return table[number]


def at_most(path: str, value: float | None, most: float) -> None:
    """Refuse figures too large to be meant."""
    checks.finite(path, value)
    if value is not None and value > most:
        raise InvalidInput.field(path, value, "is too large to be meant", f"give at most {most:g}")


def rate(path: str, value: float | None) -> None:
    """Refuse rates that are not finite, below 0 or too large to be meant."""
    checks.not_negative(path, value)
    at_most(path, value, LARGEST_RATE)


def day(path: str, value: str) -> str:
    """Return a YYYY-MM-DD date as it stands; raise ``InvalidInput`` for anything else."""
    checks.name(path, value)
    cure = "give a date as YYYY-MM-DD"
    if _DATE.fullmatch(value) is None:
        raise InvalidInput.field(path, value, "is not a date", cure)
    try:
        date.fromisoformat(value)
    except ValueError as error:
        raise InvalidInput.field(path, value, "is not a day of the calendar", cure) from error
    return value


def namespace(value: str) -> str:
    """Return the namespace a request means, "default" for none; raise ``PermissionDenied`` for one not seen."""
    checks.name("namespace", value)
    if "/" in value:
        raise InvalidInput.field("namespace", value, "holds a slash", "give the namespace's name alone")
    meant = value or "default"
    access.require(meant)
    return meant

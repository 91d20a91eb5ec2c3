"""Putting what a file says and what flags say into one request; a flag replaces the file's part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message import Message

if TYPE_CHECKING:
    from collections.abc import Collection

    from google.protobuf.descriptor import FieldDescriptor

# Parts that are joined field by field; every other part stated by flags replaces the file's whole.
JOINED: Final = frozenset({"workload", "configuration"})


def overlay(base: Message, top: Message, joined: Collection[str] = JOINED) -> None:
    """Put what ``top`` states into ``base``."""
    for field, value in top.ListFields():
        if field.name in joined and isinstance(value, Message):
            overlay(getattr(base, field.name), value, frozenset())
        else:
            replace(base, field, value)


def replace(message: Message, field: FieldDescriptor, value: Any) -> None:  # noqa: ANN401 -- a field's type is the message's
    """Set one field, whatever its kind, to a value of the same field elsewhere."""
    message.ClearField(field.name)
    if isinstance(value, Message):
        getattr(message, field.name).CopyFrom(value)
    elif isinstance(value, (str, bytes, int, float)):
        setattr(message, field.name, value)
    else:
        getattr(message, field.name).MergeFrom(value)


def stated(message: Message | None) -> Message | None:
    """Return a message that states something, else None."""
    return message if message is not None and message.ListFields() else None

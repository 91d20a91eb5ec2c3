"""The messages the pages speak, as ``pb``, and how to ask them for presence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from google.protobuf import json_format

from tonnage.client import messages as pb

if TYPE_CHECKING:
    from google.protobuf.message import Message

__all__ = ["DEFAULT_NAMESPACE", "count_of", "enum_word", "number_of", "pb", "to_json"]

DEFAULT_NAMESPACE: Final = "default"


def number_of(message: Message, field: str) -> float | None:
    """Return a measured number, or None where the field is absent."""
    return float(getattr(message, field)) if message.HasField(field) else None


def count_of(message: Message, field: str) -> int | None:
    """Return a count, or None where the field is absent."""
    return int(getattr(message, field)) if message.HasField(field) else None


def enum_word(message: Message, field: str) -> str:
    """Return an enum's value as a lower-case word without its prefix; "unspecified" for 0.

    ``BOTTLENECK_TTFT`` gives "ttft". A number this release does not know gives "unknown-7".
    """
    described = message.DESCRIPTOR.fields_by_name[field].enum_type
    if described is None:
        raise TypeError(f"{field} is no enum")
    number = int(getattr(message, field))
    value = described.values_by_number.get(number)
    if value is None:
        return f"unknown-{number}"
    prefix = described.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return str(value.name.removeprefix(prefix)).lower()


def to_json(message: Message) -> str:
    """Return protobuf JSON with the names of the .proto files, indented."""
    return json_format.MessageToJson(message, preserving_proto_field_name=True, indent=2)

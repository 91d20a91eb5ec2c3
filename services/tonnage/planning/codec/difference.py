"""What differs between two messages of one type, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.descriptor import FieldDescriptor

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from google.protobuf.message import Message

_LONGEST_TEXT: Final = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """One field; empty text is absent."""

    path: str
    before: str
    after: str


class Differ:
    """Compares messages; ``keys`` names the entries of a repeated field, ``skipped`` fields are not looked at.

    Both are by the full name of the field, such as "tonnage.v1.Plan.candidates".
    """

    def __init__(self, keys: Mapping[str, Callable[[Any], str]], skipped: Collection[str]) -> None:
        self._keys = keys
        self._skipped = frozenset(skipped)

    def differences(self, before: Message, after: Message, path: str = "") -> Iterator[Difference]:
        """Yield fields that differ, in the order of the message."""
        fields: Sequence[Any] = before.DESCRIPTOR.fields
        for field in fields:
            if field.full_name in self._skipped:
                continue
            inner = f"{path}.{field.name}" if path else field.name
            left, right = getattr(before, field.name), getattr(after, field.name)
            if field.is_repeated:
                yield from self._lists(field, left, right, inner)
            elif field.type == FieldDescriptor.TYPE_MESSAGE:
                yield from self._messages(field, before, after, inner)
            elif _stated(field, before) != _stated(field, after):
                yield Difference(inner, _stated(field, before), _stated(field, after))

    def _messages(self, field: FieldDescriptor, before: Message, after: Message, path: str) -> Iterator[Difference]:
        has_before, has_after = before.HasField(field.name), after.HasField(field.name)
        if has_before and has_after:
            yield from self.differences(getattr(before, field.name), getattr(after, field.name), path)
        elif has_before or has_after:
            yield Difference(path, "stated" if has_before else "", "stated" if has_after else "")

    def _lists(
        self, field: FieldDescriptor, before: Sequence[Any], after: Sequence[Any], path: str
    ) -> Iterator[Difference]:
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            texts = _joined(field, before), _joined(field, after)
            if texts[0] != texts[1]:
                yield Difference(path, *texts)
            return
        named = self._keys.get(field.full_name)
        left, right = _named(before, named), _named(after, named)
        for name in dict.fromkeys((*left, *right)):
            inner = f"{path}[{name}]"
            if name in left and name in right:
                yield from self.differences(left[name], right[name], inner)
            else:
                yield Difference(inner, "there" if name in left else "", "there" if name in right else "")
        shared = [name for name in left if name in right]
        if named is not None and shared != [name for name in right if name in left]:
            yield Difference(f"{path} order", ", ".join(left)[:_LONGEST_TEXT], ", ".join(right)[:_LONGEST_TEXT])


def _named(entries: Sequence[Any], named: Callable[[Any], str] | None) -> dict[str, Any]:
    """Return entries by key, or by position; entries of one key are numbered."""
    found: dict[str, Any] = {}
    for place, entry in enumerate(entries):
        name = str(place) if named is None else f'"{named(entry)}"'
        while name in found:
            name += "'"
        found[name] = entry
    return found


def _joined(field: FieldDescriptor, values: Any) -> str:  # noqa: ANN401 -- a repeated scalar or a map
    if field.message_type is not None:
        return ", ".join(f"{key}={values[key]}" for key in sorted(values))[:_LONGEST_TEXT]
    return ", ".join(_text(field, value) for value in values)[:_LONGEST_TEXT]


def _stated(field: FieldDescriptor, message: Message) -> str:
    if field.has_presence and not message.HasField(field.name):
        return ""
    return _text(field, getattr(message, field.name))


def _text(field: FieldDescriptor, value: Any) -> str:  # noqa: ANN401 -- a scalar of the field's type
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return str(value) if known is None else known.name
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)[:_LONGEST_TEXT]

"""Walks every field of a request and puts values into it that no request may hold.

``walk(valid)`` yields copies of a valid message, each with one field spoilt. Fields the message
leaves absent are visited too. A test sends each and asks for a named refusal, or a true answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from google.protobuf.descriptor import FieldDescriptor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from google.protobuf.descriptor import Descriptor
    from google.protobuf.message import Message

# A protobuf message of a type known at run time alone.
AnyMessage: TypeAlias = Any
Reach: TypeAlias = "Callable[[AnyMessage], AnyMessage]"

M = TypeVar("M", bound="Message")

# A message type may stand inside itself once (a level in a level), not for ever.
_SELF_NESTING: Final = 2
_MANY: Final = 10_001
_INT32: Final = (-1, -(2**31), 2**31 - 1)
_INT64: Final = (-1, -(2**63), 2**63 - 1)
_UNSIGNED: Final = (2**32 - 1,)
_DOUBLES: Final = (float("nan"), float("inf"), float("-inf"), -1.0, 1e308)
_TEXTS: Final = ("", " ", "a\x00b", "line\nbreak", "\x7f", "x" * 20_000, "\u202e\u2603")
_BYTES: Final = (b"", b"\xff\xfe\x00", b"{" * 100)
_UNKNOWN_ENUM: Final = 9_999
_LONGEST_SHOWN: Final = 40
_VALUES: Final[dict[int, tuple[Any, ...]]] = {
    FieldDescriptor.TYPE_DOUBLE: _DOUBLES,
    FieldDescriptor.TYPE_FLOAT: _DOUBLES,
    FieldDescriptor.TYPE_INT32: _INT32,
    FieldDescriptor.TYPE_INT64: _INT64,
    FieldDescriptor.TYPE_UINT32: _UNSIGNED,
    FieldDescriptor.TYPE_UINT64: _UNSIGNED,
    FieldDescriptor.TYPE_BOOL: (True, False),
    FieldDescriptor.TYPE_STRING: _TEXTS,
    FieldDescriptor.TYPE_BYTES: _BYTES,
    FieldDescriptor.TYPE_ENUM: (0, _UNKNOWN_ENUM),
}


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A request with one field spoilt: where, with what, and the whole message."""

    path: str
    value: str
    message: Any

    def __str__(self) -> str:
        """Return what a failing test shows."""
        return f"{self.path} = {self.value}"


@dataclass(frozen=True, slots=True)
class _Change:
    path: str
    value: str
    apply: Callable[[Any], None]


def walk(valid: M) -> Iterator[Spoilt]:
    """Yield a copy of ``valid`` for each bad value of each field, absent fields included."""
    for change in _changes(valid, "", lambda message: message, ()):
        copy = type(valid)()
        copy.CopyFrom(valid)
        change.apply(copy)
        yield Spoilt(change.path, change.value, copy)


def paths(valid: Message) -> set[str]:
    """Return the paths that are walked, indices left out."""
    return {change.path for change in _changes(valid, "", lambda message: message, ())}


def _changes(message: AnyMessage, prefix: str, reach: Reach, above: tuple[str, ...]) -> Iterator[_Change]:
    descriptor: Descriptor = message.DESCRIPTOR
    if above.count(descriptor.full_name) >= _SELF_NESTING:
        return
    inside = (*above, descriptor.full_name)
    for field in descriptor.fields:
        path = f"{prefix}.{field.name}" if prefix else field.name
        yield _Change(path, "(absent)", partial(_clear, reach, field.name))
        if _is_map(field):
            yield from _of_map(field, path, reach)
        elif field.is_repeated and field.type == FieldDescriptor.TYPE_MESSAGE:
            yield _Change(path, "(an empty entry)", partial(_add_empty, reach, field.name))
            yield _Change(path, "(first entry twice)", partial(_double, reach, field.name))
            entries = getattr(message, field.name)
            sample = entries[0] if len(entries) else getattr(type(message)(), field.name).add()
            yield from _changes(sample, f"{path}[0]", partial(_first, reach, field.name), inside)
        elif field.is_repeated:
            yield from _of_list(field, path, reach)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            yield _Change(path, "(empty)", partial(_empty, reach, field.name))
            yield from _changes(getattr(message, field.name), path, partial(_part, reach, field.name), inside)
        else:
            for value in _VALUES[field.type]:
                yield _Change(path, _shown(value), partial(_set, reach, field.name, value))


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _of_list(field: FieldDescriptor, path: str, reach: Reach) -> Iterator[_Change]:
    values = _VALUES[field.type]
    for value in values:
        yield _Change(f"{path}[0]", _shown(value), partial(_extend, reach, field.name, [value]))
    yield _Change(path, f"({_MANY} entries)", partial(_extend, reach, field.name, [values[-1]] * _MANY))


def _of_map(field: FieldDescriptor, path: str, reach: Reach) -> Iterator[_Change]:
    for key in _TEXTS:
        yield _Change(f"{path}[{_shown(key)}]", "'x'", partial(_put, reach, field.name, key, "x"))
    for value in _TEXTS:
        yield _Change(f'{path}["walk"]', _shown(value), partial(_put, reach, field.name, "walk", value))


def _clear(reach: Reach, name: str, whole: AnyMessage) -> None:
    reach(whole).ClearField(name)


def _set(reach: Reach, name: str, value: object, whole: AnyMessage) -> None:
    setattr(reach(whole), name, value)


def _part(reach: Reach, name: str, whole: AnyMessage) -> AnyMessage:
    part = getattr(reach(whole), name)
    part.SetInParent()
    return part


def _empty(reach: Reach, name: str, whole: AnyMessage) -> None:
    _clear(reach, name, whole)
    _part(reach, name, whole)


def _first(reach: Reach, name: str, whole: AnyMessage) -> AnyMessage:
    entries = getattr(reach(whole), name)
    return entries[0] if len(entries) else entries.add()


def _add_empty(reach: Reach, name: str, whole: AnyMessage) -> None:
    getattr(reach(whole), name).add()


def _double(reach: Reach, name: str, whole: AnyMessage) -> None:
    first = _first(reach, name, whole)
    getattr(reach(whole), name).add().CopyFrom(first)


def _extend(reach: Reach, name: str, values: list[Any], whole: AnyMessage) -> None:
    getattr(reach(whole), name).extend(values)


def _put(reach: Reach, name: str, key: str, value: str, whole: AnyMessage) -> None:
    getattr(reach(whole), name)[key] = value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"

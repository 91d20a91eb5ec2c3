"""Where a command's words go: JSON for programs, tables for people."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import IO, TYPE_CHECKING, Any, Final, Literal

from google.protobuf.json_format import MessageToDict
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from google.protobuf.message import Message

UNKNOWN: Final = "–"
_PIPE_WIDTH: Final = 160
_THOUSAND: Final = 1000
_LEAST_GIB_BYTES: Final = 10 << 20


def as_dict(message: Message) -> dict[str, Any]:
    """Return protobuf JSON with our names; an absent field is unknown, a zero stands as zero."""
    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


def print_json(value: Message | dict[str, Any], file: IO[str] | None = None) -> None:
    """Print one JSON document; a NaN would be a fault and raises ``ValueError``."""
    document = value if isinstance(value, dict) else as_dict(value)
    print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False), file=file or sys.stdout)


def console(file: IO[str] | None = None) -> Console:
    """Return a console that takes texts as they are: a file's name is no markup."""
    stream = file or sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


def clean(text: str) -> str:
    """Return a text without what could steer a terminal."""
    return "".join(char if unicodedata.category(char)[0] != "C" or char == "\n" else "�" for char in text)


def number(value: float | None, unit: str = "") -> str:
    """Return a figure to four digits, or a dash where it is not known."""
    if value is None:
        return UNKNOWN
    text = f"{value:,.0f}" if abs(value) >= _THOUSAND else f"{value:.4g}"
    return f"{text} {unit}" if unit else text


def percent(ratio: float | None) -> str:
    """Return a ratio as percent, or a dash."""
    return UNKNOWN if ratio is None else f"{ratio * 100:.4g} %"


def gib(value_bytes: float | None) -> str:
    """Return bytes as GiB, or a dash; what would be nearly nothing in GiB stays in bytes."""
    if value_bytes is None:
        return UNKNOWN
    if 0 < abs(value_bytes) < _LEAST_GIB_BYTES:
        return f"{value_bytes:,.0f} B"
    return f"{value_bytes / (1 << 30):.2f} GiB"


def field(message: Message, name: str) -> Any:  # noqa: ANN401 -- a field's type is the message's matter
    """Return an optional field, or None when it is absent."""
    return getattr(message, name) if message.HasField(name) else None


def word(enum: Any, value: int) -> str:  # noqa: ANN401 -- enum wrappers share no type
    """Return an enum's value as a word: PLAN_VERDICT_NOT_KNOWN as "not known"."""
    prefix, names = enum.DESCRIPTOR.name, enum.DESCRIPTOR.values_by_number
    if value not in names:
        return str(value)
    stem = "".join(f"_{char}" if char.isupper() else char.upper() for char in prefix).lstrip("_") + "_"
    return str(names[value].name).removeprefix(stem).lower().replace("_", " ")


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[int] = (),
    whole: Sequence[int] = (),
) -> Table:
    """Return a table; ``right`` are the positions of columns of figures, ``whole`` of those never broken."""
    made = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for position, name in enumerate(columns):
        justify: Literal["left", "right"] = "right" if position in right else "left"
        made.add_column(name, justify=justify, overflow="fold", no_wrap=position in whole)
    for row in rows:
        made.add_row(*(Text(clean(cell)) for cell in row))
    return made


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Return name and value lines."""
    made = Table(box=None, show_header=False, pad_edge=False)
    made.add_column(style="bold")
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(name, Text(clean(value)))
    return made

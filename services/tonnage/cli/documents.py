"""Reading a request from a YAML or JSON file, by protobuf's JSON names."""

from __future__ import annotations

import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any, TypeVar

import yaml
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message

from tonnage.client.errors import BadInput

M = TypeVar("M", bound=Message)


def read_text(flag: str, path: str) -> str:
    """Return a text file's content, or standard input's for "-"; what cannot be read names the flag."""
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.field(flag, f"{path} cannot be read: {error}; give a readable text file") from error


def read_mapping(flag: str, path: str) -> dict[str, Any]:
    """Return a YAML or JSON document that is a mapping."""
    text = read_text(flag, path)
    try:
        document = json.loads(text) if text.lstrip().startswith("{") else yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise BadInput.field(flag, f"{path} is neither JSON nor YAML: {_line(error)}; mend it") from error
    if not isinstance(document, dict):
        raise BadInput.field(flag, f"{path} holds no mapping; write field: value lines")
    return document


def read_message(flag: str, path: str, kind: type[M], *, inner: str = "") -> M:
    """Return a message from a file; one that holds only the field ``inner``'s content is taken as that.

    A field the message has not is refused by name, with the fields it has.
    """
    document = read_mapping(flag, path)
    known = kind.DESCRIPTOR.fields_by_name
    if inner and not document.keys() & known.keys():
        document = {inner: document}
    try:
        return ParseDict(_plain(document), kind())
    except (ParseError, TypeError, ValueError) as error:
        where = unknown_field(document, kind().DESCRIPTOR) or f"{path}: {_line(error)}"
        raise BadInput.field(flag, f"{where}; see docs/api.md for the fields") from error


def unknown_field(value: object, kind: Any, path: str = "") -> str | None:  # noqa: ANN401 -- protobuf has two classes
    """Return words on the first field a document has and the message has not, with the fields it has."""
    if isinstance(value, list):
        found = (unknown_field(item, kind, f"{path}[{index}]") for index, item in enumerate(value))
        return next((item for item in found if item), None)
    if not isinstance(value, dict) or kind.GetOptions().map_entry:
        return None
    names = {name: item for item in kind.fields for name in (item.name, item.json_name)}
    for key, inner in value.items():
        here = f"{path}.{key}" if path else str(key)
        if key not in names:
            return f"{here} is no field; {path or 'the request'} has {', '.join(item.name for item in kind.fields)}"
        inside = names[key].message_type
        if inside is not None and (told := unknown_field(inner, inside, here)):
            return told
    return None


def _plain(value: Any) -> Any:  # noqa: ANN401 -- a document's value is anything
    """Return what YAML made a date of as the text it was."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, dt.date) else value


def _line(error: Exception) -> str:
    return " ".join(str(error).split())

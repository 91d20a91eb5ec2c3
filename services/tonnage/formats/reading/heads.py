"""What the start of a file looks like: JSON, YAML, a table, text, Parquet."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from typing import IO, Final

import yaml

from tonnage.errors import MalformedReport
from tonnage.formats.base import HEAD_BYTES, Head
from tonnage.formats.reading.jsontext import WHOLE_BYTES, loads, mended
from tonnage.formats.reading.skim import closed_prefix

_PARQUET_MAGIC: Final = b"PAR1"
_DELIMITERS: Final = ",;\t|"
_YAML_KEY: Final = re.compile(r"^(?:---\s*\n)?[A-Za-z_][\w.-]*:(?:\s|$)")
_YAML_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_BINARY_SHARE: Final = 0.02
_LONGEST_HEADER_LINE: Final = 65_536


def head_of(stream: IO[bytes], filename: str, delimiter: str | None = None) -> Head:
    """Return the head of a decoded stream; reads at most 8 MiB. A ``delimiter`` is one the caller declared."""
    start = stream.read(HEAD_BYTES)
    if not start.strip():
        return Head(text="", kind="empty", filename=filename)
    if start.startswith(_PARQUET_MAGIC):
        return Head(text="", kind="parquet", filename=filename, binary=start)
    text = start.decode("utf-8", errors="replace")
    if _is_binary(text):
        return Head(text="", kind="binary", filename=filename, binary=start)
    first = text.lstrip()[:1]
    if first in ("{", "["):
        found = _json_head(start + stream.read(WHOLE_BYTES - len(start)), more=bool(stream.read(1)))
        if found is not None:
            kind, document, whole = found
            return _with_document(text, filename, start, kind, document, whole=whole)
    if _YAML_KEY.match(_without_comments(text)):
        whole_text = start + stream.read(WHOLE_BYTES - len(start))
        found_yaml = _yaml_value(whole_text)
        if isinstance(found_yaml, dict) and not stream.read(1):
            return _with_document(text, filename, start, "yaml", found_yaml, whole=True)
    columns = _columns(text, delimiter)
    return Head(text=text, kind="table" if columns else "text", filename=filename, columns=columns, binary=start)


def _is_binary(text: str) -> bool:
    odd = sum(char == "\ufffd" or (ord(char) < ord(" ") and char not in "\t\n\r\x1b\x08\x0c") for char in text[:4096])
    return odd > _MAX_BINARY_SHARE * min(len(text), 4096)


def _with_document(text: str, filename: str, start: bytes, kind: str, document: object, *, whole: bool) -> Head:
    head = Head(text=text, kind=kind, filename=filename, document=document, document_is_whole=whole, binary=start)
    return replace(head, keys=frozenset(str(key) for key in head.first))


def _json_head(data: bytes, *, more: bool) -> tuple[str, object, bool] | None:
    """Return kind, value and whether it is whole; None when it does not even start as JSON."""
    text = data.decode("utf-8", errors="replace").lstrip()
    kind = "json-array" if text.startswith("[") else "json-object"
    if more:
        return _lines_head(text) or _cut_head(text, kind)
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (json.JSONDecodeError, RecursionError):
        return _lines_head(text) or _cut_head(text, kind)
    except ValueError as error:  # a number of more digits than a computer reads
        raise MalformedReport.field("report", str(error), "is not JSON", "send it as the tool wrote it") from error
    _refuse_other_encodings(data)
    value = mended(value, text, 0, end)
    rest = text[end:].strip()
    if rest.startswith("{") and kind == "json-object":
        return "json-lines", value, False
    return kind, value, not rest


def _refuse_other_encodings(data: bytes) -> None:
    """Raise ``MalformedReport`` for whole JSON that is not UTF-8: a name with holes in it names something else."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedReport.field("report", str(error), "is not UTF-8 text", "save it as UTF-8") from error


def _lines_head(text: str) -> tuple[str, object, bool] | None:
    """Tell JSON lines by a first line that is an object and a next that begins one."""
    first_line, _, rest = text.partition("\n")
    if not rest.lstrip().startswith("{"):
        return None
    try:
        value = loads(first_line, "line 1")
    except MalformedReport:
        return None
    return ("json-lines", value, False) if isinstance(value, dict) else None


def _cut_head(text: str, kind: str) -> tuple[str, object, bool] | None:
    closed = closed_prefix(text[: 4 * HEAD_BYTES])
    if closed is None:
        return None
    try:
        return kind, loads(closed, "the start"), False
    except MalformedReport:
        return None


def _yaml_value(data: bytes) -> object:
    try:
        return yaml.load(data.decode("utf-8"), Loader=_YAML_LOADER)  # noqa: S506 -- both are safe loaders
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines()[:50] if line.strip() and not line.lstrip().startswith("#"))


def _columns(text: str, delimiter: str | None) -> tuple[str, ...]:
    """Return the header cells of a table, by the delimiter that cuts the first line most."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    if len(line) > _LONGEST_HEADER_LINE:
        return ()
    delimiter = delimiter or delimiter_of(line)
    if delimiter is None:
        return ()
    try:
        cells = next(csv.reader([line], delimiter=delimiter))
    except csv.Error:
        return ()
    return tuple(cell.strip() for cell in cells)


def delimiter_of(line: str) -> str | None:
    """Return the delimiter that cuts a header line into most cells, or None when none does."""
    best = max(_DELIMITERS, key=line.count)
    return best if line.count(best) else None

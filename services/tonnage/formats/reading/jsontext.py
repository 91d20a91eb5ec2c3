"""JSON as load tools write it: NaN and Infinity, one object a line, and files too large to hold."""

from __future__ import annotations

import codecs
import json
import re
from typing import IO, TYPE_CHECKING, Final, TypeVar

import msgspec

from tonnage.errors import MalformedReport, TooLarge
from tonnage.formats.reading.skim import skimmed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.formats.base import Source

WHOLE_BYTES: Final = 8 << 20
_MAX_SKIMMED_BYTES: Final = 64 << 20
_MAX_LINE_BYTES: Final = 64 << 20
_PIECE_BYTES: Final = 1 << 20
_LONGEST_TOKEN: Final = 64
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_HALF_BYTES: Final = re.compile(_HALF.pattern.encode())
_BLANKS: Final = re.compile(r"[ \t\r\n]*")


def loads(text: str | bytes, place: str) -> object:
    """Return the value of one JSON text; NaN and Infinity become floats, half a character becomes "?".

    Raises ``MalformedReport`` naming ``place``, line and column.
    """
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{place}, line {error.lineno} column {error.colno}"
        cure = "the file may be cut off: send it whole" if _cut_off(error) else "send it as the tool wrote it"
        raise MalformedReport.field("report", where, f"is not JSON ({error.msg})", cure) from error
    except (ValueError, RecursionError) as error:
        raise MalformedReport.field(
            "report", place, f"is not JSON ({error})", "send it as the tool wrote it"
        ) from error
    return mended(value, text)


def mended(value: object, text: str | bytes, start: int = 0, end: int | None = None) -> object:
    """Return a parsed value without halves of characters, which JSON may escape and no UTF-8 can hold.

    ``text`` is what it was parsed from, between ``start`` and ``end``; a text without such escapes is not walked.
    """
    until = len(text) if end is None else end
    pattern = _HALF if isinstance(text, str) else _HALF_BYTES
    if pattern.search(text, start, until) is None:  # type: ignore[arg-type]  # each with its own kind
        return value
    box = [value]
    waiting: list[dict[str, object] | list[object]] = [box]
    while waiting:
        item = waiting.pop()
        pairs = list(item.items()) if isinstance(item, dict) else list(enumerate(item))
        for key, inner in pairs:
            place = key
            if isinstance(item, dict) and isinstance(key, str) and (place := _whole(key)) != key:
                del item[key]
            item[place] = _whole(inner) if isinstance(inner, str) else inner  # type: ignore[index]  # its own key
            if isinstance(inner, (dict, list)):
                waiting.append(inner)
    return box[0]


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _cut_off(error: json.JSONDecodeError) -> bool:
    return error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")


def whole_document(source: Source) -> object:
    """Return the file's one JSON value; of a large file, arrays beyond 1,000 elements are cut.

    Readers use it for summaries: the per-request lists of a large file are not complete in what is returned.
    """
    if source.head.document_is_whole:
        return source.head.document
    with source.open_binary() as stream:
        text = bytearray()
        for piece in skimmed(stream):
            text += piece
            if len(text) > _MAX_SKIMMED_BYTES:
                raise TooLarge(
                    "the file's summary is larger than 64 MiB even without per-request lists; send the summary alone",
                    limit_bytes=_MAX_SKIMMED_BYTES,
                )
    return loads(bytes(text), "the document")


def lines(source: Source) -> Iterator[tuple[int, object]]:
    """Yield line number (from 1) and value of each non-empty line; memory is bounded by the longest line."""
    with source.open_binary() as stream:
        for number, line in enumerate(_bounded_lines(stream), start=1):
            if line.strip():
                yield number, loads(line, f"line {number}")


Record = TypeVar("Record", bound=msgspec.Struct)


def typed_lines(source: Source, kind: type[Record]) -> Iterator[Record]:
    """Yield each non-empty line as a record of known fields; the others are skipped unread.

    Lines with NaN or Infinity, which strict JSON lacks, take a slower way to the same record. Raises
    ``MalformedReport`` with line and path for what is no JSON or of another type.
    """
    decoder = msgspec.json.Decoder(kind)
    with source.open_binary() as stream:
        for number, line in enumerate(_bounded_lines(stream), start=1):
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError as error:
                if not line.strip():
                    continue
                yield _converted(loads(line, f"line {number}"), kind, number, error)


def _converted(value: object, kind: type[Record], number: int, cause: msgspec.DecodeError) -> Record:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise MalformedReport.field(
            f"line {number}", str(error), "is not as the tool writes it", "send the file as the tool wrote it"
        ) from cause


def _bounded_lines(stream: IO[bytes]) -> Iterator[bytes]:
    while line := stream.readline(_MAX_LINE_BYTES + 1):
        if len(line) > _MAX_LINE_BYTES:
            raise TooLarge("one line is longer than 64 MiB; send the tool's summary file", limit_bytes=_MAX_LINE_BYTES)
        yield line


def documents(source: Source) -> Iterator[tuple[str, object]]:
    """Yield place and value of each point: a lone object, each line, or each element of an array."""
    if source.head.kind == "json-lines":
        for number, value in lines(source):
            yield f"line {number}", value
    elif source.head.kind == "json-array":
        yield from elements(source)
    else:
        yield "", whole_document(source)


def elements(source: Source) -> Iterator[tuple[str, object]]:
    """Yield place and value of each element of the file's one array, held one at a time when it is large."""
    if source.head.document_is_whole:
        value = source.head.document
        for index, element in enumerate(value if isinstance(value, list) else []):
            yield f"[{index}]", element
        return
    with source.open_binary() as stream:
        for index, element in enumerate(_streamed(stream)):
            yield f"[{index}]", element


def _streamed(stream: IO[bytes]) -> Iterator[object]:
    """Yield the elements of an array, parsed as soon as each is whole.

    Raises ``MalformedReport`` for broken or cut-off JSON, ``TooLarge`` when one element is beyond 64 MiB.
    """
    reader, decoder = codecs.getreader("utf-8")(stream), json.JSONDecoder()
    buffer, position = _more(reader, "", 0)
    position = _past(buffer, position, "[")
    while True:
        position = _past(buffer, position, ",")
        if buffer.startswith("]", position):
            return
        try:
            value, end = decoder.raw_decode(buffer, position)
            is_whole = end < len(buffer)  # a number at the very end may go on
        except RecursionError as error:
            raise MalformedReport.field("report", "", "nests too deep", "send the file as written") from error
        except json.JSONDecodeError as error:
            if len(buffer) - error.pos > _LONGEST_TOKEN and not error.msg.startswith("Unterminated"):
                place = f"character {error.pos} of a piece"
                raise MalformedReport.field(
                    "report", place, f"is not JSON ({error.msg})", "send it as written"
                ) from error
            is_whole = False
        if is_whole:
            yield mended(value, buffer, position, end)
            position = end
        else:
            buffer, position = _more(reader, buffer, position)


def _past(buffer: str, position: int, mark: str) -> int:
    """Return the position after blanks and one ``mark``, if it is there."""
    position = _BLANKS.match(buffer, position).end()  # type: ignore[union-attr]  # matches nothing too
    if buffer.startswith(mark, position):
        position = _BLANKS.match(buffer, position + 1).end()  # type: ignore[union-attr]  # the same
    return position


def _more(reader: codecs.StreamReader, buffer: str, position: int) -> tuple[str, int]:
    try:
        read = reader.read(_PIECE_BYTES)
    except UnicodeDecodeError as error:
        raise MalformedReport.field("report", str(error), "is not UTF-8 text", "save it as UTF-8") from error
    if not read:
        raise MalformedReport.field("report", "", "ends in the middle of a JSON array", "send the file whole")
    if len(buffer) - position > _MAX_LINE_BYTES:
        raise TooLarge("one element of the array is larger than 64 MiB", limit_bytes=_MAX_LINE_BYTES)
    return buffer[position:] + read, 0

"""Walking large JSON by its brackets alone: cutting long arrays, and taking arrays apart.

Nothing is validated here: what is kept goes through the JSON parser afterwards, which judges it.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Final

from tonnage.errors import MalformedReport, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT_ELEMENT_COUNT: Final = 1000
MAX_DEPTH: Final = 200
_MAX_ELEMENT_BYTES: Final = 64 << 20
_CHUNK_BYTES: Final = 1 << 20
# A string that the chunk ends inside of does not match; it is met again with the next chunk.
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},"]', re.DOTALL)
_OPEN: Final = (b"[", b"{")
_CLOSE: Final = (b"]", b"}")


class _Chunks:
    """The stream in pieces that never end inside a string, except a string larger than the limit."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[tuple[bytes, list[re.Match[bytes]]]]:
        rest = b""
        while True:
            read = self._stream.read(_CHUNK_BYTES)
            data = rest + read
            tokens = list(_TOKEN.finditer(data))
            # A lone quote opens a string that this chunk does not close.
            cut = next((token.start() for token in tokens if token.group() == b'"'), len(data))
            tokens = [token for token in tokens if token.start() < cut]
            rest = data[cut:]
            if len(rest) > _MAX_ELEMENT_BYTES:
                raise TooLarge("one text in the file is longer than 64 MiB", limit_bytes=_MAX_ELEMENT_BYTES)
            if data[:cut]:
                yield data[:cut], tokens
            if not read:
                if rest:
                    raise _cut_off()
                return


def _cut_off() -> MalformedReport:
    return MalformedReport.field("report", "", "ends in the middle of a JSON value", "send the file whole")


def _too_deep() -> MalformedReport:
    return MalformedReport.field("report", "", f"nests deeper than {MAX_DEPTH} levels", "send the tool's own file")


def skimmed(stream: IO[bytes], kept_count: int = KEPT_ELEMENT_COUNT) -> Iterator[bytes]:
    """Yield the JSON text with every array cut after ``kept_count`` elements.

    Memory is bounded by one chunk and the longest text in the file.
    """
    counts: list[int] = []  # separators seen in each open array; -1 for an object
    cut_depth: int | None = None  # depth of the array whose rest is being dropped
    for data, tokens in _Chunks(stream):
        start = 0
        for token in tokens:
            mark = token.group()
            if mark in _OPEN:
                counts.append(0 if mark == b"[" else -1)
                if len(counts) > MAX_DEPTH:
                    raise _too_deep()
            elif mark in _CLOSE:
                if cut_depth == len(counts):
                    cut_depth, start = None, token.start()
                if counts:
                    counts.pop()
            elif mark == b"," and cut_depth is None and counts and counts[-1] >= 0:
                counts[-1] += 1
                if counts[-1] >= kept_count:
                    yield data[start : token.start()]
                    cut_depth = len(counts)
        if cut_depth is None:
            yield data[start:]
    if counts:
        raise _cut_off()


def array_elements(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the text of each element of the one array the stream holds.

    Raises ``MalformedReport`` when it is cut off, ``TooLarge`` when one element is beyond 64 MiB.
    """
    depth = 0
    pending = bytearray()
    for data, tokens in _Chunks(stream):
        start = 0
        for token in tokens:
            mark = token.group()
            if mark in _OPEN:
                depth += 1
                if depth == 1:
                    start = token.end()
                elif depth > MAX_DEPTH:
                    raise _too_deep()
            elif (mark == b"," and depth == 1) or (mark in _CLOSE and depth == 1):
                pending += data[start : token.start()]
                if pending.strip():
                    yield bytes(pending)
                pending.clear()
                start = token.end()
                depth -= mark in _CLOSE
            elif mark in _CLOSE:
                depth -= 1
        if depth:
            pending += data[start:]
        if len(pending) > _MAX_ELEMENT_BYTES:
            raise TooLarge("one element of the array is larger than 64 MiB", limit_bytes=_MAX_ELEMENT_BYTES)
    if depth:
        raise _cut_off()


def closed_prefix(text: str) -> str | None:
    """Return the start of a JSON text, cut after its last whole member and closed, so that it parses.

    None when not even one member is whole.
    """
    closers: list[str] = []
    last: tuple[int, str] | None = None
    for token in re.finditer(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},"]', text, re.DOTALL):
        mark = token.group()
        if mark in "[{":
            closers.append("]" if mark == "[" else "}")
        elif mark in "]}":
            if not closers:
                return None
            closers.pop()
        elif mark == ",":
            last = (token.start(), "".join(reversed(closers)))
        elif mark == '"':
            break
    return None if last is None else text[: last[0]] + last[1]

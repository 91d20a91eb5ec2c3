"""Walking large JSON by its brackets alone: long arrays are cut, what is left is small enough to parse.

Nothing is validated here: what is kept goes through the JSON parser afterwards, which judges it.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Final

from tonnage.errors import MalformedReport, TooLarge

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

KEPT_ELEMENT_COUNT: Final = 1000
MAX_DEPTH: Final = 200
_MAX_TEXT_BYTES: Final = 64 << 20
_CHUNK_BYTES: Final = 1 << 20
# A lone quote opens a string that the chunk does not close; it is met again with the next chunk.
_STRING: Final = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN: Final = re.compile(_STRING + rb'|[\[\]{},"]', re.DOTALL)
_BRACKET: Final = re.compile(_STRING + rb'|[\[\]{}"]', re.DOTALL)
_PREFIX_TOKEN: Final = re.compile(_TOKEN.pattern.decode(), re.DOTALL)


def skimmed(stream: IO[bytes], kept_count: int = KEPT_ELEMENT_COUNT) -> Iterator[bytes]:
    """Yield the JSON text with every array cut after ``kept_count`` elements.

    Memory is bounded by one chunk and the longest text in the file. Raises ``MalformedReport`` when the file is cut
    off or nests beyond ``MAX_DEPTH``, ``TooLarge`` for a text beyond 64 MiB.
    """
    skim = _Skim(kept_count)
    rest = b""
    while read := stream.read(_CHUNK_BYTES):
        rest = yield from skim.feed(rest + read)
        if len(rest) > _MAX_TEXT_BYTES:
            raise TooLarge("one text in the file is longer than 64 MiB", limit_bytes=_MAX_TEXT_BYTES)
    if rest or skim.is_open:
        raise MalformedReport.field("report", "", "ends in the middle of a JSON value", "send the file whole")


class _Skim:
    """Where the walk stands: separators seen in each open array (-1 for an object), and what is being cut."""

    def __init__(self, kept_count: int) -> None:
        self._kept_count = kept_count
        self._counts: list[int] = []
        self._cut_depth: int | None = None

    @property
    def is_open(self) -> bool:
        return bool(self._counts)

    def feed(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Yield what is kept of a chunk; return its end inside a string, for the next one."""
        position = 0
        while True:
            if self._cut_depth is None:
                end, unfinished = self._keep(data, position)
                yield data[position:end]
            else:
                end, unfinished = self._drop(data, position)
            if unfinished is not None:
                return data[unfinished:]
            position = end

    def _keep(self, data: bytes, position: int) -> tuple[int, int | None]:
        """Return where keeping ends: at a cut (and None), or at the end of what is whole (and again that)."""
        for token in _TOKEN.finditer(data, position):
            mark = token.group()
            if mark in (b"[", b"{"):
                self._open(mark)
            elif mark in (b"]", b"}"):
                self._close()
            elif mark == b"," and self._counts and self._counts[-1] >= 0:
                self._counts[-1] += 1
                if self._counts[-1] >= self._kept_count:
                    self._cut_depth = len(self._counts)
                    return token.start(), None
            elif mark == b'"':
                return token.start(), token.start()
        return len(data), len(data)

    def _drop(self, data: bytes, position: int) -> tuple[int, int | None]:
        """Return where dropping ends: at the bracket that closes the cut array (and None), or at the end."""
        for token in _BRACKET.finditer(data, position):
            mark = token.group()
            if mark in (b"[", b"{"):
                self._open(mark)
            elif mark in (b"]", b"}"):
                if self._cut_depth == len(self._counts):
                    self._cut_depth = None
                    return token.start(), None
                self._close()
            elif mark == b'"':
                return token.start(), token.start()
        return len(data), len(data)

    def _open(self, mark: bytes) -> None:
        self._counts.append(0 if mark == b"[" else -1)
        if len(self._counts) > MAX_DEPTH:
            raise MalformedReport.field(
                "report", "", f"nests deeper than {MAX_DEPTH} levels", "send the file as the tool wrote it"
            )

    def _close(self) -> None:
        if self._counts:
            self._counts.pop()


def closed_prefix(text: str) -> str | None:
    """Return the start of a JSON text, cut after its last whole member and closed, so that it parses.

    None when not even one member is whole.
    """
    closers: list[str] = []
    last: tuple[int, str] | None = None
    for token in _PREFIX_TOKEN.finditer(text):
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

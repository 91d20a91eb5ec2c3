"""Opening a file: decompression and decoding on the fly, bounded, and its head."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from typing import IO, TYPE_CHECKING, Final, cast

import pyarrow as pa

from tonnage.errors import InvalidInput, MalformedReport, TooLarge
from tonnage.formats.base import Source
from tonnage.formats.reading.heads import head_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_DECOMPRESSED_BYTES: Final = 4 << 30
_CHUNK_BYTES: Final = 1 << 20
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ARCHIVES: Final = {b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_MAGIC_BYTES: Final = 6
_SAMPLE_BYTES: Final = 512
_DECLARABLE: Final = {"decimal": (".", ","), "delimiter": (",", ";", "\t", "|")}


def open_source(
    open_raw: Callable[[], IO[bytes]],
    *,
    filename: str,
    size_bytes: int,
    column_map: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    max_decompressed_bytes: int = MAX_DECOMPRESSED_BYTES,
) -> Source:
    """Return the file as readers see it: decompressed (gzip, zstd), UTF-8, without byte-order mark.

    ``column_map`` may declare ``decimal`` ("," for decimal commas) and ``delimiter`` beside its columns.
    ``open_raw`` gives fresh raw bytes each time. Raises ``MalformedReport`` for an empty file, an archive or
    broken compression, ``TooLarge`` when more than ``max_decompressed_bytes`` come out.
    """
    mapped = dict(column_map or {})
    declared = {**_declared(mapped), **(options or {})}

    def open_binary() -> IO[bytes]:
        return _decoded(_decompressed(open_raw(), max_decompressed_bytes))

    with open_binary() as stream:
        head = head_of(stream, filename, declared.get("delimiter"))
    if head.kind == "empty":
        raise MalformedReport.field("report", "", "is empty", "send the file the load tool wrote")
    return Source(
        open_binary=open_binary,
        filename=filename,
        size_bytes=size_bytes,
        head=head,
        column_map=mapped,
        options=declared,
    )


def _declared(column_map: dict[str, str]) -> dict[str, str]:
    """Take out of a column map what it declares of the whole table: decimal=, and delimiter=; are no columns."""
    found: dict[str, str] = {}
    for key, allowed in _DECLARABLE.items():
        value = column_map.pop(key, None)
        if value is None:
            continue
        if value not in allowed:
            raise InvalidInput.field(
                f'column_map["{key}"]', value, "is none that is read", "use one of " + " ".join(map(repr, allowed))
            )
        found[key] = value
    return found


class _Guarded(io.RawIOBase):
    """Hands on what ``inner`` gives, up to a limit; a library's fault becomes ours. Closes ``raw`` with it."""

    def __init__(self, inner: IO[bytes], limit_bytes: int, what: str, raw: IO[bytes]) -> None:
        super().__init__()
        self._inner = inner
        self._raw = raw
        self._left_bytes = limit_bytes
        self._limit_bytes = limit_bytes
        self._what = what

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # typeshed names no buffer type
        try:
            data = self._inner.read(min(len(buffer), _CHUNK_BYTES))
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise MalformedReport.field(
                "report", str(error), f"is broken {self._what}", "send the file again, whole"
            ) from error
        self._left_bytes -= len(data)
        if self._left_bytes < 0:
            raise TooLarge(
                f"the file is larger than {self._limit_bytes} bytes once decompressed; split it or send a summary",
                limit_bytes=self._limit_bytes,
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
            self._raw.close()
        super().close()


class _Transcoded(io.RawIOBase):
    """UTF-8 bytes of a file in another encoding."""

    def __init__(self, inner: IO[bytes], encoding: str) -> None:
        super().__init__()
        self._inner = inner
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # typeshed names no buffer type
        while not self._ready:
            raw = self._inner.read(_CHUNK_BYTES)
            try:
                self._ready = self._decoder.decode(raw, final=not raw).encode()
            except UnicodeError as error:
                raise MalformedReport.field(
                    "report", str(error), f"is not {self._encoding} text", "send it as UTF-8"
                ) from error
            if not raw and not self._ready:
                return 0
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


def _buffered(raw: io.RawIOBase) -> IO[bytes]:
    return cast("IO[bytes]", io.BufferedReader(raw, buffer_size=_CHUNK_BYTES))


def _peeked(stream: IO[bytes], count: int) -> tuple[bytes, IO[bytes]]:
    """Return the first bytes and a stream that still starts with them."""
    if hasattr(stream, "seek") and stream.seekable():
        start = stream.tell()
        data = stream.read(count)
        stream.seek(start)
        return data, stream
    buffered = io.BufferedReader(cast("io.RawIOBase", stream), buffer_size=_CHUNK_BYTES)
    return buffered.peek(count)[:count], cast("IO[bytes]", buffered)


def _decompressed(raw: IO[bytes], limit_bytes: int) -> IO[bytes]:
    magic, stream = _peeked(raw, _MAGIC_BYTES)
    for mark, kind in _ARCHIVES.items():
        if magic.startswith(mark):
            stream.close()
            raise MalformedReport.field(
                "report", kind, "is an archive", "unpack it and send the load tool's files (gzip and zstd are read)"
            )
    if magic.startswith(_GZIP_MAGIC):
        opened = cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
        return _buffered(_Guarded(opened, limit_bytes, "gzip", stream))
    if magic.startswith(_ZSTD_MAGIC):
        opened = cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))
        return _buffered(_Guarded(opened, limit_bytes, "zstd", stream))
    return _buffered(_Guarded(stream, limit_bytes, "input", stream))


def _decoded(stream: IO[bytes]) -> IO[bytes]:
    sample = cast("io.BufferedReader", stream).peek(_SAMPLE_BYTES)[:_SAMPLE_BYTES]
    if sample.startswith(codecs.BOM_UTF8):
        stream.read(len(codecs.BOM_UTF8))
        return stream
    encoding = _wide_encoding(sample)
    return stream if encoding is None else _buffered(_Transcoded(stream, encoding))


def _wide_encoding(sample: bytes) -> str | None:
    """Tell UTF-16 and UTF-32 by their mark, or UTF-16 by zero bytes at every other place."""
    if sample.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = sample[0:64:2], sample[1:64:2]
    if len(odd) > 1 and not any(odd) and all(even):
        return "utf-16-le"
    if len(odd) > 1 and not any(even) and all(odd):
        return "utf-16-be"
    return None

"""The header of a GGUF file: names, shapes and types of its tensors; the metadata is walked over."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

GGUF_MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_STRING, _ARRAY = 8, 9
_MOST_DIMENSIONS: Final = 4
_MOST_ENTRIES: Final = 1 << 24
_DEEPEST_ARRAY: Final = 4
# Bytes of a metadata value by its type number; strings and arrays carry their own length.
_SCALAR_BYTES: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
# Elements of a block and its bytes, by tensor type number.
_BLOCKS: Final = {
    0: (1, 4),
    1: (1, 2),
    2: (32, 18),
    3: (32, 20),
    6: (32, 22),
    7: (32, 24),
    8: (32, 34),
    9: (32, 40),
    10: (256, 84),
    11: (256, 110),
    12: (256, 144),
    13: (256, 176),
    14: (256, 210),
    15: (256, 292),
    16: (256, 66),
    17: (256, 74),
    18: (256, 98),
    19: (256, 50),
    20: (32, 18),
    21: (256, 110),
    22: (256, 82),
    23: (256, 136),
    24: (1, 1),
    25: (1, 2),
    26: (1, 4),
    27: (1, 8),
    28: (1, 8),
    29: (256, 56),
    30: (1, 2),
    34: (256, 54),
    35: (256, 66),
    39: (32, 17),
    40: (64, 36),
    41: (128, 18),
}


class _Cursor:
    """Reads little-endian values in order; a cut-off header is an error that says where."""

    __slots__ = ("_data", "_path", "at")

    def __init__(self, data: bytes, path: str) -> None:
        self._data, self._path, self.at = data, path, 0

    def refuse(self, problem: str) -> InvalidInput:
        return InvalidInput.field(self._path, f"byte {self.at}", problem, "give the whole header of a GGUF file")

    def take(self, size: int) -> bytes:
        end = self.at + size
        if size < 0 or end > len(self._data):
            raise self.refuse("ends here, in the middle of its header")
        found = self._data[self.at : end]
        self.at = end
        return found

    def u32(self) -> int:
        return int(struct.unpack("<I", self.take(4))[0])

    def u64(self) -> int:
        return int(struct.unpack("<Q", self.take(8))[0])

    def text(self) -> str:
        try:
            return self.take(self.u64()).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.refuse("holds a name that is not UTF-8") from error

    def skip_value(self, kind: int, depth: int = 0) -> None:
        """Walk over one metadata value."""
        if kind in _SCALAR_BYTES:
            self.take(_SCALAR_BYTES[kind])
        elif kind == _STRING:
            self.take(self.u64())
        elif kind == _ARRAY and depth < _DEEPEST_ARRAY:
            inner, count = self.u32(), self.u64()
            if inner in _SCALAR_BYTES:
                self.take(_SCALAR_BYTES[inner] * count)
            else:
                for _ in range(self.bounded(count)):
                    self.skip_value(inner, depth + 1)
        else:
            raise self.refuse(f"holds a metadata value of unknown type {kind}")

    def bounded(self, count: int) -> int:
        """Return a count that can be meant."""
        if count > _MOST_ENTRIES:
            raise self.refuse(f"counts {count} entries")
        return count


def _tensor(cursor: _Cursor) -> tuple[str, int]:
    name = cursor.text()
    dimensions = cursor.u32()
    if dimensions > _MOST_DIMENSIONS:
        raise cursor.refuse(f"has a tensor of {dimensions} dimensions")
    elements = math.prod(cursor.u64() for _ in range(dimensions))
    kind = cursor.u32()
    cursor.u64()
    if kind not in _BLOCKS:
        raise cursor.refuse(f"has a tensor of unknown type {kind}")
    block, size = _BLOCKS[kind]
    if elements % block:
        raise cursor.refuse(f"has a tensor of {elements} elements in blocks of {block}")
    return name, elements // block * size


def gguf_tensors(data: bytes, path: str) -> Iterator[tuple[str, int]]:
    """Yield name and bytes of every tensor; raises ``InvalidInput`` for cut-off and unknown headers."""
    cursor = _Cursor(data, path)
    if cursor.take(4) != GGUF_MAGIC:
        raise cursor.refuse("does not start as a GGUF file")
    version = cursor.u32()
    if version not in _VERSIONS:
        raise cursor.refuse(f"is of version {version}; known are 2 and 3")
    tensor_count, entry_count = cursor.bounded(cursor.u64()), cursor.bounded(cursor.u64())
    for _ in range(entry_count):
        cursor.text()
        cursor.skip_value(cursor.u32())
    for _ in range(tensor_count):
        yield _tensor(cursor)

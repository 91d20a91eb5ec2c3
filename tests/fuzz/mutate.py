"""How an input is made from a seed: in its bytes, in its structure, or in its wrapping."""

from __future__ import annotations

import copy
import gzip
import json
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from fuzz.corpus import Seed

_ODD_BYTES: Final = (
    b"NaN", b"Infinity", b"-Infinity", b"-1", b"0", b"1e308", b"1e999", b"9" * 400, b"null", b"true",
    b'"', b"'", b"\\",
    b"\\ud800", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b",", b";", b"\t", b"\r\n", b"\r", b"\n\n",
    b"{", b"}",
    b"[", b"]", b"[" * 300, b'{"a":' * 300, b":", b"...", b"1,5", b"1.000,5", b"\x1b[31m", b"%", b"ms", b"us", b"N/A",
    "\u2028".encode(), "µs".encode(), "±".encode(), b"../../etc/passwd", b"<a>", b"=cmd()", b"2038-01-19T03:14:08Z",
)  # fmt: skip
_ODD_VALUES: Final[tuple[object, ...]] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400, 0.0, -0.0, 1e-320, 1e308, -1e308,
    float("nan"), float("inf"), float("-inf"), "", " ", "NaN", "inf", "-1", "1e5", "1,5", "12ms", "\ud800", "\x00",
    "a" * 5000,
    "../../x", "2026-01-01T00:00:00Z", "99999-99-99", [], {}, [[]], [None], [{}], {"": None}, [1, "a", None, {}],
    {"mean": "x"}, [float("nan")] * 3, [1] * 2000, {"p50": 1, "p99": -1},
)  # fmt: skip
_ENCODINGS: Final = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1")


def mutated(chance: random.Random, seed: Seed, others: Sequence[Seed]) -> bytes:
    """Return one input made from a seed; the same state of ``chance`` gives the same input."""
    data = _structured(chance, seed, others) if seed.document is not None and chance.random() < 0.6 else seed.data
    if data is seed.data or chance.random() < 0.15:
        for _ in range(chance.choice((1, 1, 2, 4, 8))):
            data = chance.choice(_BYTE_STEPS)(chance, data, others)
    return _wrapped(chance, data) if chance.random() < 0.03 else data


def _structured(chance: random.Random, seed: Seed, others: Sequence[Seed]) -> bytes:
    box: Any = [copy.deepcopy(seed.document)]
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        _step(chance, box, others)
    value = box[0]
    form = chance.random()
    if form < 0.1:
        return json.dumps([value] * chance.randint(1, 3)).encode()
    if form < 0.2:
        return (json.dumps(value) + "\n").encode() * chance.randint(1, 3)
    return json.dumps(value, indent=2 if form < 0.3 else None).encode()


def _step(chance: random.Random, box: Any, others: Sequence[Seed]) -> None:  # noqa: ANN401 -- a document is anything
    holder, key = _place(chance, box)
    held = holder[key]
    kind = chance.randrange(8)
    if kind <= 2:
        holder[key] = copy.deepcopy(chance.choice(_ODD_VALUES))
    elif kind == 3 and isinstance(held, (int, float)) and not isinstance(held, bool):
        holder[key] = held * chance.choice((-1, 0, 1e-3, 1e3, 1e9, 0.5)) if abs(held) < 1e300 else str(held)
    elif kind == 4 and isinstance(holder, dict):
        del holder[key]
    elif kind == 5:
        holder[key] = str(held) if not isinstance(held, str) else [held, {"value": held}]
    elif kind == 6 and isinstance(held, list) and held:
        held.extend(copy.deepcopy(held[:3]))
    else:
        other = chance.choice(others).document
        holder[key] = copy.deepcopy(other) if other is not None and chance.random() < 0.3 else {"a": held}


def _place(chance: random.Random, box: Any) -> tuple[Any, Any]:  # noqa: ANN401 -- a document is anything
    """Return a container within the document and one of its keys, deeper ones as likely as shallow ones."""
    holder: Any = box
    key: Any = 0
    while True:
        inner = holder[key]
        if not isinstance(inner, (dict, list)) or not inner or chance.random() < (0.03 if holder is box else 0.15):
            return holder, key
        holder, key = inner, chance.choice(list(inner)) if isinstance(inner, dict) else chance.randrange(len(inner))


def _overwrite(chance: random.Random, data: bytes, _: Sequence[Seed]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.randint(1, 4)) + data[at + 1 :]


def _flip(chance: random.Random, data: bytes, _: Sequence[Seed]) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def _insert(chance: random.Random, data: bytes, _: Sequence[Seed]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_ODD_BYTES) + data[at + chance.randint(0, 6) :]


def _cut(chance: random.Random, data: bytes, _: Sequence[Seed]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] if chance.random() < 0.3 else data[:at] + data[at + chance.randint(1, 200) :]


def _double(chance: random.Random, data: bytes, _: Sequence[Seed]) -> bytes:
    at = chance.randrange(len(data) + 1)
    piece = data[at : at + chance.randint(1, 200)]
    return data[:at] + piece * chance.randint(2, 5) + data[at:]


def _splice(chance: random.Random, data: bytes, others: Sequence[Seed]) -> bytes:
    other = chance.choice(others).data
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _lines(chance: random.Random, data: bytes, _: Sequence[Seed]) -> bytes:
    """Swap, drop or repeat lines, or change the delimiter of a whole table."""
    lines = data.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.randrange(4)
    if kind == 0:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        lines[at:at] = [lines[other]] * chance.randint(1, 3)
    else:
        return data.replace(b",", chance.choice((b";", b"\t", b"|", b",,")))
    return b"\n".join(lines)


def _cell(chance: random.Random, data: bytes, _: Sequence[Seed]) -> bytes:
    """Put something odd in place of one cell of a table or one word of a text."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    mark = b"," if b"," in lines[at] else b" "
    cells = lines[at].split(mark)
    cells[chance.randrange(len(cells))] = chance.choice(_ODD_BYTES)
    lines[at] = mark.join(cells)
    return b"\n".join(lines)


_BYTE_STEPS: Final[tuple[Callable[[random.Random, bytes, Sequence[Seed]], bytes], ...]] = (
    _overwrite, _flip, _insert, _cut, _double, _splice, _lines, _cell, _cell,
)  # fmt: skip


def _wrapped(chance: random.Random, data: bytes) -> bytes:
    kind = chance.randrange(4)
    if kind == 0:
        packed = gzip.compress(data, 1)
    elif kind == 1:
        packed = pa.compress(data, codec="zstd", asbytes=True)
    elif kind == 2:
        packed = data.decode("utf-8", "replace").encode(chance.choice(_ENCODINGS), "replace")
    else:
        return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\n\n", b"")))
    return packed[: chance.randrange(len(packed) + 1)] if chance.random() < 0.3 else packed

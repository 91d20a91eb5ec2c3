"""Ids of runs that came in bulk: SHA-256 over what was sent of each run, whatever form it travelled in.

A run's text is the canonical JSON of what holds for the whole run. Its levels are the numbers of the columns that
hold any value in the run, in order of name, row by row as little-endian doubles, absent ones as one fixed NaN; the
texts of levels follow as JSON. So neither empty columns nor the order of columns, the width of a type, the dictionaries
or the cutting into messages change an id, and the numbers hashed are the numbers sent.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from tonnage.ingest import keys
from tonnage.ingest.arrow.columns import COUNTS, NUMBERS, QUALITY_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import pyarrow as pa

    Integers: TypeAlias = npt.NDArray[np.int64]

_STATED_NAN: Final = np.uint64(0x7FF8_0000_0000_0000)
_ABSENT: Final = np.uint64(0x7FF8_0000_0000_0001)


def report_ids(table: pa.Table, said: Sequence[str], starts: Integers) -> list[str]:
    """Return the id of what was sent of each run, 64 hex digits; ``said`` are the runs' texts."""
    ends = np.append(starts[1:], table.num_rows)
    names = sorted(name for name in table.schema.names if name in NUMBERS or name in COUNTS)
    cells, valid = _cells(table, names)
    held = np.logical_or.reduceat(valid, starts, axis=0) if names else np.zeros((len(starts), 0), dtype=np.bool_)
    texts = _texts(table, starts, ends)
    found = [""] * len(starts)
    spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
    for pattern, runs in _patterns(held):
        columns = ",".join(name for name, is_held in zip(names, pattern, strict=True) if is_held)
        rows = np.ascontiguousarray(cells if pattern.all() else cells[:, pattern])
        for run in runs:
            start, end = spans[run]
            digest = hashlib.sha256(f"{said[run]}\n{columns}\n{texts[run]}\n".encode())
            digest.update(rows[start:end].data)
            found[run] = digest.hexdigest()
    return found


def _patterns(held: npt.NDArray[np.bool_]) -> Iterator[tuple[npt.NDArray[np.bool_], list[int]]]:
    """Yield which columns hold a value, and the runs of which that is so."""
    if (held == held[0]).all():
        yield held[0], list(range(len(held)))
        return
    patterns, pattern_of = np.unique(held, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        yield pattern, np.flatnonzero(pattern_of.reshape(-1) == number).tolist()


def _cells(table: pa.Table, names: Sequence[str]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    cells = np.empty((table.num_rows, len(names)), dtype="<f8")
    valid = np.empty((table.num_rows, len(names)), dtype=np.bool_)
    for position, name in enumerate(names):
        column = table[name]
        # Adding zero makes one zero of both.
        cells[:, position] = column.to_numpy().astype(np.float64) + 0.0
        valid[:, position] = column.is_valid().to_numpy()
    bits = cells.view("<u8")
    bits[np.isnan(cells)] = _STATED_NAN
    bits[~valid] = _ABSENT
    return bits, valid


def _texts(table: pa.Table, starts: Integers, ends: Integers) -> list[str]:
    names = [name for name in QUALITY_TEXTS if name in table.schema.names]
    if not names:
        return [""] * len(starts)
    held = {name: table[name].to_pylist() for name in names}
    return [
        keys.canonical([[name, held[name][start:end]] for name in names if any(held[name][start:end])])
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]

"""Tables of single requests, column by column in batches: for files of millions of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyarrow import csv

from tonnage.errors import MalformedReport
from tonnage.formats.reading.heads import delimiter_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tonnage.formats.base import Source

_BLOCK_BYTES: Final = 4 << 20
_WORDS: Final = pa.dictionary(pa.int32(), pa.string())
_NULLS: Final = ["", "null", "None", "N/A", "NA"]


class Batch:
    """Some rows of a table: numbers as float64 (NaN where the cell is empty), texts as they are."""

    def __init__(self, batch: pa.RecordBatch, first_row: int) -> None:
        self._batch = batch
        self.first_row = first_row
        self.row_count: int = batch.num_rows

    def numbers(self, name: str) -> np.ndarray:
        """Return a column of numbers; all NaN when the table lacks it."""
        if name not in self._batch.schema.names:
            return np.full(self.row_count, np.nan)
        column = self._batch.column(name)
        return np.where(_valid(column), _buffer(column, np.float64), np.nan)

    def texts(self, name: str) -> np.ndarray:
        """Return a column of texts as objects; empty texts when the table lacks it."""
        if name not in self._batch.schema.names:
            return np.full(self.row_count, "", dtype=object)
        encoded = self._batch.column(name)
        words = np.array(encoded.dictionary.to_pylist(), dtype=object)
        codes = _buffer(encoded.indices, np.int32)
        found: np.ndarray = words[codes] if len(words) else np.full(self.row_count, "", dtype=object)
        return found


def _buffer(column: pa.Array, kind: type[np.generic]) -> np.ndarray:
    """Return a column's values, whatever stands at nulls; ``to_numpy`` would import pandas for it, which is slow."""
    if not len(column):
        return np.empty(0, dtype=kind)
    return np.frombuffer(column.buffers()[1], dtype=kind)[column.offset : column.offset + len(column)]


def _valid(column: pa.Array) -> np.ndarray:
    """Return which values are there."""
    bitmap = column.buffers()[0]
    if bitmap is None:
        return np.ones(len(column), dtype=bool)
    bits = np.unpackbits(np.frombuffer(bitmap, dtype=np.uint8), bitorder="little")
    return bits[column.offset : column.offset + len(column)].astype(bool)


def batches(source: Source, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
    """Yield the rows in batches, of the named columns alone.

    Raises ``MalformedReport`` for a row of another length or a cell that is no number; memory is bounded by a few
    blocks of 4 MiB.
    """
    header = next((line for line in source.head.text.splitlines() if line.strip()), "")
    kinds = {**dict.fromkeys(numbers, pa.float64()), **dict.fromkeys(texts, _WORDS)}
    present = [name for name in kinds if name in source.head.columns]
    convert = csv.ConvertOptions(
        column_types=kinds,
        include_columns=present,
        null_values=_NULLS,
        decimal_point=source.options.get("decimal", "."),
    )
    parse = csv.ParseOptions(
        delimiter=source.options.get("delimiter") or delimiter_of(header) or ",", newlines_in_values=True
    )
    with source.open_binary() as stream:
        first_row = 2
        try:
            reader = csv.open_csv(
                pa.PythonFile(stream, mode="r"),
                read_options=csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=True),
                parse_options=parse,
                convert_options=convert,
            )
            for batch in reader:
                yield Batch(batch, first_row)
                first_row += batch.num_rows
        except (pa.ArrowException, ValueError) as error:
            raise MalformedReport.field(
                f"after row {first_row - 1}", str(error), "is no table row", "send the file as the tool wrote it"
            ) from error

"""Rows of a Parquet file, in batches."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from tonnage.errors import MalformedReport, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.formats.base import Source

_MAX_BYTES: Final = 256 << 20
_BATCH_ROWS: Final = 4096


def parquet_columns(source: Source) -> tuple[str, ...]:
    """Return the column names; raises ``MalformedReport`` for a broken file."""
    return tuple(_opened(source).schema_arrow.names)


def parquet_rows(source: Source) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield place and cells by column name of each row."""
    file = _opened(source)
    number = 0
    try:
        for batch in file.iter_batches(batch_size=_BATCH_ROWS):
            for row in batch.to_pylist():
                number += 1
                yield f"row {number}", row
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken(error) from error


def _opened(source: Source) -> pq.ParquetFile:
    with source.open_binary() as stream:
        data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise TooLarge("the Parquet file is larger than 256 MiB; split it", limit_bytes=_MAX_BYTES)
    try:
        return pq.ParquetFile(io.BytesIO(data))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken(error) from error


def _broken(error: Exception) -> MalformedReport:
    return MalformedReport.field("report", str(error), "is no readable Parquet file", "write it again")

"""From the bytes of one message to a table of our columns and types; every fault named by column and row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from tonnage.checks import LARGEST_COUNT
from tonnage.errors import InvalidInput
from tonnage.ingest.arrow import columns

if TYPE_CHECKING:
    from collections.abc import Callable

# Far above anything measured, as on the other ways in: 11 days in milliseconds.
LARGEST_MAGNITUDE: Final = 1e9
LARGEST_ROW_COUNT: Final = 1_000_000
_TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_NUMBERS: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_FAMILIES: Final[dict[pa.DataType, tuple[Callable[[pa.DataType], bool], ...]]] = {
    columns.TEXT: _TEXTS,
    columns.COUNT: _NUMBERS,
    columns.NUMBER: _NUMBERS,
    columns.FLAG: (pa.types.is_boolean,),
    columns.TIME: (pa.types.is_timestamp,),
}


def decode_table(data: bytes) -> pa.Table:
    """Return the rows of one IPC stream, with the columns that hold anything.

    Raises ``InvalidInput``; paths are ``arrow_ipc``, ``arrow_ipc.COLUMN`` and ``arrow_ipc.COLUMN[ROW]``.
    """
    table = _read(data)
    names = table.schema.names
    if columns.RUN not in names:
        raise _refused(columns.RUN, None, "is required and absent", "add a text column that names each row's run")
    held: dict[str, pa.ChunkedArray] = {}
    for position, name in enumerate(names):
        if name in held:
            raise _refused(name, None, "stands twice", "send each column once")
        held[name] = _typed(name, table.column(position))
    nameless = held[columns.RUN]
    if nameless.null_count:
        row = pc.index(pc.is_null(nameless), value=True).as_py()
        raise _refused(f"{columns.RUN}[{row}]", None, "is required and absent", "name the run of every row")
    return pa.table({name: column for name, column in held.items() if column.null_count < len(column)})


def _read(data: bytes) -> pa.Table:
    cure = "send one whole Arrow IPC stream a message: schema, record batches, end"
    try:
        with pa.ipc.open_stream(data) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        raise InvalidInput.field("arrow_ipc", str(error), "is no Arrow IPC stream", cure) from error
    if table.num_rows > LARGEST_ROW_COUNT:
        cure = f"send at most {LARGEST_ROW_COUNT} rows a message; 10,000 are enough"
        raise InvalidInput.field("arrow_ipc", table.num_rows, "holds too many rows", cure)
    if not table.num_rows:
        raise InvalidInput.field("arrow_ipc", None, "holds no row", "send at least one row")
    return table


def _refused(path: str, value: object, problem: str, cure: str) -> InvalidInput:
    return InvalidInput.field(f"arrow_ipc.{path}", value, problem, cure)


def _typed(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    wanted = columns.type_of(name)
    if wanted is None:
        raise _refused(name, None, "is no column of ours", "see docs/arrow.md, or name it label_…")
    if pa.types.is_null(column.type):
        return column.cast(wanted)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    found = column.type
    if not any(belongs(found) for belongs in _FAMILIES[wanted]):
        raise _refused(name, str(found), "has another type", f"send it as {wanted}")
    if pa.types.is_timestamp(found) and found.tz is None:
        raise _refused(name, str(found), "has no time zone", f"send it as {wanted}")
    held = column if found == wanted else _cast(name, column, wanted)
    _check(name, held)
    return held


def _cast(name: str, column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    # Moments are cut to microseconds; a number that changes is refused.
    is_safe = not pa.types.is_timestamp(wanted)
    try:
        return column.cast(wanted, safe=is_safe)
    except pa.ArrowException as error:
        row = _first_bad(column, wanted)
        value = column[row].as_py()
        raise _refused(f"{name}[{row}]", value, f"is no {wanted}", "send whole numbers, or leave it null") from error


def _first_bad(column: pa.ChunkedArray, wanted: pa.DataType) -> int:
    """Return the first row that cannot be cast, by halving."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            column.slice(low, middle - low).cast(wanted)
            low = middle
        except pa.ArrowException:
            high = middle
    return low


def _check(name: str, column: pa.ChunkedArray) -> None:
    """Refuse what the other ways in refuse; what a load tool may write is left to the lint."""
    if name in columns.RATES:
        beyond = pc.and_(pc.is_finite(column), pc.greater(column, LARGEST_MAGNITUDE))
        _refuse(name, column, beyond, "is too large to be meant", f"check the unit; at most {LARGEST_MAGNITUDE:g}")
    elif name in columns.COUNTS:
        _refuse(name, column, pc.greater(column, LARGEST_COUNT), "is too large to be meant", "check it")
        if name == "vram_peak_bytes":
            _refuse(name, column, pc.less(column, 0), "is below 0", "give 0 or more")
    elif name in columns.NUMBERS:
        _refuse(name, column, pc.invert(pc.is_finite(column)), "is not a finite number", "leave it null")
        largest = 1.0 if name.endswith("_ratio") else LARGEST_MAGNITUDE
        least = -LARGEST_MAGNITUDE if name == "quality_score" else 0.0
        outside = pc.or_(pc.less(column, least), pc.greater(column, largest))
        _refuse(name, column, outside, f"is not within {least:g} and {largest:g}", "check the unit")


def _refuse(name: str, column: pa.ChunkedArray, faulty: pa.ChunkedArray, problem: str, cure: str) -> None:
    row = pc.index(faulty, value=True).as_py()
    if row >= 0:
        raise _refused(f"{name}[{row}]", column[row].as_py(), problem, cure)

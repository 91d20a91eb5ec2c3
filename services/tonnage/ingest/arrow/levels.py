"""What holds for single levels: the lint over a whole table, and the sums of each run's request sizes."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tonnage.domain.buckets import FieldSums, WorkSums, field_sums
from tonnage.errors import InvalidInput
from tonnage.formats.checks.suspects import suspects
from tonnage.formats.lint import lint_level
from tonnage.formats.reading import columns as table_columns
from tonnage.ingest.arrow.columns import COUNTS, NUMBERS, QUALITY_TEXTS, WORK
from tonnage.store.rows import level_to_row, row_to_level
from tonnage.store.schema import LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from tonnage.domain.finding import Finding

    Integers: TypeAlias = npt.NDArray[np.int64]

_TYPES: Final = dict(LEVEL)
_NO_FINDINGS: Final = "[]"


@dataclass(slots=True)
class Levels:
    """Level columns by the store's names, checked; rows stay in the order they came in."""

    columns: dict[str, pa.Array]
    row_count: int
    findings: list[Finding]
    usable: npt.NDArray[np.bool_]

    def summer(self, name: str) -> Callable[[int, int], FieldSums]:
        """Return what sums a request-size column over rows [start, end), as the domain does."""
        values, counts = listed(self.columns[name]), self.counts()
        if None in values or None in counts:
            return lambda start, end: field_sums(zip(values[start:end], counts[start:end], strict=True))

        def of_whole_rows(start: int, end: int) -> FieldSums:
            sizes, weights = values[start:end], counts[start:end]
            return FieldSums(
                weighted_sum=math.fsum(map(operator.mul, sizes, weights)),
                completed_count=sum(weights),
                plain_sum=math.fsum(sizes),
                level_count=end - start,
            )

        return of_whole_rows

    def counts(self) -> list[Any]:
        """Return how many requests of each level completed."""
        held = self.columns.get("completed_count")
        return [None] * self.row_count if held is None else listed(held)

    def stated(self, name: str) -> npt.NDArray[np.bool_]:
        """Return where a column holds a value."""
        held = self.columns.get(name)
        if held is None:
            return np.zeros(self.row_count, dtype=np.bool_)
        flags: npt.NDArray[np.bool_] = held.is_valid().to_numpy(zero_copy_only=False)
        return flags


def levels_of(table: pa.Table, kinds: Sequence[str], starts: Integers, first_row: int) -> Levels:
    """Return the levels of a table, linted; ``kinds`` are the runs' modalities, ``starts`` their first rows.

    Raises ``InvalidInput`` with ``rows[ROW].COLUMN`` as path, counted from ``first_row``.
    """
    run_of_row = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, table.num_rows)))
    held = dict(_columns(table, np.array(kinds)[run_of_row], first_row))
    held["level_index"] = pa.array(np.arange(table.num_rows) - starts[run_of_row])
    held["work_kind"] = pa.DictionaryArray.from_arrays(pa.array(run_of_row, pa.int32()), pa.array(kinds, pa.string()))
    held["has_telemetry"] = _any_stated(held, table_columns.TELEMETRY, table.num_rows)
    levels = Levels(held, table.num_rows, [], np.ones(table.num_rows, dtype=np.bool_))
    texts = _linted(levels)
    held["tenants"], held["location"] = (constant(text, table.num_rows) for text in (_NO_FINDINGS, ""))
    held["findings"] = texts
    held["usable"] = pa.array(levels.usable)
    return levels


def _columns(table: pa.Table, kind_of_row: npt.NDArray[np.str_], first_row: int) -> Iterator[tuple[str, pa.Array]]:
    """Yield the level columns there are; the work of several modalities shares names, so theirs are merged."""
    work: dict[str, pa.Array] = {}
    for name in table.schema.names:
        if name in WORK:
            field, kind = WORK[name]
            column = _flat(table[name])
            _refuse_foreign(name, column, kind_of_row != kind, first_row)
            work[field] = column if field not in work else pc.coalesce(work[field], column)
        elif name in NUMBERS or name in COUNTS or name in QUALITY_TEXTS:
            yield name, _flat(table[name])
    yield from work.items()


def _flat(column: pa.ChunkedArray) -> pa.Array:
    held = column.combine_chunks()
    return held if isinstance(held, pa.Array) else pa.concat_arrays(held.chunks)


def _refuse_foreign(name: str, column: pa.Array, is_foreign: npt.NDArray[np.bool_], first_row: int) -> None:
    faulty = is_foreign & column.is_valid().to_numpy(zero_copy_only=False)
    if faulty.any():
        row = int(faulty.argmax())
        kind = WORK[name][1]
        cure = f"state modality {kind} for the run, or leave the column null"
        path = f"rows[{first_row + row}].{name}"
        raise InvalidInput.field(path, column[row].as_py(), "belongs to another modality", cure)


def _any_stated(held: dict[str, pa.Array], names: Sequence[str], row_count: int) -> pa.Array:
    found = np.zeros(row_count, dtype=np.bool_)
    for name in names:
        if name in held:
            found |= held[name].is_valid().to_numpy(zero_copy_only=False)
    return pa.array(found)


def constant(text: str, row_count: int) -> pa.Array:
    """Return a column of one text."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(row_count, dtype=np.int32)), pa.array([text]))


def _linted(levels: Levels) -> pa.Array:
    """Let the lint see the rows it may have a word on, put back what it left, and return the findings' texts."""
    held = levels.columns
    marked = np.flatnonzero(_suspects(held, levels.row_count))
    texts, codes = [_NO_FINDINGS], np.zeros(levels.row_count, dtype=np.int32)
    before = pa.table(held).take(pa.array(marked)).to_pylist() if marked.size else []
    after: list[dict[str, Any]] = []
    for row, index in zip(before, marked, strict=True):
        level = lint_level(row_to_level({**row, "tenants": "[]", "findings": "[]", "location": "", "usable": True}))
        after.append(level_to_row(level))
        levels.findings += level.findings
        levels.usable[index] = level.usable
        if level.findings:
            codes[index] = len(texts)
            texts.append(after[-1]["findings"])
    _put_back(held, marked, before, after)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(texts, pa.string()))


def _suspects(held: dict[str, pa.Array], row_count: int) -> npt.NDArray[np.bool_]:
    numbers = {name: column for name, column in held.items() if name in _TYPES and _is_number(column)}
    found = suspects({name: _numpy(column) for name, column in numbers.items()}, row_count)
    for column in numbers.values():
        if pa.types.is_floating(column.type):
            is_nan = pc.is_nan(column)
            if pc.any(is_nan).as_py():
                found |= is_nan.fill_null(fill_value=False).to_numpy(zero_copy_only=False)
    return found


def _is_number(column: pa.Array) -> bool:
    return bool(pa.types.is_floating(column.type) or pa.types.is_integer(column.type))


def _numpy(column: pa.Array) -> npt.NDArray[np.float64]:
    held: npt.NDArray[np.float64] = column.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return held


def _put_back(
    held: dict[str, pa.Array], marked: Integers, before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]
) -> None:
    changed = {name for old, new in zip(before, after, strict=True) for name in old if old[name] != new.get(name)}
    for name in sorted(changed):
        mask = np.zeros(len(held[name]), dtype=np.bool_)
        mask[marked] = True
        values = pa.array([row.get(name) for row in after], type=held[name].type)
        held[name] = pc.replace_with_mask(held[name], pa.array(mask), values)


def listed(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return what ``to_pylist`` does for numbers and texts, without an object of Arrow's for each."""
    if column.null_count and not pa.types.is_string(column.type):
        return list(column.to_pylist())
    held: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
    return held


def sums_of_runs(levels: Levels, kinds: Sequence[str], starts: Integers) -> list[WorkSums]:
    """Return the sums of each run's request sizes, as the domain makes them of levels.

    Runs with the same sizes and counts share one object.
    """
    ends = np.append(starts[1:], levels.row_count)
    spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
    fields = {kind: tuple(dict.fromkeys(table_columns.WORKS[kind].values())) for kind in set(kinds)}
    pairs = {name: levels.summer(name) for names in fields.values() for name in names if name in levels.columns}
    stated = [listed(levels.columns[name]) for name in pairs]
    held = [*stated, levels.counts()]
    made: dict[tuple[object, ...], WorkSums] = {}
    found = []
    for kind, (start, end) in zip(kinds, spans, strict=True):
        key = (kind, *(tuple(values[start:end]) for values in held))
        sums = made.get(key)
        if sums is None:
            each = ((name, pairs[name](start, end)) for name in fields[kind] if name in pairs)
            sums = made[key] = WorkSums(kind=kind, sums=tuple((name, item) for name, item in each if item.level_count))
        found.append(sums)
    return found

"""What many runs of a table share, made once for all of them, and what each says for itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from tonnage import checks
from tonnage.errors import at
from tonnage.ingest import keys
from tonnage.ingest.arrow.columns import TEXT, TIME
from tonnage.ingest.arrow.levels import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]

Item = TypeVar("Item")
Made = TypeVar("Made")


def each_once(make: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """Return what ``make`` makes of each item; of an object that stands there several times it is made once."""
    distinct = {id(item): item for item in items}
    made = {key: make(item) for key, item in distinct.items()}
    return [made[id(item)] for item in items]


def alike(table: pa.Table, row_count: int) -> tuple[Integers, Integers]:
    """Return the first row of each kind of row, in order, and of every row which kind it is of."""
    kind = np.zeros(row_count, dtype=np.int64)
    for column in table.columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        value_count = len(encoded.dictionary)
        if value_count > 1:
            kind = np.unique(kind * value_count + encoded.indices.to_numpy(), return_inverse=True)[1].reshape(-1)
    firsts, number = np.unique(kind, return_index=True, return_inverse=True)[1:]
    order = np.argsort(firsts)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return firsts[order], rank[number.reshape(-1)]


@dataclass(frozen=True, slots=True)
class Own:
    """The sweep each run names and when it was measured, UTC; None where a run does not say."""

    sweeps: list[str | None]
    dates: pa.Array

    def check(self, starts: Integers, first_row: int) -> None:
        """Refuse sweeps that are no names; raise ``InvalidInput`` with ``rows[ROW].sweep_id`` as path."""
        if all(sweep is None or (len(sweep) <= checks.LONGEST_NAME and sweep.isprintable()) for sweep in self.sweeps):
            return
        for sweep, start in zip(self.sweeps, starts.tolist(), strict=True):
            with at(f"rows[{first_row + start}]"):
                checks.name("sweep_id", sweep)

    def texts(self) -> list[str]:
        """Return the canonical text of each run's pair, as ``keys.canonical`` writes it."""
        dates: list[Any] = self.dates.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False).tolist()
        if not all(date is None or isinstance(date, datetime) for date in dates):
            return [keys.canonical(pair) for pair in zip(self.sweeps, self.dates.to_pylist(), strict=True)]
        return [f"[{_text(sweep)},{_moment(date)}]" for sweep, date in zip(self.sweeps, dates, strict=True)]


def own_of(firsts: pa.Table, run_count: int) -> Own:
    """Return what the first rows of runs say for themselves."""
    names = firsts.schema.names
    sweeps = firsts["sweep_id"].combine_chunks() if "sweep_id" in names else pa.nulls(run_count, TEXT)
    dates = firsts["measured_at"].combine_chunks() if "measured_at" in names else pa.nulls(run_count, TIME)
    return Own(listed(sweeps), dates)


def _text(sweep: str | None) -> str:
    return "null" if sweep is None else encode_basestring(sweep)


def _moment(date: datetime | None) -> str:
    return "null" if date is None else f'"{date.isoformat()}+00:00"'

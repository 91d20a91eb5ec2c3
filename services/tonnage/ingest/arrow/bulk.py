"""One stream of bulk tables on its way in: taken message by message, made ready in runs of whole rows."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from tonnage.errors import InvalidInput, TooLarge, at
from tonnage.ingest import keys
from tonnage.ingest.arrow.columns import RUN
from tonnage.ingest.arrow.decode import decode_table
from tonnage.ingest.arrow.levels import listed
from tonnage.ingest.arrow.runs import Runs, run_starts
from tonnage.store.base import AppendTables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tonnage.domain.finding import Finding
    from tonnage.ingest.arrow.runs import Part
    from tonnage.ingest.requests import BulkRun, RunsRequest

# Work by column pays from here on; rows wait until there are as many.
LEAST_ROW_COUNT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Collected:
    """A whole stream, ready to be stored; ``told`` has every run in its order, those sent twice among them."""

    tables: AppendTables
    told: tuple[BulkRun, ...]
    findings: tuple[Finding, ...]


class Bulk:
    """Takes the messages of one stream in order; ``finish`` once the stream has ended whole.

    Memory is bounded by ``max_bytes``, which holds for the rows as they are read, compressed or not on their way.
    """

    def __init__(self, request: RunsRequest, max_bytes: int) -> None:
        self._request = request
        self._max_bytes = max_bytes
        self._size_bytes = 0
        self._message_count = 0
        self._first_row = 0
        self._waiting: list[pa.Table] = []
        self._names: set[str] = set()
        self._runs = Runs(request)
        self._parts: list[Part] = []

    def add(self, data: bytes) -> None:
        """Take one message.

        Raises ``InvalidInput`` with ``messages[N].arrow_ipc`` or ``rows[ROW]`` as path, rows counted over the whole
        stream, and ``TooLarge``.
        """
        # The message is named where there was one before it.
        with at(f"messages[{self._message_count}]") if self._message_count else nullcontext():
            table = decode_table(data)
        self._message_count += 1
        self._size_bytes += max(table.nbytes, len(data))
        if self._size_bytes > self._max_bytes:
            text = f"the stream has at least {self._size_bytes} bytes, the server takes {self._max_bytes}; split it"
            raise TooLarge(text, size_bytes=self._size_bytes, limit_bytes=self._max_bytes)
        self._waiting.append(table)
        if sum(held.num_rows for held in self._waiting) >= LEAST_ROW_COUNT:
            self._prepare(is_last=False)

    def finish(self) -> Collected:
        """Return what is to be stored; raise ``InvalidInput``."""
        if not self._message_count:
            raise InvalidInput.field("arrow_ipc", None, "is absent", "send at least one table")
        self._prepare(is_last=True)
        distinct = list(self._distinct())
        told = tuple(run for part in self._parts for run in part.told)
        tables = AppendTables(
            namespace=self._request.namespace,
            runs=pa.concat_tables(runs for runs, _ in distinct),
            points=pa.concat_tables((points for _, points in distinct), promote_options="default"),
            body_digest=keys.body_digest(self._request.namespace, [run.run_id for run in told], self._request.ci_job),
            request_id=self._request.request_id,
            actor=self._request.ingested_by,
        )
        return Collected(tables, told, _counted(finding for part in self._parts for finding in part.findings))

    def _prepare(self, *, is_last: bool) -> None:
        """Make whole runs of what waits; the last run may go on in the next message."""
        if not self._waiting:
            return
        table = pa.concat_tables(self._waiting, promote_options="default")
        starts = run_starts(table)
        end = table.num_rows if is_last else int(starts[-1])
        if not end and not is_last:
            self._waiting = [table]
            return
        ready = table.slice(0, end)
        self._note_names(ready, self._first_row)
        self._parts.append(self._runs.part(ready, self._first_row))
        self._first_row += end
        self._waiting = [table.slice(end)] if end < table.num_rows else []

    def _note_names(self, table: pa.Table, first_row: int) -> None:
        starts = run_starts(table)
        for name, start in zip(listed(table[RUN].take(pa.array(starts))), starts.tolist(), strict=True):
            if name in self._names:
                cure = "keep the rows of a run together, in order of load"
                raise InvalidInput.field(f"rows[{first_row + start}].{RUN}", name, "was there before, apart", cure)
            self._names.add(name)

    def _distinct(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Yield runs and points of each part, without runs that were there before."""
        seen: set[str] = set()
        for part in self._parts:
            is_new = []
            for run in part.told:
                is_new.append(run.run_id not in seen)
                seen.add(run.run_id)
            if all(is_new):
                yield part.runs, part.points
            else:
                sizes = [run.level_count for run in part.told]
                yield part.runs.filter(pa.array(is_new)), part.points.filter(pa.array(np.repeat(is_new, sizes)))


def _counted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the first finding of each code and path, with how many more there are."""
    first: dict[tuple[str, str], Finding] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        key = (finding.code, finding.path)
        first.setdefault(key, finding)
        counts[key] += 1
    return tuple(
        finding if counts[key] == 1 else replace(finding, message=f"{finding.message} (and {counts[key] - 1} more)")
        for key, finding in first.items()
    )

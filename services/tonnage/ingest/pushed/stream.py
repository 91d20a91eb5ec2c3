"""One stream of batches of runs on its way in: many plain runs by column, all others one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from tonnage.errors import InvalidInput, at
from tonnage.ingest import keys
from tonnage.ingest.codec import decode_pushed, gathered
from tonnage.ingest.prepare import prepare_run
from tonnage.ingest.pushed.columns import PlainRuns
from tonnage.ingest.pushed.ready import Pushed
from tonnage.ingest.requests import BulkRun
from tonnage.store.base import AppendTables
from tonnage.store.incoming import run_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tonnage.domain.measurement import Run
    from tonnage.ingest.pushed.columns import Part
    from tonnage.ingest.requests import RunsRequest
    from tonnage.v1 import ingest_service_pb2 as pb

# Fewer runs in a message are stored with those of other streams in one commit.
LEAST_RUN_COUNT: Final = 64


class PushedRuns:
    """Takes the batches of one stream in order; then either ``single`` or ``tables`` is what to store."""

    def __init__(self, request: RunsRequest) -> None:
        self._request = request
        self._plain = PlainRuns(request)
        self._parts: list[tuple[int, Part]] = []
        self._single: dict[int, Run] = {}
        self._count = 0

    @property
    def is_bulk(self) -> bool:
        """Tell whether runs were read by column."""
        return bool(self._parts)

    @property
    def is_mixed(self) -> bool:
        """Tell whether runs were read one by one."""
        return bool(self._single)

    def add(self, batch: pb.RunBatch) -> None:
        """Take one message; raise ``InvalidInput`` with a path inside the batch."""
        runs = batch.runs
        is_many = len(runs) >= LEAST_RUN_COUNT and not self._request.validate_only
        part = self._plain.part(runs) if is_many else None
        done = () if part is None else part.told
        for place, message in enumerate(runs):
            if place not in done:
                self._single[self._count + place] = decode_pushed(message, place)
        if part is not None:
            self._parts.append((self._count, part))
        self._count += len(runs)

    def single(self) -> list[Run]:
        """Return the runs of a stream that is not bulk; raise ``InvalidInput`` when it held none."""
        if not self._count:
            raise InvalidInput.field("batch.runs", None, "is empty in every message", "send at least one run")
        return list(self._single.values())

    def tables(self) -> Pushed:
        """Return the runs of a bulk stream; raise ``InvalidInput`` with the run's position."""
        told = {first + place: run for first, part in self._parts for place, run in part.told.items()}
        others = []
        for position, run in self._single.items():
            with at(f"runs[{position}]"):
                others.append(prepare_run(run, self._request))
            told[position] = _told_of(others[-1])
        ordered = tuple(told[position] for position in range(self._count))
        pairs = [(part.runs, part.points) for _, part in self._parts]
        if others:
            pairs.append(_like(pairs[0], run_tables(others)))
        runs, points = (
            pa.concat_tables(tables, promote_options="default") for tables in zip(*_distinct(pairs), strict=True)
        )
        run_ids = [run.run_id for run in ordered]
        tables = AppendTables(
            namespace=self._request.namespace,
            runs=runs,
            points=points,
            body_digest=keys.body_digest(self._request.namespace, run_ids, self._request.ci_job),
            request_id=self._request.request_id,
            actor=self._request.ingested_by,
        )
        return Pushed(tables, ordered)


def _told_of(run: Run) -> BulkRun:
    return BulkRun(
        run_id=run.run_id,
        level_count=len(run.levels),
        usable_level_count=sum(level.usable for level in run.levels),
        fingerprint=run.configuration.fingerprint,
        sweep_id=run.sweep_id or "",
        missing=run.missing_for_plan(),
        findings=tuple(gathered(run)),
    )


def _like(pattern: tuple[pa.Table, pa.Table], tables: tuple[pa.Table, pa.Table]) -> tuple[pa.Table, pa.Table]:
    """Return tables with texts by dictionary where the pattern holds them so."""
    runs, points = (_coded(one, other) for one, other in zip(pattern, tables, strict=True))
    return runs, points


def _coded(pattern: pa.Table, table: pa.Table) -> pa.Table:
    coded = {item.name for item in pattern.schema if pa.types.is_dictionary(item.type)}
    for place, name in enumerate(table.schema.names):
        is_text = pa.types.is_string(table.schema.field(place).type)
        # A column that the pattern lacks is empty there and coded in the parts that hold it.
        if is_text and (name in coded or name not in pattern.schema.names):
            table = table.set_column(place, name, table.column(place).dictionary_encode())
    return table


def _distinct(pairs: Sequence[tuple[pa.Table, pa.Table]]) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield runs and points of each part, without runs that were there before."""
    seen: set[str] = set()
    for runs, points in pairs:
        run_ids: list[str] = runs["run_id"].to_pylist()
        is_new = []
        for run_id in run_ids:
            is_new.append(run_id not in seen)
            seen.add(run_id)
        if all(is_new):
            yield runs, points
            continue
        # A part's points stand in the order of its runs.
        sizes = runs["level_count"].to_numpy()
        yield runs.filter(pa.array(is_new)), points.filter(pa.array(np.repeat(is_new, sizes)))

"""From rows of whole runs to the tables that are stored: cut into runs, named, checked, keyed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tonnage.domain.buckets import bucket_of
from tonnage.domain.configuration import FIELD_NAMES
from tonnage.domain.measurement import ArrivalKind
from tonnage.errors import InvalidInput, at
from tonnage.formats.reading.columns import CONDITIONS
from tonnage.ingest import keys
from tonnage.ingest.arrow import columns
from tonnage.ingest.arrow.digests import report_ids
from tonnage.ingest.arrow.heads import OWN, Head, head_of
from tonnage.ingest.arrow.levels import levels_of, sums_of_runs
from tonnage.ingest.arrow.sharing import alike, each_once, own_of
from tonnage.ingest.requests import BulkRun
from tonnage.store.schema import TABLES
from tonnage.store.texts import compact, sums_to_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from tonnage.domain.buckets import WorkSums
    from tonnage.domain.finding import Finding
    from tonnage.ingest.arrow.levels import Levels
    from tonnage.ingest.arrow.sharing import Own
    from tonnage.ingest.requests import RunsRequest

    Integers: TypeAlias = npt.NDArray[np.int64]

LARGEST_LEVEL_COUNT: Final = 10_000
_RUNS: Final = TABLES["runs"]
_POINTS: Final = TABLES["points"]
_LENGTHS: Final = {"text": ("input_tokens_mean", "output_tokens_mean"), "embedding": ("input_tokens_mean",)}
_HEAD_TEXTS: Final = ("tool", "metric_definitions", "sample_set", "tool_version", "source")


@dataclass(frozen=True, slots=True)
class Part:
    """Whole runs, ready to be stored: rows of ``runs`` and of ``points``, and what is told of each run."""

    runs: pa.Table
    points: pa.Table
    told: tuple[BulkRun, ...]
    findings: list[Finding]


class Runs:
    """Makes parts; remembers heads, which many runs share."""

    def __init__(self, request: RunsRequest) -> None:
        self._request = request
        self._heads: dict[tuple[object, ...], Head] = {}

    def part(self, table: pa.Table, first_row: int) -> Part:
        """Return the runs of a table; ``first_row`` is its first row's number in the stream.

        Raises ``InvalidInput`` with ``rows[ROW]`` as path.
        """
        starts = run_starts(table)
        _check_sizes(starts, table.num_rows, first_row)
        _check_alike(table, starts, first_row)
        heads, own = self._heads_of(table, starts, first_row)
        kinds = [head.kind for head in heads]
        levels = levels_of(table, kinds, starts, first_row)
        said = [f"{head.said_digest}\n{text}" for head, text in zip(heads, own.texts(), strict=True)]
        ids = report_ids(table, said, starts)
        run_ids = keys.run_ids(ids)
        sums = sums_of_runs(levels, kinds, starts)
        sizes = np.diff(np.append(starts, table.num_rows))
        usable = np.add.reduceat(levels.usable.astype(np.int64), starts)
        counted = np.logical_and.reduceat(levels.stated("completed_count"), starts)
        sweep_ids = [sweep or run_id for sweep, run_id in zip(own.sweeps, run_ids, strict=True)]
        own_columns = {
            "run_id": run_ids,
            "report_id": ids,
            "sweep_id": sweep_ids,
            "measured_at": own.dates,
            "arrival_kind": _arrival_kinds(heads, levels, starts),
            "level_count": sizes.tolist(),
            "usable_level_count": usable.tolist(),
            "work_sums": each_once(sums_to_text, sums),
            "findings": [
                head.findings_text if is_counted else head.findings_text_uncounted
                for head, is_counted in zip(heads, counted.tolist(), strict=True)
            ],
        }
        runs = self.table(heads, own_columns)
        told = tuple(
            BulkRun(
                run_id=run_id,
                level_count=level_count,
                usable_level_count=usable_level_count,
                fingerprint=head.fingerprint,
                sweep_id=sweep_id,
                missing=head.missing + lengths,
            )
            for run_id, level_count, usable_level_count, head, sweep_id, lengths in zip(
                run_ids,
                sizes.tolist(),
                usable.tolist(),
                heads,
                sweep_ids,
                each_once(_missing_lengths, sums),
                strict=True,
            )
        )
        findings = [
            finding
            for head, is_counted in zip(heads, counted.tolist(), strict=True)
            for finding in head.findings(is_counted=is_counted)
        ]
        points = points_table(runs, levels, sums, sizes)
        return Part(runs, points, told, findings + levels.findings)

    def _heads_of(self, table: pa.Table, starts: Integers, first_row: int) -> tuple[list[Head], Own]:
        """Return each run's head, and what each says for itself; a head is made once for all runs that say the same."""
        firsts = table.select(list(filter(columns.is_header, table.schema.names))).take(pa.array(starts))
        names = [name for name in firsts.schema.names if name not in OWN]
        shown, number_of_run = alike(firsts.select(names), len(starts))
        rows = firsts.select(names).take(pa.array(shown)).to_pylist() if names else [{}]
        distinct = []
        for row, start in zip(rows, starts[shown].tolist(), strict=True):
            stated = tuple(sorted((name, value) for name, value in row.items() if value is not None))
            head = self._heads.get(stated)
            if head is None:
                with at(f"rows[{first_row + start}]"):
                    head = self._heads[stated] = head_of(dict(stated))
            distinct.append(head)
        own = own_of(firsts, len(starts))
        own.check(starts, first_row)
        return [distinct[number] for number in number_of_run.tolist()], own

    def table(self, heads: Sequence[Head], own: Mapping[str, list[Any] | pa.Array]) -> pa.Table:
        """Return the rows of ``runs``: what many share by dictionary, what each has for itself as it is."""
        distinct = list(dict.fromkeys(map(id, heads)))
        number = {key: position for position, key in enumerate(distinct)}
        codes = pa.array([number[id(head)] for head in heads], pa.int32())
        by_id = {id(head): head for head in heads}
        shared = [self._head_row(by_id[key]) for key in distinct]
        held = []
        for item in _RUNS:
            if item.name in own:
                held.append(pa.array(own[item.name], type=item.type))
            else:
                values = pa.array([row.get(item.name) for row in shared], type=item.type)
                is_text = pa.types.is_string(item.type)
                held.append(pa.DictionaryArray.from_arrays(codes, values) if is_text else values.take(codes))
        return pa.Table.from_arrays(held, names=_RUNS.names)

    def _head_row(self, head: Head) -> dict[str, Any]:
        run = head.run
        return {
            **{name: getattr(run.configuration, name) for name in FIELD_NAMES},
            **{name: getattr(run.conditions, name) for name in CONDITIONS},
            **{name: getattr(run, name) for name in _HEAD_TEXTS},
            "namespace": self._request.namespace,
            "fingerprint": head.fingerprint,
            "state": run.state,
            "state_origin": run.state_origin,
            "replicas_under_test": run.replicas_under_test,
            "ordinal": 0,
            "filename": run.filename,
            "labels": compact(run.conditions.labels),
            "ingested_by": run.ingested_by if self._request.ingested_by is None else self._request.ingested_by,
            "ci_job": run.ci_job if self._request.ci_job is None else self._request.ci_job,
        }


def run_starts(table: pa.Table) -> Integers:
    """Return the rows at which another run begins, the first among them."""
    names = table[columns.RUN].combine_chunks()
    differs = pc.not_equal(names.slice(1), names.slice(0, len(names) - 1)).to_numpy(zero_copy_only=False)
    found: Integers = np.concatenate([[0], np.flatnonzero(differs) + 1])
    return found


def _check_sizes(starts: Integers, row_count: int, first_row: int) -> None:
    sizes = np.diff(np.append(starts, row_count))
    if sizes.max() > LARGEST_LEVEL_COUNT:
        row = first_row + int(starts[sizes.argmax()])
        cure = f"split it, at most {LARGEST_LEVEL_COUNT} levels a run"
        raise InvalidInput.field(f"rows[{row}].run", int(sizes.max()), "begins a run of too many levels", cure)


def _check_alike(table: pa.Table, starts: Integers, first_row: int) -> None:
    """Refuse a run whose rows differ in what holds for the whole run."""
    begins = np.zeros(table.num_rows, dtype=np.bool_)
    begins[starts] = True
    for name in filter(columns.is_header, table.schema.names):
        codes = table[name].combine_chunks().dictionary_encode(null_encoding="encode").indices.to_numpy()
        differs = np.flatnonzero((codes[1:] != codes[:-1]) & ~begins[1:])
        if differs.size:
            row = int(differs[0]) + 1
            problem = "differs from the row before, of the same run"
            cure = "give all rows of a run the same value, or the rows another run"
            raise InvalidInput.field(f"rows[{first_row + row}].{name}", table[name][row].as_py(), problem, cure)


def _arrival_kinds(heads: Sequence[Head], levels: Levels, starts: Integers) -> list[ArrivalKind | None]:
    """Return how requests arrived: as stated, else as all levels of the run show; absent where they differ."""
    offered, capped = levels.stated("offered_requests_per_s"), levels.stated("concurrency")
    opened = np.logical_and.reduceat(offered, starts).tolist()
    closed = np.logical_and.reduceat(capped & ~offered, starts).tolist()
    return [
        head.run.arrival_kind or (ArrivalKind.OPEN if is_open else ArrivalKind.CLOSED if is_closed else None)
        for head, is_open, is_closed in zip(heads, opened, closed, strict=True)
    ]


def _missing_lengths(sums: WorkSums) -> tuple[str, ...]:
    held = [name for name, _ in sums.sums]
    return tuple(name for name in _LENGTHS.get(sums.kind, ()) if name not in held)


def points_table(runs: pa.Table, levels: Levels, sums: Sequence[WorkSums], sizes: Integers) -> pa.Table:
    """Return the rows of ``points``: the run's columns by dictionary, the level's as they are."""
    run_of_row = pa.array(np.repeat(np.arange(len(sizes)), sizes), pa.int32())
    buckets = each_once(lambda item: bucket_of(item.mean()), sums)
    held: dict[str, pa.Array] = dict(levels.columns)
    held["point_index"] = held["level_index"]
    for name in ("first", "second"):
        bands = pa.array([getattr(bucket, name) for bucket in buckets], pa.int64())
        held[f"{name}_band"] = bands.take(run_of_row)
    for item in _POINTS:
        if item.name in held or item.name not in runs.schema.names:
            continue
        values = runs[item.name].combine_chunks()
        if values.null_count == len(values):
            continue
        held[item.name] = _spread(values, run_of_row)
    return pa.table(held)


def _spread(values: pa.Array, run_of_row: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(values.type):
        return pa.DictionaryArray.from_arrays(values.indices.take(run_of_row), values.dictionary)
    if pa.types.is_string(values.type):
        return pa.DictionaryArray.from_arrays(run_of_row, values)
    return values.take(run_of_row)

"""From plain runs of one message to the tables that are stored, in one pass over their columns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from tonnage import checks
from tonnage.errors import InvalidInput
from tonnage.formats.lint import COUNT_NOT_STATED
from tonnage.ingest import keys
from tonnage.ingest.arrow.levels import Levels, constant, sums_of_runs
from tonnage.ingest.arrow.runs import Runs, points_table
from tonnage.ingest.pushed import plain
from tonnage.ingest.pushed.heads import PushedHead, head_of, key_of
from tonnage.ingest.requests import BulkRun
from tonnage.store.texts import sums_to_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tonnage.domain.finding import Finding
    from tonnage.ingest.pushed.heads import Key
    from tonnage.ingest.requests import RunsRequest
    from tonnage.v1 import run_pb2

_LENGTHS: Final = ("input_tokens_mean", "output_tokens_mean")


@dataclass(frozen=True, slots=True)
class PlainRun:
    """One plain run: its place in the message, what it shares, what is its own."""

    place: int
    head: PushedHead
    sweep_id: str | None
    measured_at: datetime | None
    levels: list[plain.Values]


@dataclass(frozen=True, slots=True)
class Part:
    """Runs ready to be stored, and what is told of each, by its place in the message."""

    runs: pa.Table
    points: pa.Table
    told: dict[int, BulkRun]


class PlainRuns:
    """Makes parts of the plain runs of messages; remembers heads, which many runs share."""

    def __init__(self, request: RunsRequest) -> None:
        self._tables = Runs(request)
        self._heads: dict[Key, PushedHead | None] = {}
        self._told: dict[tuple[int, bool], tuple[Finding, ...]] = {}

    def part(self, messages: Sequence[run_pb2.Run]) -> Part | None:
        """Return the plain and sound runs among some; None when there are none."""
        found = [run for place, message in enumerate(messages) if (run := self._plain(place, message)) is not None]
        if not found:
            return None
        columns = plain.Columns([run.levels for run in found])
        sound = columns.sound()
        if sound.all():
            return self._part(found, columns)
        return self._part(plain.kept(found, sound), columns.of(sound)) if sound.any() else None

    def _plain(self, place: int, message: run_pb2.Run) -> PlainRun | None:
        if message.findings:
            return None
        key = key_of(message)
        if key not in self._heads:
            self._heads[key] = head_of(message)
        head = self._heads[key]
        values = None if head is None else plain.run_values(message.levels)
        if head is None or values is None:
            return None
        try:
            checks.name("sweep_id", message.sweep_id)
            measured_at = message.measured_at.ToDatetime(tzinfo=UTC) if message.HasField("measured_at") else None
        except (InvalidInput, ValueError, OverflowError):
            return None
        return PlainRun(place, head, message.sweep_id or None, measured_at, values)

    def _part(self, found: Sequence[PlainRun], columns: plain.Columns) -> Part:
        sizes, starts = columns.sizes, columns.starts
        levels = _levels(columns)
        sums = sums_of_runs(levels, ["text"] * len(found), starts)
        counted = np.logical_and.reduceat(levels.stated("completed_count"), starts).tolist()
        usual = columns.usual().tolist()
        ids = [keys.record_digest(_text(run, is_usual=flag)) for run, flag in zip(found, usual, strict=True)]
        run_ids = keys.run_ids(ids)
        sweep_ids = [run.sweep_id or run_id for run, run_id in zip(found, run_ids, strict=True)]
        heads = [run.head.head for run in found]
        own: dict[str, list[Any]] = {
            "run_id": run_ids,
            "report_id": ids,
            "sweep_id": sweep_ids,
            "measured_at": [run.measured_at for run in found],
            "arrival_kind": [head.run.arrival_kind for head in heads],
            "level_count": sizes.tolist(),
            "usable_level_count": sizes.tolist(),
            "work_sums": [sums_to_text(item) for item in sums],
            "findings": [
                head.findings_text if is_counted else head.findings_text_uncounted
                for head, is_counted in zip(heads, counted, strict=True)
            ],
        }
        runs = self._tables.table(heads, own)
        told = {
            run.place: self._told_of(run, run_id, sweep_id, is_counted=is_counted)
            for run, run_id, sweep_id, is_counted in zip(found, run_ids, sweep_ids, counted, strict=True)
        }
        return Part(runs, points_table(runs, levels, sums, sizes), told)

    def _told_of(self, run: PlainRun, run_id: str, sweep_id: str, *, is_counted: bool) -> BulkRun:
        head = run.head.head
        key = (id(head), is_counted)
        if key not in self._told:
            self._told[key] = head.run.findings if is_counted else (COUNT_NOT_STATED, *head.run.findings)
        places = (plain.COLUMNS.index(name) for name in _LENGTHS)
        lengths = [
            name
            for name, place in zip(_LENGTHS, places, strict=True)
            if all(values[place] is None for values in run.levels)
        ]
        replicas = [] if head.run.replicas_under_test is not None else ["replicas_under_test"]
        return BulkRun(
            run_id=run_id,
            level_count=len(run.levels),
            usable_level_count=len(run.levels),
            fingerprint=head.fingerprint,
            sweep_id=sweep_id,
            missing=(*head.run.configuration.missing_for_plan(), *lengths, *replicas),
            findings=self._told[key],
        )


def _text(run: PlainRun, *, is_usual: bool) -> str:
    levels = plain.levels_text(run.levels, is_usual=is_usual)
    return run.head.record_text(levels, run.measured_at, run.sweep_id)


def _levels(columns: plain.Columns) -> Levels:
    held = dict(columns.arrays)
    count = int(columns.sizes.sum())
    held["level_index"] = pa.array(np.arange(count) - np.repeat(columns.starts, columns.sizes))
    held["work_kind"], held["tenants"], held["location"], held["findings"] = (
        constant(text, count) for text in ("text", "[]", "", "[]")
    )
    usable = np.ones(count, dtype=np.bool_)
    held["usable"], held["has_telemetry"] = pa.array(usable), pa.array(~usable)
    return Levels(held, count, [], usable)

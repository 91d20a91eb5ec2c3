"""Runs read by column are stored as they would be one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from bench.ingesting import messages_of
from builders_arrow import a_bulk_table
from hypothesis import given
from hypothesis import strategies as st

from tonnage.errors import InvalidInput
from tonnage.ingest import keys
from tonnage.ingest.codec import gathered
from tonnage.ingest.prepare import prepare_runs
from tonnage.ingest.pushed import plain
from tonnage.ingest.pushed.stream import LEAST_RUN_COUNT, PushedRuns
from tonnage.ingest.requests import RunsRequest
from tonnage.rpc.codec.run import decode_run
from tonnage.store.incoming import run_tables
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1 import run_pb2

if TYPE_CHECKING:
    from collections.abc import Callable

    from tonnage.ingest.pushed.ready import Pushed

REQUEST = RunsRequest(namespace="team", ingested_by="ci", request_id="r-1")
COUNT = LEAST_RUN_COUNT + 6


def the_runs(count: int = COUNT) -> list[run_pb2.Run]:
    return list(messages_of(a_bulk_table(count)))


def pushed(runs: list[run_pb2.Run], request: RunsRequest = REQUEST) -> Pushed:
    stream = PushedRuns(request)
    stream.add(pb.RunBatch(runs=runs))
    assert stream.is_bulk
    return stream.tables()


def rows(tables: tuple[Any, Any]) -> list[list[dict[str, Any]]]:
    """Return the rows of runs and points, without absent values, in one order."""
    runs, points = (
        [{key: value for key, value in row.items() if value is not None} for row in table.to_pylist()]
        for table in tables
    )
    return [
        sorted(runs, key=lambda row: str(row["run_id"])),
        sorted(points, key=lambda row: (row["run_id"], row["point_index"])),
    ]


def one_by_one(runs: list[run_pb2.Run], request: RunsRequest = REQUEST) -> list[Any]:
    return list(prepare_runs([decode_run(run) for run in runs], request))


def stated_zeros(run: run_pb2.Run) -> None:
    run.levels[0].queue.MergeFrom(run_pb2.LatencyStatistics(mean_ms=0, p99_ms=0))


def absent_lengths(run: run_pb2.Run) -> None:
    for level in run.levels:
        level.work.ClearField("text")


def absent_work(run: run_pb2.Run) -> None:
    for level in run.levels:
        level.ClearField("work")


def no_date_and_no_sweep(run: run_pb2.Run) -> None:
    run.ClearField("measured_at")
    run.ClearField("sweep_id")


def another_modality(run: run_pb2.Run) -> None:
    for level in run.levels:
        level.work.image.megapixels = 1.0


def labels_and_a_patch_version(run: run_pb2.Run) -> None:
    run.conditions.labels.update(b="2", a="1")
    run.configuration.engine_version = "0.19.2.post1"


CHANGES: dict[str, Callable[[run_pb2.Run], object]] = {
    "zeros that are stated": stated_zeros,
    "a count that is absent": lambda run: run.levels[1].ClearField("completed_count"),
    "numbers that need an exponent": lambda run: setattr(run.levels[2], "concurrency", 1e-7),
    "lengths that are absent": absent_lengths,
    "no work at all": absent_work,
    "no date and no sweep": no_date_and_no_sweep,
    "a word by the lint": lambda run: setattr(run.levels[3].ttft, "p99_ms", 0.01),
    "telemetry": lambda run: setattr(run.levels[0].telemetry, "power_w", 300.0),
    "parts": lambda run: run.levels[0].tenants.add(tenant="a").level.MergeFrom(run.levels[1]),
    "a place in a file": lambda run: setattr(run.levels[0], "location", "line 3"),
    "findings": lambda run: run.findings.add(code="X", severity=1, message="m", path="p"),
    "another modality": another_modality,
    "labels and a patch version": labels_and_a_patch_version,
    "a card nobody knows": lambda run: setattr(run.configuration, "accelerator", "Card-X"),
    "replicas that are absent": lambda run: run.ClearField("replicas_under_test"),
    "a fractional second": lambda run: run.measured_at.FromJsonString("2026-01-02T03:04:05.006007Z"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_rows_and_receipts_are_those_of_runs_read_one_by_one(change: Callable[[run_pb2.Run], object]) -> None:
    runs = the_runs()
    for run in runs[3:5]:
        change(run)
    found = pushed(runs)
    wanted = one_by_one(runs)
    assert rows((found.tables.runs, found.tables.points)) == rows(run_tables(wanted))
    assert [run.run_id for run in found.told] == [run.run_id for run in wanted]
    assert [run.missing for run in found.told] == [run.missing_for_plan() for run in wanted]
    assert [list(run.findings) for run in found.told] == [gathered(run) for run in wanted]
    assert [(run.sweep_id, run.fingerprint) for run in found.told] == [
        (run.sweep_id, run.configuration.fingerprint) for run in wanted
    ]


def test_most_runs_of_a_plain_stream_are_read_by_column() -> None:
    stream = PushedRuns(REQUEST)
    stream.add(pb.RunBatch(runs=the_runs()))
    assert not stream.is_mixed


def test_the_same_run_twice_in_a_stream_is_stored_once() -> None:
    runs = the_runs()
    found = pushed([*runs, runs[0], runs[7]])
    assert found.tables.runs.num_rows == COUNT
    assert found.tables.points.num_rows == COUNT * len(runs[0].levels)
    assert len(found.told) == COUNT + 2


def test_what_is_refused_one_by_one_is_refused_with_the_same_words() -> None:
    runs = the_runs()
    runs[9].levels[2].requests_per_s = float("nan")
    with pytest.raises(InvalidInput) as found:
        pushed(runs)
    assert found.value.context["field"] == "batch.runs[9].levels[2].requests_per_s"


def test_few_runs_stay_single_so_that_they_share_a_commit() -> None:
    stream = PushedRuns(REQUEST)
    stream.add(pb.RunBatch(runs=the_runs(3)))
    assert not stream.is_bulk
    assert len(stream.single()) == 3


def test_a_request_has_the_digest_it_has_one_by_one() -> None:
    runs = the_runs()
    ids = [run.run_id for run in one_by_one(runs)]
    assert pushed(runs).tables.body_digest == keys.body_digest("team", ids, None)


@given(st.lists(st.floats(0, 1e9).filter(lambda value: value == 0 or value >= plain.SMALLEST), min_size=25))
def test_both_encoders_write_usual_numbers_alike(numbers: list[float]) -> None:
    values: plain.Values = (*numbers[:7], 3, None, *numbers[7:10], *numbers[:25])
    values = (*values[:7], 3, None, *values[9:12], *values[12:37])
    assert plain.levels_text([values], is_usual=True) == plain.levels_text([values], is_usual=False)

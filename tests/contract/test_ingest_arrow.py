"""Runs in bulk, over a real channel and on every store: the same runs as pushed one by one, marked alike."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import numpy as np
import pyarrow as pa
import pytest
from builders_arrow import a_bulk_table, ipc
from builders_ingest import an_ingest_server
from builders_rpc import error_info, violations
from builders_store import rows_of

from tonnage.client import IngestClient
from tonnage.client.errors import BadInput
from tonnage.domain.finding import Severity
from tonnage.rpc.codec.run import encode_run
from tonnage.store import open_reader, open_writer
from tonnage.store.base import Page, RunFilter
from tonnage.store.memory import MemoryStore
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from tonnage.domain.measurement import Run
    from tonnage.store.base import StoreReader, StoreWriter

BACK_ENDS = ("memory", "lake")


@pytest.fixture(params=BACK_ENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[StoreWriter, StoreReader]]:
    """Return a writer, which the server closes, and a reader that follows it."""
    if request.param == "memory":
        memory = MemoryStore()
        yield memory, memory
        return
    writer = open_writer(f"lake://{tmp_path}/store")
    reader = open_reader(f"lake://{tmp_path}/store")
    yield writer, reader
    reader.close()


async def _each(parts: list[pb.IngestRunsRequest]) -> AsyncIterator[pb.IngestRunsRequest]:
    for part in parts:
        yield part


def pushed(
    folder: Path,
    *streams: Sequence[bytes | pb.IngestRunsRequest],
    writer: StoreWriter | None = None,
    **metadata: Any,  # noqa: ANN401 -- fields of the metadata
) -> list[pb.IngestRunsResponse]:
    """Return the answers to some streams of one server; tables are given as bytes."""

    async def life() -> list[pb.IngestRunsResponse]:
        head = pb.IngestRunsRequest(metadata=pb.IngestRunsMetadata(**metadata))
        answers = []
        async with (
            an_ingest_server(folder, writer) as running,
            grpc.aio.insecure_channel(running.address) as channel,
        ):
            for stream in streams:
                parts = [pb.IngestRunsRequest(arrow_ipc=item) if isinstance(item, bytes) else item for item in stream]
                answers.append(await IngestServiceStub(channel).IngestRuns(_each([head, *parts])))
        return answers

    return asyncio.run(life())


def refusal(folder: Path, *tables: bytes, **metadata: Any) -> grpc.aio.AioRpcError:  # noqa: ANN401 -- as above
    """Return the error of a stream that must be refused."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        pushed(folder, list(tables), **metadata)
    return caught.value


def kept(reader: StoreReader, data_version: int) -> list[Run]:
    """Return the runs a reader has, with levels, by sweep."""
    snapshot = reader.wait_for(data_version, 10)
    listed = snapshot.runs("default", RunFilter(), Page(limit=1000))
    runs = [snapshot.run("default", run.run_id)[0] for run, _ in rows_of(listed)]
    return sorted(runs, key=lambda run: str(run.sweep_id))


def test_a_table_becomes_the_runs_that_messages_of_the_same_values_become(
    store: tuple[StoreWriter, StoreReader], tmp_path: Path
) -> None:
    writer, reader = store
    table = a_bulk_table(3, label_team=["a"] * 30, power_w=np.arange(30.0))
    (answer,) = pushed(tmp_path, [ipc(table)], writer=writer)
    runs = kept(reader, answer.data_version)
    assert (answer.run_count, answer.stored_run_count, answer.stored_level_count) == (3, 3, 30)
    assert [run.levels[9].ttft.p99_ms for run in runs] == table["ttft_p99_ms"].to_pylist()[9::10]
    assert runs[0].configuration.engine_version == "0.19"
    assert runs[0].conditions.engine_patch_version == "0.19.2"
    assert runs[0].conditions.labels == (("team", "a"),)
    messages = [encode_run(replace(run, run_id="", configuration=run.configuration)) for run in runs]
    memory = MemoryStore()
    pushed(tmp_path, [pb.IngestRunsRequest(batch=pb.RunBatch(runs=messages))], writer=memory)
    for one, other in zip(runs, kept(memory, 1), strict=True):
        assert replace(one, run_id="", report_id="", ingested_at=None) == replace(
            other, run_id="", report_id="", ingested_at=None
        )


def test_the_same_rows_again_are_stored_once_however_they_are_cut_typed_or_ordered(
    store: tuple[StoreWriter, StoreReader], tmp_path: Path
) -> None:
    table = a_bulk_table(4)
    names = table.schema.names
    other = table.select(names[::-1]).set_column(
        len(names) - 1 - names.index("model"), "model", table["model"].dictionary_encode()
    )
    other = other.append_column("queue_p50_ms", pa.nulls(40, pa.float64()))
    cut = [ipc(other.slice(offset, 7), compression="zstd") for offset in range(0, 40, 7)]
    first, second = pushed(tmp_path, [ipc(table)], cut, writer=store[0])
    assert (first.stored_level_count, second.stored_level_count) == (40, 0)
    assert second.data_version == first.data_version
    assert [run.run for run in second.runs] == [run.run for run in first.runs]
    assert {run.outcome for run in second.runs} == {pb.RUN_OUTCOME_ALREADY_STORED}


def test_one_record_under_two_names_is_one_run(tmp_path: Path) -> None:
    table = pa.concat_tables([a_bulk_table(1), a_bulk_table(1, run=["again"] * 10)])
    (answer,) = pushed(tmp_path, [ipc(table)])
    assert (answer.run_count, answer.stored_run_count, answer.stored_level_count) == (2, 1, 10)


def test_a_doubtful_row_is_marked_and_its_neighbours_are_not(
    store: tuple[StoreWriter, StoreReader], tmp_path: Path
) -> None:
    table = a_bulk_table(2)
    p95 = table["ttft_p95_ms"].to_numpy().copy()
    p99 = table["e2e_p99_ms"].to_numpy().copy()
    count = table["completed_count"].to_numpy().copy()
    duration = table["duration_s"].to_numpy().copy()
    p95[3], p99[5], count[7], duration[7] = -1.0, np.nan, 50, duration[7] / 20
    changed = a_bulk_table(2, ttft_p95_ms=p95, e2e_p99_ms=p99, completed_count=count, duration_s=duration)
    (answer,) = pushed(tmp_path, [ipc(changed)], writer=store[0])
    run = kept(store[1], answer.data_version)[0]
    told = {index: {item.code for item in level.findings} for index, level in enumerate(run.levels) if level.findings}
    assert told == {
        3: {"IMPOSSIBLE_STATISTIC"},
        5: {"NON_FINITE_STATISTIC"},
        7: {"TOO_FEW_REQUESTS_FOR_STATISTIC"},
    }
    assert run.levels[3].ttft.p95_ms is None
    assert run.levels[7].ttft.p99_ms is not None
    assert {item.severity for item in run.levels[7].findings} == {Severity.WARNING}
    assert {item.code for item in answer.findings} == set().union(*told.values())


def test_a_level_without_throughput_is_kept_and_not_used(tmp_path: Path) -> None:
    nothing = pa.nulls(10, pa.float64())
    (answer,) = pushed(tmp_path, [ipc(a_bulk_table(1, requests_per_s=nothing, output_tokens_per_s=nothing))])
    assert (answer.runs[0].level_count, answer.runs[0].usable_level_count) == (10, 0)


def test_checking_alone_stores_nothing(tmp_path: Path) -> None:
    memory = MemoryStore()
    (answer,) = pushed(tmp_path, [ipc(a_bulk_table())], writer=memory, validate_only=True)
    assert {run.outcome for run in answer.runs} == {pb.RUN_OUTCOME_VALID}
    assert memory.data_version == 0


def test_a_request_id_repeats_its_answer_and_refuses_another_body(tmp_path: Path) -> None:
    memory = MemoryStore()
    first, again = pushed(tmp_path, [ipc(a_bulk_table())], [ipc(a_bulk_table())], writer=memory, request_id="ci-1")
    assert first.data_version == again.data_version
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        pushed(tmp_path, [ipc(a_bulk_table(first=9))], writer=memory, request_id="ci-1")
    assert error_info(caught.value).reason == "REQUEST_ID_REUSED"


BAD: dict[str, tuple[pa.Table, str]] = {
    "unknown column": (a_bulk_table(1, colour=["red"] * 10), "arrow_ipc.colour"),
    "no run": (a_bulk_table(1).drop_columns("run"), "arrow_ipc.run"),
    "a nameless row": (a_bulk_table(1, run=[*["r"] * 9, None]), "arrow_ipc.run[9]"),
    "text for a number": (a_bulk_table(1, ttft_p50_ms=["fast"] * 10), "arrow_ipc.ttft_p50_ms"),
    "a broken count": (
        a_bulk_table(1, completed_count=[9.0] * 4 + [1.5] + [9.0] * 5),
        "arrow_ipc.completed_count[4]",
    ),
    "another unit": (a_bulk_table(1, e2e_mean_ms=[1.0] * 6 + [1e12] + [1.0] * 3), "arrow_ipc.e2e_mean_ms[6]"),
    "a ratio above 1": (a_bulk_table(1, kv_cache_usage_ratio=[0.5] * 9 + [85.0]), "arrow_ipc.kv_cache_usage_ratio[9]"),
    "a date without zone": (
        a_bulk_table(1, measured_at=pa.array([0] * 10, pa.timestamp("us"))),
        "arrow_ipc.measured_at",
    ),
    "two models in a run": (a_bulk_table(1, model=["m"] * 8 + ["other"] * 2), "rows[8].model"),
    "a state nobody knows": (a_bulk_table(2, state=["peak"] * 10 + ["loud"] * 10), "rows[10].state"),
    "no accelerators": (a_bulk_table(1, tensor_parallel=[0] * 10), "rows[0].tensor_parallel"),
    "an image's size in a text run": (
        a_bulk_table(1, image_megapixels=[None] * 5 + [1.0] * 5),
        "rows[5].image_megapixels",
    ),
    "a run apart": (a_bulk_table(1, run=["a"] * 4 + ["b"] * 3 + ["a"] * 3), "rows[7].run"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_refused_by_column_and_row(case: str, tmp_path: Path) -> None:
    table, path = BAD[case]
    error = refusal(tmp_path, ipc(table))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert list(violations(error)) == [path]


def test_a_later_message_is_named_and_nothing_of_the_stream_is_stored(tmp_path: Path) -> None:
    memory = MemoryStore()
    whole = ipc(a_bulk_table())
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        pushed(tmp_path, [whole, whole[: len(whole) // 2]], writer=memory)
    assert list(violations(caught.value)) == ["messages[1].arrow_ipc"]
    assert memory.data_version == 0


def test_a_stream_holds_one_kind_of_part(tmp_path: Path) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        pushed(tmp_path, [ipc(a_bulk_table()), pb.IngestRunsRequest(batch=pb.RunBatch())])
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_rows_are_counted_as_they_are_read_however_small_they_travel(tmp_path: Path) -> None:
    table = a_bulk_table(500, label_note=["x" * 300] * 5000)
    packed = ipc(table, compression="zstd")
    assert len(packed) < 1 << 20 < table.nbytes
    error = refusal(tmp_path, packed)
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_the_client_sends_tables_batches_and_streams_alike(tmp_path: Path) -> None:
    table = a_bulk_table(3)

    async def life() -> list[int]:
        async with an_ingest_server(tmp_path) as running:
            return await asyncio.to_thread(_sent, running.address, table)

    assert asyncio.run(life()) == [30, 0, 0]


def _sent(address: str, table: pa.Table) -> list[int]:
    with IngestClient(address) as client:
        sources: list[Any] = [table, table.to_batches(max_chunksize=4), ipc(table, compression="zstd")]
        with pytest.raises(BadInput, match="dictionary-encoded"):
            client.ingest_arrow(table.set_column(0, "run", table["run"].dictionary_encode()))
        return [client.ingest_arrow(source).stored_level_count for source in sources]

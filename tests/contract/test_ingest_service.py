"""The ingest service over a real channel, on every store."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest
from builders_ingest import (
    GIVEN,
    a_table,
    an_ingest_server,
    convert_parts,
    report_parts,
    runs_parts,
)
from builders_rpc import a_run_message, error_info, violations

from tonnage.store import open_writer
from tonnage.store.memory import MemoryStore
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tonnage.store.base import StoreWriter
    from tonnage.v1.ingest_service_pb2_grpc import IngestServiceAsyncStub

    Talk = Callable[..., Any]
    Script = Callable[[IngestServiceAsyncStub], Awaitable[Any]]

STORES: dict[str, Callable[[Path], StoreWriter]] = {
    "memory": lambda _: MemoryStore(),
    "lake": lambda folder: open_writer(f"lake://{folder}/store"),
}
TABLE = a_table()
DIGEST = hashlib.sha256(TABLE).hexdigest()


async def each(parts: list[Any]) -> AsyncIterator[Any]:
    """Send messages one by one."""
    for part in parts:
        yield part


async def push(
    stub: IngestServiceAsyncStub,
    data: bytes = TABLE,
    **fields: Any,  # noqa: ANN401 -- fields of the metadata
) -> pb.IngestReportResponse:
    """Send a raw file with the fields of its metadata."""
    head = pb.ReportMetadata(**{"filename": "bench.csv", "given": GIVEN, **fields})
    return await stub.IngestReport(each(report_parts(data, head)))


async def push_runs(
    stub: IngestServiceAsyncStub,
    *runs: Any,  # noqa: ANN401 -- run messages
    **fields: Any,  # noqa: ANN401 -- fields of the metadata
) -> pb.IngestRunsResponse:
    """Send runs in our own form."""
    return await stub.IngestRuns(each(runs_parts(runs, pb.IngestRunsMetadata(**fields))))


async def refused(call: Awaitable[Any]) -> grpc.aio.AioRpcError:
    """Return the error of a call that must fail."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


@pytest.fixture(params=STORES)
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> StoreWriter:
    """Return a store of each kind; the server closes it."""
    return STORES[request.param](tmp_path)


@pytest.fixture
def talk(writer: StoreWriter, tmp_path: Path) -> Talk:
    """Return a function that runs a script against a server on the store."""

    def talked(script: Script, **limits: Any) -> Any:  # noqa: ANN401 -- whatever the script returns
        async def life() -> Any:  # noqa: ANN401 -- as above
            async with (
                an_ingest_server(tmp_path, writer, **limits) as running,
                grpc.aio.insecure_channel(running.address) as channel,
            ):
                return await script(IngestServiceStub(channel))

        return asyncio.run(life())

    return talked


@pytest.fixture
def talk_memory(tmp_path: Path) -> Talk:
    """Return the same over a store in memory alone, for what no store decides."""

    def talked(script: Script, **limits: Any) -> Any:  # noqa: ANN401 -- whatever the script returns
        async def life() -> Any:  # noqa: ANN401 -- as above
            async with (
                an_ingest_server(tmp_path, **limits) as running,
                grpc.aio.insecure_channel(running.address) as channel,
            ):
                return await script(IngestServiceStub(channel))

        return asyncio.run(life())

    return talked


def outcomes(answer: pb.IngestReportResponse | pb.IngestRunsResponse) -> list[str]:
    """Return what became of each run."""
    return [pb.RunOutcome.Name(run.outcome).removeprefix("RUN_OUTCOME_") for run in answer.runs]


def test_a_file_is_stored_and_its_answer_says_what_and_where(talk_memory: Talk) -> None:
    answer = talk_memory(push)
    (run,) = answer.runs
    assert (answer.report_id, answer.format, answer.data_version) == (DIGEST, "tonnage-table", 1)
    assert outcomes(answer) == ["STORED"]
    assert (run.level_count, run.usable_level_count, list(run.missing_for_plan)) == (2, 2, [])
    assert run.run.startswith("namespaces/default/runs/")
    assert answer.ingested_at.seconds > 0


def test_the_same_file_again_changes_nothing(talk: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[pb.IngestReportResponse, pb.IngestReportResponse]:
        return await push(stub), await push(stub, filename="renamed.csv")

    first, second = talk(script)
    assert outcomes(second) == ["ALREADY_STORED"]
    assert (second.data_version, second.ingested_at) == (first.data_version, first.ingested_at)
    assert second.runs[0].run == first.runs[0].run


def test_the_same_file_sent_twice_at_once_is_stored_once(talk: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> list[pb.IngestReportResponse]:
        return await asyncio.gather(*(push(stub) for _ in range(4)))

    answers = talk(script)
    assert sorted(outcome for answer in answers for outcome in outcomes(answer)) == ["ALREADY_STORED"] * 3 + ["STORED"]
    assert {answer.data_version for answer in answers} == {1}


def test_the_same_file_with_other_labels_is_refused_and_named(talk_memory: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> grpc.aio.AioRpcError:
        await push(stub)
        return await refused(push(stub, given={**GIVEN, "weight_precision": "fp8"}))

    error = talk_memory(script)
    assert error.code() is grpc.StatusCode.ALREADY_EXISTS
    assert error_info(error).reason == "SAME_FILE_OTHER_LABELS"
    assert "weight_precision" in error.details()


def test_replace_supersedes_the_runs_with_other_labels(talk: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any]:
        await push(stub)
        answer = await push(stub, given={**GIVEN, "weight_precision": "fp8"}, replace=True)
        return answer, await stub.GetIngestion(pb.GetIngestionRequest(report_id=DIGEST))

    answer, upload = talk(script)
    assert outcomes(answer) == ["STORED"]
    assert answer.data_version == 2
    assert {run.run == answer.runs[0].run: run.retired for run in upload.runs} == {True: "", False: "SUPERSEDED"}


def test_one_namespace_does_not_see_another(talk_memory: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any]:
        await push(stub, namespace="a")
        return await refused(stub.GetIngestion(pb.GetIngestionRequest(namespace="b", report_id=DIGEST))), await push(
            stub, namespace="b", given={**GIVEN, "weight_precision": "fp8"}
        )

    error, answer = talk_memory(script)
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert outcomes(answer) == ["STORED"]


def test_a_request_repeated_gets_the_first_answer_and_another_body_is_refused(talk: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any, Any]:
        first = await push(stub, request_id="ci-7")
        again = await push(stub, request_id="ci-7")
        return first, again, await refused(push(stub, a_table("1,2,3,4,500,0"), request_id="ci-7"))

    first, again, error = talk(script)
    assert again.data_version == first.data_version
    assert [run.run for run in again.runs] == [run.run for run in first.runs]
    assert error.code() is grpc.StatusCode.ALREADY_EXISTS
    assert error_info(error).reason == "REQUEST_ID_REUSED"


def test_a_dry_run_stores_nothing(talk_memory: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any]:
        answer = await push(stub, validate_only=True)
        return answer, await refused(stub.GetIngestion(pb.GetIngestionRequest(report_id=DIGEST)))

    answer, error = talk_memory(script)
    assert (outcomes(answer), answer.data_version, answer.HasField("ingested_at")) == (["VALID"], 0, False)
    assert error.code() is grpc.StatusCode.NOT_FOUND


def test_a_conversion_shows_the_runs_that_would_be_stored(talk_memory: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any]:
        return await stub.ConvertReport(each(convert_parts(TABLE))), await push(stub)

    converted, stored = talk_memory(script)
    assert [run.name for run in converted.runs] == [run.run for run in stored.runs]
    assert outcomes(stored) == ["STORED"]
    assert [level.requests_per_s for level in converted.runs[0].levels] == [1, 3]
    assert converted.runs[0].configuration.accelerator == "h100-sxm-80gb"


def test_pushed_runs_are_stored_once_by_their_content(talk: Talk) -> None:
    run, other = a_run_message(), a_run_message(sample_set="other")

    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any]:
        return await push_runs(stub, run, other, run), await push_runs(stub, run, other)

    first, second = talk(script)
    assert outcomes(first) == ["STORED", "STORED", "ALREADY_STORED"]
    assert [item.ordinal for item in first.runs] == [0, 1, 2]
    assert (first.stored_level_count, second.stored_level_count) == (2, 0)
    assert outcomes(second) == ["ALREADY_STORED"] * 2
    assert (first.data_version, second.data_version) == (1, 1)


def test_pushed_runs_of_several_messages_are_one_commit(talk_memory: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> Any:  # noqa: ANN401 -- the answer
        parts = runs_parts([a_run_message()])
        second = pb.IngestRunsRequest(batch=pb.RunBatch(runs=[a_run_message(sample_set="b")]))
        return await stub.IngestRuns(each([*parts, second]))

    answer = talk_memory(script)
    assert (outcomes(answer), answer.data_version) == (["STORED", "STORED"], 1)


def test_many_runs_of_a_message_are_the_same_runs_as_one_by_one(talk: Talk) -> None:
    runs = [a_run_message(sample_set=f"set-{number}") for number in range(70)]

    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any, Any]:
        alone = await push_runs(stub, runs[0])
        return alone, await push_runs(stub, *runs, runs[5]), await push_runs(stub, *runs)

    alone, many, again = talk(script)
    assert outcomes(many) == ["ALREADY_STORED", *["STORED"] * 69, "ALREADY_STORED"]
    assert outcomes(again) == ["ALREADY_STORED"] * 70
    assert (many.data_version, again.data_version, many.run_count, many.stored_run_count) == (2, 2, 71, 69)
    alike = [(item.run, item.fingerprint, list(item.findings)) for item in (alone.runs[0], many.runs[0])]
    assert alike[0] == alike[1]
    assert [item.ordinal for item in many.runs] == list(range(71))


def test_one_bad_run_stores_none_and_is_named_with_its_message(talk_memory: Talk) -> None:
    bad = a_run_message(sample_set="b")
    bad.levels[0].ttft.p99_ms = -1

    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any]:
        parts = runs_parts([a_run_message()])
        second = pb.IngestRunsRequest(batch=pb.RunBatch(runs=[a_run_message(sample_set="c"), bad]))
        error = await refused(stub.IngestRuns(each([*parts, second])))
        return error, await push_runs(stub, a_run_message())

    error, answer = talk_memory(script)
    assert set(violations(error)) == {"messages[1].batch.runs[1].levels[0].ttft.p99_ms"}
    assert outcomes(answer) == ["STORED"]


def test_retracted_runs_are_out_and_stay_out(talk: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, ...]:
        name = (await push(stub)).runs[0].run
        gone = await stub.RetractRuns(pb.RetractRunsRequest(runs=[name], reason="wrong card"))
        again = await stub.RetractRuns(pb.RetractRunsRequest(runs=[name], reason="wrong card"))
        upload = await stub.GetIngestion(pb.GetIngestionRequest(report_id=DIGEST))
        return name, gone, again, upload, await push(stub)

    name, gone, again, upload, repushed = talk(script)
    assert (gone.data_version, list(gone.already_retracted)) == (2, [])
    assert list(again.already_retracted) == [name]
    assert [run.retired for run in upload.runs] == ["RETRACTED"]
    assert outcomes(repushed) == ["ALREADY_STORED"]
    assert "RUN_RETIRED" in {finding.code for finding in repushed.runs[0].findings}


def test_a_dry_retraction_takes_nothing_out(talk_memory: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any, Any]:
        name = (await push(stub)).runs[0].run
        unknown = "namespaces/default/runs/00000000-0000-5000-8000-000000000000"
        dry = pb.RetractRunsRequest(runs=[name], reason="x", validate_only=True)
        error = await refused(stub.RetractRuns(pb.RetractRunsRequest(runs=[unknown], reason="x", validate_only=True)))
        await stub.RetractRuns(dry)
        return error, name, await stub.GetIngestion(pb.GetIngestionRequest(report_id=DIGEST))

    error, _, upload = talk_memory(script)
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert [run.retired for run in upload.runs] == [""]


def test_an_unknown_run_is_not_found_and_the_known_one_beside_it_stays(talk_memory: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any]:
        name = (await push(stub)).runs[0].run
        unknown = "namespaces/default/runs/00000000-0000-5000-8000-000000000000"
        error = await refused(stub.RetractRuns(pb.RetractRunsRequest(runs=[name, unknown], reason="x")))
        return error, await stub.GetIngestion(pb.GetIngestionRequest(report_id=DIGEST))

    error, upload = talk_memory(script)
    assert (error.code(), error_info(error).reason) == (grpc.StatusCode.NOT_FOUND, "NOT_STORED")
    assert [run.retired for run in upload.runs] == [""]


def test_an_upload_is_found_by_its_request(talk_memory: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> Any:  # noqa: ANN401 -- the answer
        await push(stub, request_id="ci-7")
        return await stub.GetIngestion(pb.GetIngestionRequest(request_id="ci-7"))

    upload = talk_memory(script)
    assert (upload.report_id, upload.filename, upload.data_version) == (DIGEST, "bench.csv", 1)


def test_every_reader_is_listed_with_its_definitions(talk_memory: Talk) -> None:
    answer = talk_memory(lambda stub: stub.ListFormats(pb.ListFormatsRequest()))
    assert {"tonnage-table", "vllm-bench-serve", "guidellm"} <= {item.name for item in answer.formats}
    assert [item.name for item in answer.formats if not item.recognised_by] == []


BROKEN_STREAMS = {
    "nothing": ([], "metadata"),
    "no metadata": ([pb.IngestReportRequest(chunk=b"x")], "metadata"),
    "metadata twice": ([pb.IngestReportRequest(metadata=pb.ReportMetadata())] * 2, "metadata"),
    "an empty message": (
        [pb.IngestReportRequest(metadata=pb.ReportMetadata()), pb.IngestReportRequest()],
        "chunk",
    ),
    "a chunk too large": (
        [pb.IngestReportRequest(metadata=pb.ReportMetadata()), pb.IngestReportRequest(chunk=b"x" * ((1 << 20) + 1))],
        "chunk",
    ),
    "too few bytes": (
        [pb.IngestReportRequest(metadata=pb.ReportMetadata(size_bytes=9)), pb.IngestReportRequest(chunk=b"x")],
        "metadata.size_bytes",
    ),
}


@pytest.mark.parametrize("case", BROKEN_STREAMS)
def test_a_stream_out_of_order_is_refused_by_name(talk_memory: Talk, case: str) -> None:
    parts, field = BROKEN_STREAMS[case]
    error = talk_memory(lambda stub: refused(stub.IngestReport(each(parts))))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert set(violations(error)) == {field}


def test_an_empty_file_is_refused(talk_memory: Talk) -> None:
    error = talk_memory(lambda stub: refused(push(stub, b"")))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_file_nobody_knows_is_refused_with_what_would_be_accepted(talk_memory: Talk) -> None:
    error = talk_memory(lambda stub: refused(push(stub, b"once upon a time")))
    assert (error.code(), error_info(error).reason) == (grpc.StatusCode.INVALID_ARGUMENT, "UNKNOWN_FORMAT")
    assert "vllm-bench-serve" in error.details()


@pytest.mark.parametrize("fields", [{}, {"size_bytes": 2 << 20}])
def test_an_upload_above_the_limit_is_refused_with_both_sizes(talk_memory: Talk, fields: dict[str, int]) -> None:
    error = talk_memory(lambda stub: refused(push(stub, b"x" * (2 << 20), **fields)))
    assert (error.code(), error_info(error).reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_LARGE")
    assert error_info(error).metadata["limit_bytes"] == str(1 << 20)


def test_more_uploads_than_may_be_in_flight_are_told_to_come_again(talk_memory: Talk) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, Any]:
        begun, end = asyncio.Event(), asyncio.Event()

        async def slow() -> AsyncIterator[pb.IngestReportRequest]:
            parts = report_parts(TABLE)
            yield parts[0]
            begun.set()
            await end.wait()
            yield parts[1]

        first = asyncio.ensure_future(stub.IngestReport(slow()))
        await begun.wait()
        error = await refused(_until_overloaded(stub))
        end.set()
        return error, await first

    error, answer = talk_memory(script, max_uploads=1)
    assert (error.code(), error_info(error).reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
    assert outcomes(answer) == ["STORED"]


async def _until_overloaded(stub: IngestServiceAsyncStub) -> None:
    """Push until the first upload has taken its place."""
    for number in range(100):
        await push(stub, a_table(f"1,{number + 1},3,4,500,0"))


def test_a_client_that_goes_away_in_mid_stream_stores_nothing(talk: Talk, tmp_path: Path) -> None:
    async def script(stub: IngestServiceAsyncStub) -> grpc.aio.AioRpcError:
        sent = asyncio.Event()

        async def endless() -> AsyncIterator[pb.IngestReportRequest]:
            for part in report_parts(TABLE):
                yield part
            sent.set()
            await asyncio.Event().wait()

        call = stub.IngestReport(endless())
        await sent.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while list((tmp_path / "spool").iterdir()):
            await stub.ListFormats(pb.ListFormatsRequest())
        return await refused(stub.GetIngestion(pb.GetIngestionRequest(report_id=DIGEST)))

    assert talk(script).code() is grpc.StatusCode.NOT_FOUND

"""What happens around every call, over a real channel."""

# ruff: noqa: ANN401, ARG002, N802 -- the servicer's names and arguments are those of the generated base

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest
from builders_rpc import Lines, error_info, status_of_call, violations

from tonnage.errors import InvalidInput, NotStored
from tonnage.rpc.auth import BearerCheck
from tonnage.rpc.guard import Guard
from tonnage.rpc.server import ServerOptions, Service, start
from tonnage.v1 import planning_service_pb2 as pb
from tonnage.v1.planning_service_pb2_grpc import (
    PlanningServiceServicer,
    PlanningServiceStub,
    add_PlanningServiceServicer_to_server,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from tonnage.v1.planning_service_pb2_grpc import PlanningServiceAsyncStub

    Ask = Callable[[PlanningServiceAsyncStub], Awaitable[Any]]

ID = (("x-request-id", "ci-7"),)
TOKEN = "0123456789abcdef"  # noqa: S105 -- made up for the test


class Scripted(PlanningServiceServicer):
    """Answers as the test says; one method a plain function, the others coroutines."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()

    def EstimateServerCount(self, request: Any, context: Any) -> pb.EstimateServerCountResponse:
        """Answer from a plain function."""
        return pb.EstimateServerCountResponse(impossible=True)

    async def FitVram(self, request: pb.FitVramRequest, context: Any) -> pb.FitVramResponse:
        """Fail in the way the engine's name says."""
        what = request.question.engine
        if what == "invalid":
            raise InvalidInput.field("question.engine", what, "is bad", "leave it out")
        if what == "missing":
            raise NotStored("no such run", kind="run", name="x")
        if what == "slow":
            await self._wait()
        if what == "huge":
            return _huge()
        raise RuntimeError("a secret of the server")

    async def _wait(self) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


def _huge() -> pb.FitVramResponse:
    answer = pb.FitVramResponse()
    answer.fit.findings.add(message="x" * 2_000_000)
    return answer


def talk(ask: Ask, *, lines: Lines | None = None, **options: Any) -> Any:
    """Run a server, ask once, and return the answer or the error."""

    async def once() -> Any:
        servicer = Scripted()  # type: ignore[abstract]  # the tests ask two methods
        service = Service("tonnage.v1.PlanningService", lambda s: add_PlanningServiceServicer_to_server(servicer, s))
        limits = ServerOptions(drain_s=1, **{"max_message_bytes": 1 << 20, **options})
        running = await start(limits, [service], _ready, Lines() if lines is None else lines)
        try:
            async with grpc.aio.insecure_channel(running.address) as channel:
                return await ask(PlanningServiceStub(channel))
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                await asyncio.wait_for(servicer.cancelled.wait(), 5)
            return error
        finally:
            await running.stop()

    return asyncio.run(once())


async def _ready() -> bool:
    return True


def fail(what: str) -> Ask:
    """Return a call that fails in one way."""
    request = pb.FitVramRequest()
    request.question.engine = what
    return lambda stub: stub.FitVram(request, metadata=ID)


def calls(lines: Lines) -> Iterator[dict[str, object]]:
    """Yield the lines of calls."""
    return (line for line in lines.lines if line["event"] == "call")


def test_a_plain_function_answers_as_a_coroutine_does() -> None:
    assert talk(lambda stub: stub.EstimateServerCount(pb.EstimateServerCountRequest())).impossible is True


def test_bad_input_names_its_field() -> None:
    error = talk(fail("invalid"))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error_info(error).reason == "INVALID_INPUT"
    assert set(violations(error)) == {"question.engine"}


def test_an_error_of_ours_keeps_its_context() -> None:
    info = error_info(talk(fail("missing")))
    assert (info.domain, info.reason, info.metadata["name"]) == ("tonnage", "NOT_STORED", "x")


def test_an_unknown_fault_shows_its_id_and_no_stack() -> None:
    lines = Lines()
    error = talk(fail("fault"), lines=lines)
    assert error.code() is grpc.StatusCode.INTERNAL
    assert "ci-7" in error.details()
    assert "secret" not in error.details() + str(status_of_call(error))
    logged = [line for line in lines.lines if line["event"] == "call failed"]
    assert [(line["request_id"], str(line["exc_info"])) for line in logged] == [("ci-7", "a secret of the server")]


def test_the_callers_request_id_comes_back() -> None:
    assert dict(talk(fail("missing")).trailing_metadata())["x-request-id"] == "ci-7"


@pytest.mark.parametrize(
    "given", [(), (("x-request-id", ""),), (("x-request-id", "a b"),), (("x-request-id", "x" * 200),)]
)
def test_an_unreadable_request_id_is_replaced(given: tuple[tuple[str, str], ...]) -> None:
    async def ask(stub: PlanningServiceAsyncStub) -> dict[str, str]:
        call = stub.EstimateServerCount(pb.EstimateServerCountRequest(), metadata=given)
        await call
        return dict(await call.trailing_metadata())  # type: ignore[arg-type]

    made = talk(ask)["x-request-id"]
    assert len(made) == 32
    assert made.isalnum()


def test_each_call_without_an_id_gets_its_own() -> None:
    async def ask(stub: PlanningServiceAsyncStub) -> set[str | bytes]:
        made = [stub.EstimateServerCount(pb.EstimateServerCountRequest()) for _ in range(20)]
        await asyncio.gather(*made)
        return {dict(await call.trailing_metadata())["x-request-id"] for call in made}

    lines = Lines()
    given = talk(ask, lines=lines)
    assert len(given) == 20
    assert {line["request_id"] for line in calls(lines)} == given


def test_each_call_is_one_line_with_what_it_took() -> None:
    lines = Lines()
    talk(fail("invalid"), lines=lines)
    (line,) = calls(lines)
    assert (line["method"], line["code"], line["reason"], line["request_id"]) == (
        "/tonnage.v1.PlanningService/FitVram",
        "INVALID_ARGUMENT",
        "INVALID_INPUT",
        "ci-7",
    )
    assert line["request_count"] == 1
    assert isinstance(line["request_bytes"], int)
    assert line["request_bytes"] > 0
    assert isinstance(line["ms"], float)
    assert str(line["peer"]).startswith("ipv4:127.0.0.1:")


def test_a_deadline_cancels_the_work() -> None:
    lines = Lines()
    request = pb.FitVramRequest()
    request.question.engine = "slow"
    error = talk(lambda stub: stub.FitVram(request, timeout=0.2), lines=lines)
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert [line["code"] for line in calls(lines)] == ["DEADLINE_EXCEEDED"]


def test_an_answer_beyond_the_limit_is_refused_with_its_size() -> None:
    error = talk(fail("huge"))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error_info(error).reason == "TOO_LARGE"
    assert error_info(error).metadata["limit_bytes"] == str(1 << 20)


def test_a_request_beyond_the_limit_is_refused_with_its_size() -> None:
    request = pb.FitVramRequest()
    request.question.engine = "x" * (2 << 20)
    error = talk(lambda stub: stub.FitVram(request))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "1048576" in error.details()


def test_a_call_without_the_token_is_not_answered() -> None:
    error = talk(fail("invalid"), guard=Guard(shared=BearerCheck(TOKEN)))
    assert error.code() is grpc.StatusCode.UNAUTHENTICATED
    assert error_info(error).reason == "UNAUTHENTICATED"


def test_a_call_with_the_token_is_answered() -> None:
    metadata = (("authorization", f"Bearer {TOKEN}"),)
    request = pb.EstimateServerCountRequest()
    answer = talk(
        lambda stub: stub.EstimateServerCount(request, metadata=metadata), guard=Guard(shared=BearerCheck(TOKEN))
    )
    assert answer.impossible is True


def test_a_method_nobody_serves_is_unimplemented_by_name() -> None:
    error = talk(lambda stub: stub.PlanCapacity(pb.PlanCapacityRequest()))
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED
    assert error_info(error).reason == "NOT_AVAILABLE"
    assert "PlanCapacity" in error.details()

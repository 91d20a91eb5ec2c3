"""Both kinds of client against a real channel."""
# ruff: noqa: ANN401 -- one helper drives both kinds of client, whose answers share no type

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from builders_client import SERVICES, serving
from builders_servicers import SmallCatalog, SmallIngest, SmallPlanning
from google.protobuf import descriptor_pool
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from tonnage.client import IngestAsyncClient, IngestClient, PlanningAsyncClient, PlanningClient, errors, messages
from tonnage.v1 import (
    catalog_service_pb2_grpc,
    ingest_service_pb2_grpc,
    planning_service_pb2_grpc,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def planning() -> SmallPlanning:
    return SmallPlanning()


@pytest.fixture
def target(planning: SmallPlanning) -> Iterator[str]:
    state = health.HealthServicer()
    state.set("", health_pb2.HealthCheckResponse.SERVING)
    with serving(
        (planning_service_pb2_grpc.add_PlanningServiceServicer_to_server, planning),
        (catalog_service_pb2_grpc.add_CatalogServiceServicer_to_server, SmallCatalog()),
        (ingest_service_pb2_grpc.add_IngestServiceServicer_to_server, SmallIngest()),
        (health_pb2_grpc.add_HealthServicer_to_server, state),
    ) as where:
        yield where


def _twice(
    blocking: type[Any], async_: type[Any], target: str, call: Callable[[Any], Any], **options: Any
) -> tuple[Any, Any]:
    """Return what one call gives on either kind of client: an answer, a list, or the error."""

    async def ask() -> Any:
        async with async_(target, **options) as client:
            answer = call(client)
            if hasattr(answer, "__aiter__"):
                return [item async for item in answer]
            return await answer

    def ask_blocking() -> Any:
        with blocking(target, **options) as client:
            answer = call(client)
            return list(answer) if inspect.isgenerator(answer) else answer

    answers = []
    for run in (ask_blocking, lambda: asyncio.run(ask())):
        try:
            answers.append(run())
        except (errors.ClientError, OSError) as error:
            answers.append(error)
    return answers[0], answers[1]


def _planned(target: str, call: Callable[[Any], Any], **options: Any) -> tuple[Any, Any]:
    return _twice(PlanningClient, PlanningAsyncClient, target, call, **options)


def _ingested(target: str, call: Callable[[Any], Any], **options: Any) -> tuple[Any, Any]:
    return _twice(IngestClient, IngestAsyncClient, target, call, **options)


def _request(namespace: str = "") -> messages.PlanCapacityRequest:
    return messages.PlanCapacityRequest(namespace=namespace, workload=messages.Workload(model="m"))


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


@pytest.mark.parametrize("service", SERVICES)
def test_every_rpc_has_a_method_on_both_kinds_of_client(service: str) -> None:
    kinds: tuple[type[Any], ...] = (
        (IngestClient, IngestAsyncClient) if "Ingest" in service else (PlanningClient, PlanningAsyncClient)
    )
    rpcs = descriptor_pool.Default().FindServiceByName(service).methods
    assert {(kind.__name__, _snake(rpc.name)) for kind in kinds for rpc in rpcs} <= {
        (kind.__name__, name) for kind in kinds for name in dir(kind)
    }


@pytest.mark.parametrize(
    ("blocking", "async_"), [(PlanningClient, PlanningAsyncClient), (IngestClient, IngestAsyncClient)]
)
def test_both_kinds_of_client_have_the_same_methods_and_parameters(blocking: type[Any], async_: type[Any]) -> None:
    def shape(kind: type[Any]) -> dict[str, list[str]]:
        public = {name: item for name, item in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}
        return {name: list(inspect.signature(item).parameters) for name, item in public.items()}

    assert shape(blocking) == shape(async_)


def test_an_answer_comes_back_typed(target: str) -> None:
    for answer in _planned(target, lambda client: client.plan_capacity(_request())):
        assert isinstance(answer, messages.PlanCapacityResponse)
        assert answer.plan.request.workload.model == "m"


def test_a_refusal_is_our_error_with_the_fields(target: str) -> None:
    for error in _planned(target, lambda client: client.plan_capacity(_request("refused"))):
        assert isinstance(error, errors.BadInput)
        assert [str(item) for item in error.violations] == ["workload.model: no"]
        assert (error.reason, error.request_id) == ("INVALID_INPUT", "req-1")


def test_a_server_that_says_unavailable_once_is_asked_again(target: str, planning: SmallPlanning) -> None:
    with PlanningClient(target) as client:
        client.plan_capacity(_request("flaky"))
    assert planning.calls == 2


def test_a_refusal_is_not_asked_again(target: str, planning: SmallPlanning) -> None:
    with PlanningClient(target) as client, pytest.raises(errors.BadInput):
        client.plan_capacity(_request("refused"))
    assert planning.calls == 1


def test_a_slow_server_meets_the_deadline(target: str, planning: SmallPlanning) -> None:
    for error in _planned(target, lambda client: client.plan_capacity(_request("slow")), timeout_s=0.2):
        assert isinstance(error, errors.DeadlineExceeded)
        assert target in str(error)
    planning.release.set()


def test_nobody_there_is_unavailable_and_names_the_target() -> None:
    with serving() as gone:
        pass
    for error in _planned(gone, lambda client: client.plan_capacity(_request())):
        assert type(error) is errors.Unavailable
        assert gone in str(error)


def test_an_rpc_the_server_lacks_is_not_available(target: str) -> None:
    for error in _planned(target, lambda client: client.fit_vram(messages.FitVramRequest())):
        assert isinstance(error, errors.NotAvailable)


def test_the_token_is_sent(target: str, planning: SmallPlanning) -> None:
    _planned(target, lambda client: client.plan_capacity(_request()), token="s3cret")  # noqa: S106 -- a test's
    assert planning.metadata["authorization"] == "Bearer s3cret"


def test_a_list_is_walked_over_all_its_pages_without_changing_the_request(target: str) -> None:
    request = messages.ListModelsRequest(query="q")
    for rows in _planned(target, lambda client: client.models(request)):
        assert [item.id for item in rows] == ["q0", "q1", "q2"]
    assert request.page_token == ""


def test_a_stream_is_yielded_as_it_comes_and_ends_in_our_error(target: str) -> None:
    request = messages.ExplorePlansRequest(axes=[messages.ExploreAxis()] * 3)
    for rows in _planned(target, lambda client: client.explore_plans(request)):
        assert [item.index for item in rows] == [0, 1, 2]
    request.base.namespace = "refused"
    for error in _planned(target, lambda client: client.explore_plans(request)):
        assert isinstance(error, errors.BadInput)
        assert error.violations[0].field == "axes"


def test_leaving_a_stream_cancels_the_call(target: str, planning: SmallPlanning) -> None:
    request = messages.ExplorePlansRequest(base=messages.PlanCapacityRequest(namespace="endless"))
    with PlanningClient(target) as client:
        stream = client.explore_plans(request)
        next(iter(stream))
        stream.close()  # type: ignore[attr-defined]  # it is a generator, and says Iterator
        assert planning.release.wait(10)


def test_health_is_asked_without_the_health_package(target: str) -> None:
    assert _planned(target, lambda client: client.is_serving()) == (True, True)


def test_a_file_arrives_whole_with_what_was_given(target: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(b"x" * 1_000_000)
    seen: list[int] = []
    answers = _ingested(
        target,
        lambda client: client.ingest_report(
            path, given={"engine": "vllm"}, on_progress=lambda sent, _total: seen.append(sent)
        ),
    )
    assert [item.report_id for item in answers] == ["run.json:1000000:{'engine': 'vllm'}"] * 2
    assert seen.count(1_000_000) == 2


def test_bytes_are_converted_under_the_name_given(target: str) -> None:
    answers = _ingested(target, lambda client: client.convert_report(b"abc", filename="stdin"))
    assert [item.report_id for item in answers] == ["stdin:3"] * 2


def test_a_missing_file_is_the_callers_oserror(target: str, tmp_path: Path) -> None:
    for error in _ingested(target, lambda client: client.ingest_report(tmp_path / "none")):
        assert isinstance(error, FileNotFoundError)


def test_a_file_that_cannot_be_read_on_raises_its_own_error(target: str) -> None:
    class Torn:
        name = "torn.json"

        def read(self, size: int) -> bytes:
            raise OSError(5, "disk gone", size)

    for error in _ingested(target, lambda client: client.ingest_report(Torn())):
        assert isinstance(error, OSError)
        assert "disk gone" in str(error)


def test_an_overloaded_server_says_when_to_come_back(target: str) -> None:
    for error in _ingested(target, lambda client: client.ingest_report(b"", namespace="busy")):
        assert isinstance(error, errors.Overloaded)
        assert error.retry_after_s == 2


def test_runs_arrive_in_batches(target: str) -> None:
    answers = _ingested(target, lambda client: client.ingest_runs([messages.Run()] * 250))
    assert [item.stored_level_count for item in answers] == [250, 250]


def test_what_is_not_stored_is_not_found(target: str) -> None:
    for error in _ingested(target, lambda client: client.get_ingestion(messages.GetIngestionRequest(report_id="ab"))):
        assert isinstance(error, errors.NotFound)
        assert error.context == {"kind": "report", "name": "ab"}


def test_importing_the_client_loads_grpc_protobuf_and_the_standard_library_alone() -> None:
    code = (
        "import sys, grpc, google.protobuf; before = set(sys.modules); import tonnage.client; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(loaded) <= {"grpc", "google", "tonnage"}

"""Every method × every scope × a namespace that is seen and one that is not, over real channels."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import grpc
import pytest
from builders_ingest import an_ingest_server
from builders_planning import MODEL, a_ladder, a_plan_request, a_planning_server, a_reserve, stored
from builders_rpc import Lines
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tonnage.access import SCOPES
from tonnage.rpc.guard import Guard
from tonnage.rpc.interceptors import Watch
from tonnage.rpc.permissions import SCOPES_OF, WRITES
from tonnage.rpc.server import ServerOptions
from tonnage.rpc.tokens.book import TokenBook, utc_now
from tonnage.rpc.tokens.file import TokenFile, changing
from tonnage.store.memory import MemoryStore
from tonnage.v1 import (
    benchmark_service_pb2,
    catalog_service_pb2,
    ingest_service_pb2,
    planning_service_pb2,
    workload_pb2,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from google.protobuf.descriptor import MethodDescriptor

MODULES: Final = (planning_service_pb2, benchmark_service_pb2, catalog_service_pb2, ingest_service_pb2)
METHODS: Final[dict[str, MethodDescriptor]] = {
    f"/{service.full_name}/{method.name}": method
    for module in MODULES
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
REFUSED: Final = grpc.StatusCode.PERMISSION_DENIED


def asked(method: str, namespace: str) -> Message | None:
    """Return a request that names the namespace, or None when the method has no place for one."""
    name = method.rsplit("/", 1)[1]
    run = f"namespaces/{namespace}/runs/{'a' * 32}"
    report = {"metadata": {"namespace": namespace, "filename": "a.json", "requestId": "r", "tool": "x"}}
    requests: dict[str, Any] = {
        "PlanCapacity": a_plan_request(namespace=namespace),
        "ExplorePlans": planning_service_pb2.ExplorePlansRequest(base=a_plan_request(namespace=namespace)),
        "ComparePlans": planning_service_pb2.ComparePlansRequest(
            before_request=a_plan_request(namespace=namespace), after_request=a_plan_request(namespace=namespace)
        ),
        "SimulatePlan": planning_service_pb2.SimulatePlanRequest(request=a_plan_request(namespace=namespace)),
        "ComputeUtilization": planning_service_pb2.ComputeUtilizationRequest(
            namespace=namespace,
            tenants=[workload_pb2.Tenant(name="batch", peak_requests_per_s=1, q_slo_requests_per_s=4)],
            reserve=a_reserve(),
        ),
        "ListConfigurations": {"namespace": namespace},
        "ListRuns": {"namespace": namespace},
        "GetRun": {"name": run},
        "GetCurve": {"namespace": namespace, "configuration": {"model": MODEL}},
        "CheckRetest": {"namespace": namespace, "planned": {"model": "m"}},
        "IngestReport": report,
        "ConvertReport": report,
        "IngestRuns": {"metadata": {"namespace": namespace, "requestId": "r"}},
        "GetIngestion": {"namespace": namespace, "reportId": "a"},
        "RetractRuns": {"runs": [run], "reason": "wrong card"},
        "RereadReports": {"namespace": namespace},
        "FetchReport": {"namespace": namespace, "reportId": "a"},
        "RecordPlan": {"plan": {"planId": "p", "release": "0.1.0", "request": {"namespace": namespace}}},
        "GetRecordedPlan": {"namespace": namespace, "planId": "p"},
    }
    fields = requests.get(name)
    if fields is None or isinstance(fields, Message):
        return fields
    return ParseDict(fields, GetMessageClass(METHODS[method].input_type)(), ignore_unknown_fields=True)


# Answers of these stand on the request or the catalog alone, or hold nothing of the store.
WITHOUT_NAMESPACE: Final = frozenset(
    [
        "FitVram",
        "EstimateTokenDemand",
        "EstimateServerCount",
        "ReplayPlan",
        "ListModels",
        "GetModel",
        "ListAccelerators",
        "ListFormats",
    ]
)


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return a token file, and a secret for each scope; they see namespace ours alone."""
    path = tmp_path_factory.mktemp("tokens") / "tokens.json"
    book, found = TokenBook.of(()), {}
    for scope in SCOPES:
        book, found[scope] = book.create(f"ci-{scope}", (scope,), ("ours",), now=utc_now())
    with changing(path) as write:
        write(book)
    return path, found


@contextmanager
def ingest_channel(folder: Path, options: ServerOptions) -> Iterator[grpc.Channel]:
    """Run an ingest server in a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = an_ingest_server(folder, options=options)
    running = asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
    try:
        with grpc.insecure_channel(running.address) as channel:
            yield channel
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@pytest.fixture(scope="module")
def audit() -> Lines:
    return Lines()


@pytest.fixture(scope="module")
def channels(
    tokens: tuple[Path, dict[str, str]], audit: Lines, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, grpc.Channel]]:
    options = ServerOptions(drain_s=0.2, guard=Guard(tokens=TokenFile(tokens[0], Lines())), watch=Watch(audit=audit))
    store = MemoryStore()
    stored(store, a_ladder())
    folder = tmp_path_factory.mktemp("ingest")
    with a_planning_server(store, options=options) as stubs, ingest_channel(folder, options) as ingest:
        yield {"planning": stubs.channel, "ingest": ingest}


def code_of(channels: dict[str, grpc.Channel], method: str, message: Message, secret: str | None) -> grpc.StatusCode:
    """Return how a call ends."""
    descriptor = METHODS[method]
    channel = channels["ingest" if "IngestService" in method else "planning"]
    kind = (
        ("stream" if descriptor.client_streaming else "unary")
        + "_"
        + ("stream" if descriptor.server_streaming else "unary")
    )
    call = getattr(channel, kind)(method)
    data = message.SerializeToString()
    metadata = [] if secret is None else [("authorization", f"Bearer {secret}")]
    try:
        answer = call(iter([data]) if descriptor.client_streaming else data, metadata=metadata, timeout=10)
        if descriptor.server_streaming:
            list(answer)
    except grpc.RpcError as error:
        failed: Any = error
        code: grpc.StatusCode = failed.code()
        return code
    return grpc.StatusCode.OK


def test_every_method_has_an_entry_and_every_entry_a_method() -> None:
    assert set(SCOPES_OF) == set(METHODS)
    assert set(METHODS) >= WRITES


def test_every_method_names_a_namespace_or_is_known_to_have_none() -> None:
    without = {method for method in METHODS if asked(method, "ours") is None}
    assert {method.rsplit("/", 1)[1] for method in without} == WITHOUT_NAMESPACE


@pytest.mark.parametrize("method", METHODS)
def test_a_scope_opens_its_methods_in_its_namespaces_and_nothing_else(
    channels: dict[str, grpc.Channel], tokens: tuple[Path, dict[str, str]], method: str
) -> None:
    empty = GetMessageClass(METHODS[method].input_type)()
    assert code_of(channels, method, empty, None) is grpc.StatusCode.UNAUTHENTICATED
    for scope, secret in tokens[1].items():
        opens = scope == "admin" or scope in SCOPES_OF[method]
        ours = code_of(channels, method, asked(method, "ours") or empty, secret)
        assert (ours is REFUSED) != opens, (scope, ours)
        assert ours is not grpc.StatusCode.UNAUTHENTICATED
        theirs = asked(method, "default")
        if theirs is not None:
            assert code_of(channels, method, theirs, secret) is REFUSED, scope


def test_an_answer_kept_for_one_caller_is_not_given_to_another(
    channels: dict[str, grpc.Channel], tmp_path: Path
) -> None:
    path = tmp_path / "tokens.json"
    book, wide = TokenBook.of(()).create("wide", ("read",), None, now=utc_now())
    book, narrow = book.create("narrow", ("read",), ("ours",), now=utc_now())
    with changing(path) as write:
        write(book)
    store = MemoryStore()
    stored(store, a_ladder())
    method = "/tonnage.v1.BenchmarkService/ListConfigurations"
    request = benchmark_service_pb2.ListConfigurationsRequest()
    guard = Guard(tokens=TokenFile(path, Lines()))
    with a_planning_server(store, options=ServerOptions(drain_s=0.2, guard=guard)) as stubs:
        here = {**channels, "planning": stubs.channel}
        assert code_of(here, method, request, wide) is grpc.StatusCode.OK
        assert code_of(here, method, request, narrow) is REFUSED


def test_refusals_and_writes_are_audited_with_the_identity_and_no_secret(
    channels: dict[str, grpc.Channel], tokens: tuple[Path, dict[str, str]], audit: Lines
) -> None:
    audit.lines.clear()
    method = "/tonnage.v1.IngestService/RetractRuns"
    request = asked(method, "ours")
    assert request is not None
    code_of(channels, method, request, tokens[1]["read"])
    code_of(channels, method, request, tokens[1]["admin"])
    code_of(
        channels, "/tonnage.v1.IngestService/ListFormats", ingest_service_pb2.ListFormatsRequest(), tokens[1]["read"]
    )
    seen = [(line["event"], line["identity"], line["code"]) for line in audit.lines]
    assert seen == [("refused", "ci-read", "PERMISSION_DENIED"), ("write", "ci-admin", "NOT_FOUND")]
    text = repr(audit.lines)
    assert not any(secret in text for secret in tokens[1].values())

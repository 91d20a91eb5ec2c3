"""Small real servers on loopback for tests of the client and the command line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from google.protobuf.message import Message

SERVICES = {
    "tonnage.v1.PlanningService": "planning_service",
    "tonnage.v1.BenchmarkService": "benchmark_service",
    "tonnage.v1.CatalogService": "catalog_service",
    "tonnage.v1.IngestService": "ingest_service",
}


def _packed(message: Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed


def fail(
    context: grpc.ServicerContext,
    code: int,
    message: str,
    *,
    reason: str = "",
    violations: tuple[tuple[str, str], ...] = (),
    retry_after_s: int | None = None,
    **metadata: str,
) -> NoReturn:
    """End a call as a server of ours does, with google.rpc details made by Google's own classes."""
    details = (
        [_packed(error_details_pb2.ErrorInfo(reason=reason, domain="tonnage", metadata=metadata))] if reason else []
    )
    if violations:
        rows = [error_details_pb2.BadRequest.FieldViolation(field=f, description=d) for f, d in violations]
        details.append(_packed(error_details_pb2.BadRequest(field_violations=rows)))
    if retry_after_s is not None:
        details.append(_packed(error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=retry_after_s))))
    status = rpc_status.to_status(status_pb2.Status(code=code, message=message, details=details))
    trailers = (*status.trailing_metadata, ("x-request-id", "req-1"))
    context.abort_with_status(cast("grpc.Status", _Status(status.code, status.details, trailers)))
    raise AssertionError(code_pb2.Code.Name(code))


class _Status(NamedTuple):
    """A status with trailers of our own beside the details."""

    code: grpc.StatusCode
    details: str
    trailing_metadata: tuple[tuple[str, str | bytes], ...]


@contextmanager
def serving(*servicers: tuple[Callable[[Any, grpc.Server], None], Any]) -> Iterator[str]:
    """Serve (add_…_to_server, servicer) pairs; yield host:port."""
    server = grpc.server(ThreadPoolExecutor(max_workers=4))
    for add, servicer in servicers:
        add(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()

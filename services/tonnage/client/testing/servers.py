"""Both fake servers on one loopback port."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, Self

import grpc
from google.protobuf import message_factory

from tonnage.client import wire
from tonnage.client.channel import MAX_MESSAGE_BYTES
from tonnage.client.testing.ingest import FakeIngest
from tonnage.client.testing.memory import Memory
from tonnage.client.testing.planning import FakeBenchmark, Scripted
from tonnage.client.testing.refusal import refusing
from tonnage.v1 import benchmark_service_pb2, catalog_service_pb2, ingest_service_pb2, planning_service_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from google.protobuf.descriptor import MethodDescriptor
    from google.protobuf.message import Message

_FILES: Final = (planning_service_pb2, benchmark_service_pb2, catalog_service_pb2, ingest_service_pb2)
_SERVING: Final = b"\x08\x01"
_THREADS: Final = 16
_UNARY: Final = {True: grpc.unary_stream_rpc_method_handler, False: grpc.unary_unary_rpc_method_handler}


class FakeServers:
    """All services of the product on one port; ``target`` serves both clients.

    ``answer`` puts in what an RPC says that needs the planner; ``reader`` is what reads files:
    ``reader(metadata, data)`` returns runs, or None for a file it does not know.
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self._ingest = FakeIngest(self.memory)
        self._benchmark = FakeBenchmark(self.memory)
        self._scripted = Scripted(self.memory)
        self._server = grpc.server(
            ThreadPoolExecutor(_THREADS), options=[("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)]
        )
        for module in _FILES:
            for service in module.DESCRIPTOR.services_by_name.values():
                handlers = {method.name: self._handler(method) for method in service.methods}
                self._server.add_generic_rpc_handlers(
                    (grpc.method_handlers_generic_handler(service.full_name, handlers),)
                )
        self._server.add_generic_rpc_handlers((_health(),))
        self.target = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def __enter__(self) -> Self:
        """Start serving."""
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop serving."""
        self._server.stop(None).wait()

    def answer(self, rpc: str, answer: Message | Sequence[Message] | Callable[[Any], Any]) -> None:
        """Say what an RPC answers: a message, several for a stream, or a function of the request.

        A function may raise ``Refused``.
        """
        self._scripted.answers[rpc] = answer

    @property
    def requests(self) -> list[tuple[str, Message]]:
        """Return the scripted RPCs that were called, with their requests, in order."""
        return self._scripted.requests

    @property
    def reader(self) -> Callable[[ingest_service_pb2.ReportMetadata, bytes], Any] | None:
        """Return what reads files."""
        return self._ingest.reader

    @reader.setter
    def reader(self, reader: Callable[[ingest_service_pb2.ReportMetadata, bytes], Any] | None) -> None:
        self._ingest.reader = reader

    @property
    def formats(self) -> list[ingest_service_pb2.Format]:
        """Return the formats that are listed; add to it."""
        return self._ingest.formats

    def _handler(self, method: MethodDescriptor) -> grpc.RpcMethodHandler[Any, Any]:
        question = message_factory.GetMessageClass(method.input_type)
        owner = next((item for item in (self._ingest, self._benchmark) if hasattr(item, method.name)), None)
        scripted = self._scripted.method(method.name, streamed=method.server_streaming)
        behaviour = refusing(getattr(owner, method.name) if owner else scripted)
        make: Any = grpc.stream_unary_rpc_method_handler if method.client_streaming else _UNARY[method.server_streaming]
        handler: grpc.RpcMethodHandler[Any, Any] = make(
            behaviour,
            request_deserializer=question.FromString,
            response_serializer=lambda item: item.SerializeToString(),
        )
        return handler


def _health() -> grpc.GenericRpcHandler:
    service, _, name = wire.HEALTH_METHOD.strip("/").partition("/")
    check: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(lambda _data, _context: _SERVING)
    return grpc.method_handlers_generic_handler(service, {name: check})

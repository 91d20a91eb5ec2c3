"""How methods meet the channel: bytes in, deterministic bytes out, the same ones for the same question."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from tonnage import access
from tonnage.errors import InvalidInput
from tonnage.rpc.server import Service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection

    from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
    from google.protobuf.message import Message

    from tonnage.planning.desk import Desk

_LARGEST_KEY_BYTES: Final = 64 << 10
_ROW_BYTES: Final = 256

Key = tuple[str, bytes, int, str, "frozenset[str] | None"]
Context = grpc.aio.ServicerContext[Any, Any]


class RepeatCache:
    """Answers by method, request bytes, data version, date and namespaces seen; the least recently used go first.

    Sizes in bytes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held_bytes = 0
        self._answers: OrderedDict[Key, bytes] = OrderedDict()

    def get(self, key: Key) -> bytes | None:
        """Return the answer given before, or None."""
        found = self._answers.get(key)
        if found is not None:
            self._answers.move_to_end(key)
        return found

    def put(self, key: Key, answer: bytes) -> None:
        """Keep an answer, unless it would push out most of the others."""
        size = _size(key, answer)
        if len(key[1]) > _LARGEST_KEY_BYTES or size > self._max_bytes // 4 or key in self._answers:
            return
        self._answers[key] = answer
        self._held_bytes += size
        while self._held_bytes > self._max_bytes:
            old, gone = self._answers.popitem(last=False)
            self._held_bytes -= _size(old, gone)


def _size(key: Key, answer: bytes) -> int:
    return len(key[1]) + len(answer) + _ROW_BYTES


class Handlers:
    """Turns a servicer's methods into handlers of bytes; ``repeated`` methods are answered from the cache."""

    def __init__(self, desk: Desk, cache: RepeatCache) -> None:
        self._desk = desk
        self._cache = cache

    def service(self, descriptor: ServiceDescriptor, servicer: object, repeated: Collection[str] = ()) -> Service:
        """Return a service of all methods of a descriptor; the servicer has one of the same name for each."""
        handlers = {
            method.name: self._handler(method, getattr(servicer, method.name), repeated=method.name in repeated)
            for method in descriptor.methods
        }
        generic = grpc.method_handlers_generic_handler(descriptor.full_name, handlers)
        return Service(descriptor.full_name, lambda server: server.add_generic_rpc_handlers((generic,)))

    def _handler(
        self, method: MethodDescriptor, behaviour: Callable[[Any, Context], Any], *, repeated: bool
    ) -> grpc.RpcMethodHandler[Any, Any]:
        kind = GetMessageClass(method.input_type)
        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(_to_many(kind, behaviour))
        one = self._to_one(method.full_name, kind, behaviour, repeated=repeated)
        return grpc.unary_unary_rpc_method_handler(one)

    def _to_one(
        self, name: str, kind: type[Message], behaviour: Callable[[Any, Context], Any], *, repeated: bool
    ) -> Callable[[bytes, Context], Any]:
        async def fresh(request: bytes, context: Context) -> bytes:
            reply = behaviour(_parsed(kind, request), context)
            return _bytes_of(await reply if inspect.isawaitable(reply) else reply)

        async def once(request: bytes, context: Context, key: Key) -> bytes:
            answer = await fresh(request, context)
            if self._desk.data_version == key[2]:
                self._cache.put(key, answer)
            return answer

        def one(request: bytes, context: Context) -> Any:  # noqa: ANN401 -- bytes, or what will be some
            if not repeated:
                return fresh(request, context)
            key = (name, request, self._desk.data_version, self._desk.today(), access.visible())
            held = self._cache.get(key)
            return held if held is not None else once(request, context, key)

        return one


def _to_many(
    kind: type[Message], behaviour: Callable[[Any, Context], AsyncIterator[Message]]
) -> Callable[[bytes, Context], AsyncIterator[bytes]]:
    async def many(request: bytes, context: Context) -> AsyncIterator[bytes]:
        async for reply in behaviour(_parsed(kind, request), context):
            yield _bytes_of(reply)

    return many


def _parsed(kind: type[Message], request: bytes) -> Message:
    try:
        return kind.FromString(request)
    except DecodeError as error:
        name = kind.DESCRIPTOR.full_name
        raise InvalidInput.field("", f"{len(request)} bytes", f"is no {name}", "send that message") from error


def _bytes_of(reply: Message) -> bytes:
    return reply.SerializeToString(deterministic=True)

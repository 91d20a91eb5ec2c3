"""How methods meet the channel: raw requests in, deterministic bytes out, the same bytes for the same question."""

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


class Frame:
    """A message as bytes, for whatever counts and serializes messages."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def ByteSize(self) -> int:  # noqa: N802 -- the name a message gives it
        """Return the size in bytes."""
        return len(self.data)


def _bytes_of(frame: Frame) -> bytes:
    return frame.data


class RepeatCache:
    """Answers by method, request bytes, data version, date and namespaces seen; the least recently used go first.

    Sizes in bytes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held_bytes = 0
        self._answers: OrderedDict[Key, Frame] = OrderedDict()

    def get(self, key: Key) -> Frame | None:
        """Return the answer given before, or None."""
        found = self._answers.get(key)
        if found is not None:
            self._answers.move_to_end(key)
        return found

    def put(self, key: Key, answer: Frame) -> None:
        """Keep an answer, unless it would push out most of the others."""
        size = _size(key, answer)
        if len(key[1]) > _LARGEST_KEY_BYTES or size > self._max_bytes // 4 or key in self._answers:
            return
        self._answers[key] = answer
        self._held_bytes += size
        while self._held_bytes > self._max_bytes:
            old, gone = self._answers.popitem(last=False)
            self._held_bytes -= _size(old, gone)


def _size(key: Key, answer: Frame) -> int:
    return len(key[1]) + len(answer.data) + _ROW_BYTES


class Handlers:
    """Turns a servicer's methods into handlers of frames; ``repeated`` methods are answered from the cache."""

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
            return grpc.unary_stream_rpc_method_handler(
                _to_many(kind, behaviour), request_deserializer=Frame, response_serializer=_bytes_of
            )
        one = self._to_one(method.full_name, kind, behaviour, repeated=repeated)
        return grpc.unary_unary_rpc_method_handler(one, request_deserializer=Frame, response_serializer=_bytes_of)

    def _to_one(
        self, name: str, kind: type[Message], behaviour: Callable[[Any, Context], Any], *, repeated: bool
    ) -> Callable[[Frame, Context], Any]:
        async def fresh(frame: Frame, context: Context) -> Frame:
            reply = behaviour(_parsed(kind, frame), context)
            return _framed(await reply if inspect.isawaitable(reply) else reply)

        async def once(frame: Frame, context: Context, key: Key) -> Frame:
            answer = await fresh(frame, context)
            if self._desk.data_version == key[2]:
                self._cache.put(key, answer)
            return answer

        def one(frame: Frame, context: Context) -> Any:  # noqa: ANN401 -- a frame, or what will be one
            if not repeated:
                return fresh(frame, context)
            key = (name, frame.data, self._desk.data_version, self._desk.today(), access.visible())
            held = self._cache.get(key)
            return held if held is not None else once(frame, context, key)

        return one


def _to_many(
    kind: type[Message], behaviour: Callable[[Any, Context], AsyncIterator[Message]]
) -> Callable[[Frame, Context], AsyncIterator[Frame]]:
    async def many(frame: Frame, context: Context) -> AsyncIterator[Frame]:
        async for reply in behaviour(_parsed(kind, frame), context):
            yield _framed(reply)

    return many


def _parsed(kind: type[Message], frame: Frame) -> Message:
    try:
        return kind.FromString(frame.data)
    except DecodeError as error:
        name = kind.DESCRIPTOR.full_name
        raise InvalidInput.field("", f"{len(frame.data)} bytes", f"is no {name}", "send that message") from error


def _framed(reply: Message) -> Frame:
    return Frame(reply.SerializeToString(deterministic=True))

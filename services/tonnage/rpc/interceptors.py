"""What happens around every call: identity, token, one log line, errors turned into statuses."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import grpc
import grpc.aio
import structlog

from tonnage import access
from tonnage.errors import DeadlineExceeded, NotAvailable, Overloaded, TonnageError, TooLarge
from tonnage.rpc import permissions
from tonnage.rpc.call import REQUEST_ID_KEY, Call, request_id_of
from tonnage.rpc.guard import Guard
from tonnage.rpc.status import DETAILS_KEY, code_of, status_of

if TYPE_CHECKING:
    from tonnage.rpc.call import Wire
    from tonnage.rpc.guard import RateLimit
    from tonnage.rpc.logs import Log
    from tonnage.rpc.metrics import Meter

    Handler = grpc.RpcMethodHandler[Any, Any]

_COME_AGAIN_MS: Final = 200

Context = grpc.aio.ServicerContext[Any, Any]
Behaviour = Callable[[Any, Context], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one server takes at once; ``stream_idle_s`` is how long a stream may send nothing."""

    max_message_bytes: int
    max_calls_count: int | None = None
    stream_idle_s: float | None = None
    rate: RateLimit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Who is told of calls: figures, and the log of writes and refusals."""

    meter: Meter | None = None
    audit: Log | None = None


_REFUSALS: Final = ("UNAUTHENTICATED", "PERMISSION_DENIED")


class CallInterceptor:
    """Wraps handlers; they may be coroutines, plain functions or generators.

    A plain function runs on the event loop and must not block. A ``TonnageError`` becomes its status
    with details; any other exception becomes INTERNAL with the request id, its stack only in the log.
    """

    def __init__(self, log: Log, limits: Limits, guard: Guard | None = None, watch: Watch | None = None) -> None:
        self._log = log
        self._limits = limits
        self._guard = guard or Guard()
        self._is_guarded = not self._guard.is_open
        self._watch = watch or Watch()
        self._running_count = 0

    @property
    def running_count(self) -> int:
        """Return how many calls are being answered, health's aside."""
        return self._running_count

    def wrap(self, method: str, handler: Handler) -> Handler:
        """Return a handler that does around each call what every call gets."""
        kinds: dict[tuple[bool, bool], tuple[Any, Any, Any]] = {
            (False, False): (grpc.unary_unary_rpc_method_handler, handler.unary_unary, self._to_one),
            (False, True): (grpc.unary_stream_rpc_method_handler, handler.unary_stream, self._to_many),
            (True, False): (grpc.stream_unary_rpc_method_handler, handler.stream_unary, self._to_one),
            (True, True): (grpc.stream_stream_rpc_method_handler, handler.stream_stream, self._to_many),
        }
        make, behaviour, wrap = kinds[handler.request_streaming, handler.response_streaming]
        wrapped: Handler = make(
            wrap(method, behaviour, streamed=handler.request_streaming),
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )
        return wrapped

    def _to_one(self, method: str, behaviour: Behaviour, *, streamed: bool) -> Behaviour:
        async def one(request: Any, context: Context) -> Wire:  # noqa: ANN401 -- a message or an iterator
            call = self._begin(method, context)
            try:
                caller = await self._guard.admit(method, call.metadata) if self._is_guarded else access.ANYBODY
                self._admit(call, caller, context)
                answer = behaviour(self._counted(call, request) if streamed else call.took(request), context)
                is_given = isinstance(answer, bytes) or not inspect.isawaitable(answer)
                reply: Wire = answer if is_given else await answer
                self._check_size(call.gave(reply))
            except BaseException as error:
                await self._fail(call, context, error)
                raise
            self._done(call, "OK")
            return reply

        return one

    def _to_many(self, method: str, behaviour: Behaviour, *, streamed: bool) -> Behaviour:
        async def many(request: Any, context: Context) -> AsyncIterator[Wire]:  # noqa: ANN401 -- as above
            call = self._begin(method, context)
            try:
                caller = await self._guard.admit(method, call.metadata) if self._is_guarded else access.ANYBODY
                self._admit(call, caller, context)
                replies = behaviour(self._counted(call, request) if streamed else call.took(request), context)
                if inspect.isawaitable(replies):
                    await replies  # a handler that writes by itself, as the health service's does
                else:
                    async for reply in replies:
                        self._check_size(call.gave(reply))
                        yield reply
            except BaseException as error:
                await self._fail(call, context, error)
                raise
            self._done(call, "OK")

        return many

    def _begin(self, method: str, context: Context) -> Call:
        metadata = context.invocation_metadata() or ()
        call = Call(method, request_id_of(metadata), context.peer(), metadata)
        structlog.contextvars.bind_contextvars(request_id=call.request_id)
        context.set_trailing_metadata(((REQUEST_ID_KEY, call.request_id),))
        if self._watch.meter is not None:
            self._watch.meter.began()
        return call

    def _admit(self, call: Call, identity: access.Identity, context: Context) -> None:
        call.identity = identity.name
        if not call.method.startswith(permissions.HEALTH):
            self._admit_identity(call, identity)
        if _is_late(context):
            raise DeadlineExceeded("the deadline passed before the call began; give it more time")

    def _admit_identity(self, call: Call, identity: access.Identity) -> None:
        if identity is not access.ANYBODY:
            permissions.check(call.method, identity)
            access.enter(identity)
        if self._limits.rate is not None:
            self._limits.rate.take(identity.name)
        self._running_count += 1
        call.is_counted = True
        most = self._limits.max_calls_count
        if most is not None and self._running_count > most:
            text = f"{most} calls are being answered, which is all this server takes; come again in a moment"
            raise Overloaded(text, retry_after_ms=_COME_AGAIN_MS)

    async def _counted(self, call: Call, requests: AsyncIterator[Wire]) -> AsyncIterator[Wire]:
        """Yield what a stream sends; raise ``DeadlineExceeded`` when it stalls."""
        following = aiter(requests)
        while True:
            try:
                async with asyncio.timeout(self._limits.stream_idle_s):
                    request = await anext(following)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                text = f"the stream sent nothing for {self._limits.stream_idle_s:g} s and was cut; send it again"
                raise DeadlineExceeded(text) from error
            yield call.took(request)

    def _check_size(self, size_bytes: int) -> None:
        limit_bytes = self._limits.max_message_bytes
        if size_bytes > limit_bytes:
            raise TooLarge(
                f"the answer has {size_bytes} bytes, messages may have {limit_bytes}; ask for less at once",
                size_bytes=size_bytes,
                limit_bytes=limit_bytes,
            )

    async def _fail(self, call: Call, context: Context, error: BaseException) -> None:
        if isinstance(error, TonnageError):
            await self._abort(call, context, error)
        elif isinstance(error, NotImplementedError) and context.code() == grpc.StatusCode.UNIMPLEMENTED:
            # The generated base, for a method the protocol has and this server does not.
            await self._abort(call, context, NotAvailable(f"this release does not serve {call.method}"))
        elif isinstance(error, Exception) and not isinstance(error, grpc.aio.AbortError):
            self._log.error("call failed", method=call.method, request_id=call.request_id, exc_info=error)
            text = f"a fault of the server; request id {call.request_id} finds it in the server's log"
            await self._abort(call, context, TonnageError(text, request_id=call.request_id))
        else:
            # A cancelled call, a closed generator, or a handler that aborted by itself.
            code = "DEADLINE_EXCEEDED" if _is_late(context) else "CANCELLED"
            aborted = isinstance(error, grpc.aio.AbortError)
            self._done(call, str(context.code()) if aborted else code)

    async def _abort(self, call: Call, context: Context, error: TonnageError) -> None:
        status = status_of(error, call.request_id)
        code = code_of(error)
        self._done(call, code.name, reason=error.reason, detail=error.message)
        trailers = ((DETAILS_KEY, status.SerializeToString()), (REQUEST_ID_KEY, call.request_id))
        await context.abort(code, status.message, trailing_metadata=trailers)

    def _done(self, call: Call, code: str, **extra: str) -> None:
        took_s = time.perf_counter() - call.started_s
        if call.is_counted:
            self._running_count -= 1
        if self._watch.meter is not None:
            self._watch.meter.ended(call.method, code, took_s)
        if self._watch.audit is not None and (call.method in permissions.WRITES or code in _REFUSALS):
            self._audit(self._watch.audit, call, code, **extra)
        self._log.info(
            "call",
            method=call.method,
            code=code,
            ms=round(1000 * took_s, 3),
            request_bytes=call.request_bytes,
            request_count=call.request_count,
            response_bytes=call.response_bytes,
            response_count=call.response_count,
            request_id=call.request_id,
            identity=call.identity,
            peer=call.peer,
            **extra,
        )

    def _audit(self, audit: Log, call: Call, code: str, **extra: str) -> None:
        try:
            audit.info(
                "refused" if code in _REFUSALS else "write",
                method=call.method,
                code=code,
                identity=call.identity,
                peer=call.peer,
                request_id=call.request_id,
                request_bytes=call.request_bytes,
                **extra,
            )
        except OSError as error:
            # The write is done and acknowledged; that its line is missing is told where the operator looks.
            self._log.error("audit line lost", request_id=call.request_id, identity=call.identity, detail=str(error))


def _is_late(context: Context) -> bool:
    remaining_s: float | None = context.time_remaining()  # the stubs leave out None: no deadline
    return remaining_s is not None and remaining_s <= 0

"""What every client shares: one channel, one way to call, our errors instead of gRPC's."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import grpc
import grpc.aio

from tonnage.client import channel, wire
from tonnage.client.errors import decode

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Iterator
    from types import TracebackType

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class _Located:
    """A client's endpoint, from arguments or the environment.

    ``target`` is ``host:port``; absent takes the environment variable of the service, then the
    default. ``timeout_s`` bounds each unary call that names no bound of its own; None waits for ever.
    """

    variable: ClassVar[str]

    def __init__(
        self,
        target: str | None = None,
        *,
        token: str | None = None,
        tls_ca: str | os.PathLike[str] | None = None,
        timeout_s: float | None = channel.DEFAULT_TIMEOUT_S,
    ) -> None:
        self.endpoint = channel.endpoint(self.variable, target, token=token, tls_ca=tls_ca, timeout_s=timeout_s)

    @property
    def target(self) -> str:
        """Return where the server is."""
        return self.endpoint.target

    def _timeout(self, timeout_s: float | None) -> float | None:
        return self.endpoint.timeout_s if timeout_s is None else timeout_s


class Connection(_Located):
    """A blocking client; safe to share between threads."""

    def __init__(
        self,
        target: str | None = None,
        *,
        token: str | None = None,
        tls_ca: str | os.PathLike[str] | None = None,
        timeout_s: float | None = channel.DEFAULT_TIMEOUT_S,
    ) -> None:
        super().__init__(target, token=token, tls_ca=tls_ca, timeout_s=timeout_s)
        self._channel = self.endpoint.open()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the channel."""
        self.close()

    def close(self) -> None:
        """Close the channel; calls in flight end as ``Cancelled``."""
        self._channel.close()

    def is_serving(self, *, timeout_s: float | None = None) -> bool:
        """Tell whether the server answers health checks and says SERVING; raises ``Unavailable``."""
        ask: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(wire.HEALTH_METHOD)
        return wire.says_serving(self._call(ask, wire.encode_health_request(), timeout_s))

    def _call(
        self, method: grpc.UnaryUnaryMultiCallable[Question, Answer], request: Question, timeout_s: float | None
    ) -> Answer:
        try:
            return method(request, timeout=self._timeout(timeout_s), metadata=self.endpoint.metadata)
        except grpc.RpcError as error:
            raise decode(error, target=self.target) from error

    def _each(
        self, method: grpc.UnaryStreamMultiCallable[Question, Answer], request: Question, timeout_s: float | None
    ) -> Iterator[Answer]:
        call = method(request, timeout=timeout_s, metadata=self.endpoint.metadata)
        try:
            yield from call
        except grpc.RpcError as error:
            raise decode(error, target=self.target) from error
        finally:
            call.cancel()


class AsyncConnection(_Located):
    """An asyncio client; made and used inside one running loop."""

    def __init__(
        self,
        target: str | None = None,
        *,
        token: str | None = None,
        tls_ca: str | os.PathLike[str] | None = None,
        timeout_s: float | None = channel.DEFAULT_TIMEOUT_S,
    ) -> None:
        super().__init__(target, token=token, tls_ca=tls_ca, timeout_s=timeout_s)
        self._channel = self.endpoint.open_async()

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the channel."""
        await self.close()

    async def close(self) -> None:
        """Close the channel; calls in flight end as ``Cancelled``."""
        await self._channel.close()

    async def is_serving(self, *, timeout_s: float | None = None) -> bool:
        """Tell whether the server answers health checks and says SERVING; raises ``Unavailable``."""
        ask: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(wire.HEALTH_METHOD)
        return wire.says_serving(await self._call(ask, wire.encode_health_request(), timeout_s))

    async def _call(
        self, method: grpc.aio.UnaryUnaryMultiCallable[Question, Answer], request: Question, timeout_s: float | None
    ) -> Answer:
        try:
            return await method(request, timeout=self._timeout(timeout_s), metadata=self.endpoint.metadata)
        except grpc.RpcError as error:
            raise decode(error, target=self.target) from error

    async def _each(
        self, method: grpc.aio.UnaryStreamMultiCallable[Question, Answer], request: Question, timeout_s: float | None
    ) -> AsyncIterator[Answer]:
        call = method(request, timeout=timeout_s, metadata=self.endpoint.metadata)
        try:
            async for answer in call:
                yield answer
        except grpc.RpcError as error:
            raise decode(error, target=self.target) from error
        finally:
            call.cancel()

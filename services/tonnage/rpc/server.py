"""One way to run a server: ports, limits, health, reflection, TLS, drain."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from tonnage.errors import InvalidInput
from tonnage.rpc.door import Door
from tonnage.rpc.guard import Guard
from tonnage.rpc.interceptors import CallInterceptor, Limits, Watch

if TYPE_CHECKING:
    from tonnage.rpc.guard import RateLimit
    from tonnage.rpc.logs import Log
    from tonnage.rpc.tls import Tls

LOOPBACK: Final = "127.0.0.1"
MAX_MESSAGE_BYTES: Final = 16 << 20
DRAIN_S: Final = 20.0
_READY_POLL_S: Final = 0.25
# How long nothing is in flight before a drain is over.
_QUIET_S: Final = 0.5
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING

Ready = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How a server is reached and how large its messages may be; port 0 lets the system choose."""

    host: str = LOOPBACK
    port: int = 0
    max_message_bytes: int = MAX_MESSAGE_BYTES
    drain_s: float = DRAIN_S
    tls: Tls | None = None
    guard: Guard = field(default_factory=Guard)
    rate: RateLimit | None = None
    max_calls_count: int | None = None
    max_streams_count: int | None = None
    stream_idle_s: float | None = None
    # Several processes may listen on the port, so that one can be replaced while another answers.
    shares_port: bool = False
    watch: Watch = field(default_factory=Watch)

    def limits(self) -> Limits:
        """Return what calls are held to."""
        return Limits(
            max_message_bytes=self.max_message_bytes,
            max_calls_count=self.max_calls_count,
            stream_idle_s=self.stream_idle_s,
            rate=self.rate,
        )


@dataclass(frozen=True, slots=True)
class Service:
    """A servicer: its full name for health and reflection, and the generated function that adds it."""

    full_name: str
    add: Callable[[grpc.aio.Server], None]


class Running:
    """A started server."""

    def __init__(
        self,
        server: grpc.aio.Server,
        options: ServerOptions,
        port: int,
        checker: health.aio.HealthServicer,
        calls: CallInterceptor,
    ) -> None:
        self.port = port
        self._host = options.host
        self._server = server
        self._checker = checker
        self._calls = calls
        self._drain_s = options.drain_s
        self._watch: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """Return host:port as a client dials it."""
        return _address(self._host, self.port)

    async def watch(self, names: Sequence[str], ready: Ready) -> None:
        """Set health once, and keep it true to ``ready`` until the drain."""
        await self._set_health(names, is_ready=await ready())
        self._watch = asyncio.create_task(self._follow(names, ready))

    async def _follow(self, names: Sequence[str], ready: Ready) -> None:
        while True:
            await asyncio.sleep(_READY_POLL_S)
            await self._set_health(names, is_ready=await ready())

    async def _set_health(self, names: Sequence[str], *, is_ready: bool) -> None:
        for name in ("", *names):
            await self._checker.set(name, _SERVING if is_ready else _NOT_SERVING)

    async def stop(self) -> None:
        """Turn health off first, then let calls in flight end within the drain time."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        await self._checker.enter_graceful_shutdown()
        draining = asyncio.create_task(self._server.stop(self._drain_s))
        # A call that arrived while the listener closed is never handed to us and would wait out the whole drain;
        # once nothing of ours is in flight it is sent back, and clients send it elsewhere.
        while not draining.done():
            await asyncio.wait([draining], timeout=_QUIET_S)
            if self._calls.running_count == 0:
                await self._server.stop(None)
        await draining


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _channel_options(options: ServerOptions) -> list[tuple[str, int]]:
    streams = [] if options.max_streams_count is None else [("grpc.max_concurrent_streams", options.max_streams_count)]
    return [
        *streams,
        ("grpc.so_reuseport", int(options.shares_port)),
        ("grpc.max_receive_message_length", options.max_message_bytes),
        # Replies are held to the limit by the interceptor, which names it.
        ("grpc.max_send_message_length", -1),
        ("grpc.max_metadata_size", 16 << 10),
        # A peer that is gone is noticed within 80 s.
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ]


async def start(options: ServerOptions, services: Sequence[Service], ready: Ready, log: Log) -> Running:
    """Start serving and return the running server; raise ``InvalidInput`` when the port cannot be had.

    ``ready`` is asked a few times a second; health answers SERVING only while it says so.
    """
    interceptor = CallInterceptor(log, options.limits(), options.guard, options.watch)
    server = grpc.aio.server(options=_channel_options(options))
    door = cast("grpc.aio.Server", Door(server, interceptor.wrap))  # of which adding services asks two methods
    names = [service.full_name for service in services]
    for service in services:
        service.add(door)
    checker = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checker, door)
    if options.guard.reflection != "off":
        shown = reflection.aio.ReflectionServicer((*names, health.SERVICE_NAME, reflection.SERVICE_NAME))
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(shown, door)  # type: ignore[no-untyped-call]
    try:
        port = _bind(server, options, log)
    except InvalidInput:
        await server.stop(None)
        raise
    running = Running(server, options, port, checker, interceptor)
    await running.watch(names, ready)
    await server.start()
    return running


def _bind(server: grpc.aio.Server, options: ServerOptions, log: Log) -> int:
    address = _address(options.host, options.port)
    try:
        if options.tls is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, options.tls.credentials(log))
    except RuntimeError as error:
        cure = "choose a free port, or 0 for any, and a host of this machine"
        raise InvalidInput.field("port", address, "cannot be bound", cure) from error


async def serve(name: str, options: ServerOptions, services: Sequence[Service], ready: Ready, log: Log) -> None:
    """Serve until SIGTERM or SIGINT, then drain; prints one JSON line with the address once bound."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    running = await start(options, services, ready, log)
    _warn_when_open(options, log)
    log.info("listening", address=running.address, tls=options.tls is not None, token=not options.guard.is_open)
    sys.stdout.write(json.dumps({"event": "listening", "service": name, "address": running.address}) + "\n")
    sys.stdout.flush()
    await stopping.wait()
    log.info("draining", drain_s=options.drain_s)
    await running.stop()
    log.info("stopped")


def _warn_when_open(options: ServerOptions, log: Log) -> None:
    if options.host in {LOOPBACK, "::1", "localhost"}:
        return
    if options.tls is None:
        log.warning("reachable from other machines without TLS", host=options.host)
    if options.guard.is_open:
        log.warning("reachable from other machines without a token", host=options.host)

"""One way to run a server: ports, limits, health, reflection, TLS, drain."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from tonnage.errors import InvalidInput
from tonnage.rpc.interceptors import CallInterceptor

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.rpc.auth import BearerCheck
    from tonnage.rpc.logs import Log

LOOPBACK: Final = "127.0.0.1"
MAX_MESSAGE_BYTES: Final = 16 << 20
DRAIN_S: Final = 20.0
_READY_POLL_S: Final = 0.25
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING

Ready = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM files of the server; a client CA makes client certificates required."""

    cert_file: Path
    key_file: Path
    client_ca_file: Path | None = None

    def credentials(self) -> grpc.ServerCredentials:
        """Return the credentials; raise ``InvalidInput`` naming the file that cannot be read."""
        client_ca = _pem("tls_client_ca_file", self.client_ca_file) if self.client_ca_file is not None else None
        pair = (_pem("tls_key_file", self.key_file), _pem("tls_cert_file", self.cert_file))
        return grpc.ssl_server_credentials([pair], client_ca, require_client_auth=client_ca is not None)


def _pem(path: str, file: Path) -> bytes:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidInput.field(path, str(file), f"cannot be read: {error.strerror}", "name a PEM file") from error
    if b"-----BEGIN" not in data:
        raise InvalidInput.field(path, str(file), "holds no PEM block", "name a PEM file")
    return data


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How a server is reached and how large its messages may be; port 0 lets the system choose."""

    host: str = LOOPBACK
    port: int = 0
    max_message_bytes: int = MAX_MESSAGE_BYTES
    drain_s: float = DRAIN_S
    tls: Tls | None = None
    bearer: BearerCheck | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """A servicer: its full name for health and reflection, and the generated function that adds it."""

    full_name: str
    add: Callable[[grpc.aio.Server], None]


class Running:
    """A started server."""

    def __init__(
        self, server: grpc.aio.Server, options: ServerOptions, port: int, checker: health.aio.HealthServicer
    ) -> None:
        self.port = port
        self._host = options.host
        self._server = server
        self._checker = checker
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
        await self._server.stop(self._drain_s)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _channel_options(options: ServerOptions) -> list[tuple[str, int]]:
    return [
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", options.max_message_bytes),
        # Replies are held to the limit by the interceptor, which names it.
        ("grpc.max_send_message_length", -1),
        ("grpc.max_metadata_size", 16 << 10),
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ]


async def start(options: ServerOptions, services: Sequence[Service], ready: Ready, log: Log) -> Running:
    """Start serving and return the running server; raise ``InvalidInput`` when the port cannot be had.

    ``ready`` is asked a few times a second; health answers SERVING only while it says so.
    """
    interceptor = CallInterceptor(log, max_message_bytes=options.max_message_bytes, bearer=options.bearer)
    server = grpc.aio.server(interceptors=[interceptor], options=_channel_options(options))
    names = [service.full_name for service in services]
    for service in services:
        service.add(server)
    checker = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checker, server)
    reflection.enable_server_reflection((*names, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    try:
        port = _bind(server, options)
    except InvalidInput:
        await server.stop(None)
        raise
    running = Running(server, options, port, checker)
    await running.watch(names, ready)
    await server.start()
    return running


def _bind(server: grpc.aio.Server, options: ServerOptions) -> int:
    address = _address(options.host, options.port)
    try:
        if options.tls is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, options.tls.credentials())
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
    log.info("listening", address=running.address, tls=options.tls is not None, token=options.bearer is not None)
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
    if options.bearer is None:
        log.warning("reachable from other machines without a token", host=options.host)

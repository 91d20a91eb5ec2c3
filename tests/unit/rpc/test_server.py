"""A server's life: port, health, reflection, TLS, drain."""

# ruff: noqa: ARG002, N802 -- the servicer's names and arguments are those of the generated base

from __future__ import annotations

import asyncio
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest
from builders_ingest import an_ingest_server
from builders_rpc import Lines
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tonnage.errors import InvalidInput
from tonnage.rpc.server import ServerOptions, Service, start
from tonnage.rpc.tls import Tls
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1.ingest_service_pb2_grpc import (
    IngestServiceServicer,
    IngestServiceStub,
    add_IngestServiceServicer_to_server,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SERVICE = "tonnage.v1.IngestService"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Slow(IngestServiceServicer):
    """Answers after a moment, and tells that it began."""

    def __init__(self) -> None:
        self.began = asyncio.Event()

    async def ListFormats(self, request: object, context: object) -> pb.ListFormatsResponse:
        """Answer after a moment."""
        self.began.set()
        await asyncio.sleep(0.3)
        return pb.ListFormatsResponse()


async def _health(channel: grpc.aio.Channel, service: str = "") -> int:
    stub: Any = health_pb2_grpc.HealthStub(channel)  # the stubs lack its calls
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
    return int(answer.status)


def _slow() -> Slow:
    return Slow()  # type: ignore[abstract]  # the test asks one method


def _watch(channel: grpc.aio.Channel) -> Any:  # noqa: ANN401 -- the stubs lack this call
    call = channel.unary_stream(
        "/grpc.health.v1.Health/Watch",
        request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    return call(health_pb2.HealthCheckRequest())


def _slow_service(servicer: Slow) -> Service:
    return Service(SERVICE, lambda server: add_IngestServiceServicer_to_server(servicer, server))


def test_health_follows_readiness() -> None:
    is_ready = False

    async def ready() -> bool:
        return is_ready

    async def life() -> list[int]:
        nonlocal is_ready
        running = await start(ServerOptions(drain_s=1), [_slow_service(_slow())], ready, Lines())
        async with grpc.aio.insecure_channel(running.address) as channel:
            seen = [await _health(channel), await _health(channel, SERVICE)]
            is_ready = True
            watch = _watch(channel)
            while (await watch.read()).status != SERVING:
                pass
            watch.cancel()
            seen += [await _health(channel), await _health(channel, SERVICE)]
        await running.stop()
        return seen

    assert asyncio.run(asyncio.wait_for(life(), 20)) == [NOT_SERVING, NOT_SERVING, SERVING, SERVING]


def test_a_drain_turns_health_off_and_lets_calls_in_flight_end() -> None:
    async def ready() -> bool:
        return True

    async def life() -> tuple[list[int], bool]:
        slow = _slow()
        running = await start(ServerOptions(drain_s=5), [_slow_service(slow)], ready, Lines())
        async with grpc.aio.insecure_channel(running.address) as channel:
            watch = _watch(channel)
            seen = [(await watch.read()).status]
            call = asyncio.ensure_future(IngestServiceStub(channel).ListFormats(pb.ListFormatsRequest()))
            await slow.began.wait()
            stopping = asyncio.create_task(running.stop())
            seen.append((await watch.read()).status)
            watch.cancel()
            answered = isinstance(await call, pb.ListFormatsResponse)
            await stopping
        return seen, answered

    assert asyncio.run(asyncio.wait_for(life(), 20)) == ([SERVING, NOT_SERVING], True)


def test_reflection_lists_the_services(tmp_path: Path) -> None:
    async def names() -> set[str]:
        async with an_ingest_server(tmp_path) as running, grpc.aio.insecure_channel(running.address) as channel:
            stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)  # type: ignore[arg-type]  # stubs lack aio
            request = reflection_pb2.ServerReflectionRequest(list_services="")
            async for answer in stub.ServerReflectionInfo(_one(request)):
                return {service.name for service in answer.list_services_response.service}
        return set()

    assert {SERVICE, "grpc.health.v1.Health"} <= asyncio.run(names())


async def _one(
    request: reflection_pb2.ServerReflectionRequest,
) -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
    yield request


def test_a_port_in_use_is_refused_by_name(tmp_path: Path) -> None:
    async def second() -> None:
        async with an_ingest_server(tmp_path) as running:
            options = ServerOptions(port=running.port)
            await start(options, [_slow_service(_slow())], _always, Lines())

    with pytest.raises(InvalidInput, match="port: cannot be bound"):
        asyncio.run(second())


async def _always() -> bool:
    return True


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    """Return a self-signed certificate of 127.0.0.1 that is its own authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ["-subj", "/CN=tonnage-test", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subprocess.run([*made, *subject, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return Tls(cert_file=cert, key_file=key)


def _credentials(tls: Tls, *, with_certificate: bool) -> grpc.ChannelCredentials:
    root = tls.cert_file.read_bytes()
    if not with_certificate:
        return grpc.ssl_channel_credentials(root)
    return grpc.ssl_channel_credentials(root, tls.key_file.read_bytes(), root)


async def _asked(folder: Path, options: ServerOptions, credentials: grpc.ChannelCredentials | None) -> bool:
    async with an_ingest_server(folder, options=options) as running:
        if credentials is None:
            channel = grpc.aio.insecure_channel(running.address)
        else:
            channel = grpc.aio.secure_channel(running.address, credentials)
        async with channel:
            try:
                answer = await IngestServiceStub(channel).ListFormats(pb.ListFormatsRequest(), timeout=5)
            except grpc.aio.AioRpcError as error:
                assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 -- an outcome the caller asks for
                return False
            return bool(answer.formats)


def test_tls_answers_a_client_that_trusts_it_and_no_plain_one(tls: Tls, tmp_path: Path) -> None:
    options = ServerOptions(tls=tls, drain_s=1)
    assert asyncio.run(_asked(tmp_path, options, _credentials(tls, with_certificate=False))) is True
    assert asyncio.run(_asked(tmp_path, options, None)) is False


def test_a_client_authority_makes_client_certificates_required(tls: Tls, tmp_path: Path) -> None:
    mutual = Tls(cert_file=tls.cert_file, key_file=tls.key_file, client_ca_file=tls.cert_file)
    options = ServerOptions(tls=mutual, drain_s=1)
    assert asyncio.run(_asked(tmp_path, options, _credentials(tls, with_certificate=True))) is True
    assert asyncio.run(_asked(tmp_path, options, _credentials(tls, with_certificate=False))) is False


def test_a_pem_file_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    with pytest.raises(InvalidInput, match="tls_key_file: holds no PEM block"):
        Tls(cert_file=tmp_path / "x", key_file=tmp_path / "x").credentials(Lines())
    with pytest.raises(InvalidInput, match="tls_client_ca_file: cannot be read"):
        Tls(cert_file=tmp_path / "x", key_file=tmp_path / "x", client_ca_file=tmp_path / "none").credentials(Lines())

"""A server in operation: certificates change, streams stall, too much comes at once, figures are read."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest
from builders_ingest import an_ingest_server
from builders_rpc import Lines, error_info
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tonnage.errors import InvalidInput
from tonnage.rpc import logs
from tonnage.rpc.guard import RateLimit
from tonnage.rpc.interceptors import Watch
from tonnage.rpc.metrics import Meter
from tonnage.rpc.server import ServerOptions
from tonnage.rpc.tls import Tls
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

REQUEST = pb.ListFormatsRequest()


def a_certificate(folder: Path) -> bytes:
    """Write a new self-signed certificate of 127.0.0.1 and its key; return the certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tonnage-test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(secret)
    (folder / "cert.pem").write_bytes(pem)
    return pem


async def _trusts(address: str, root: bytes) -> bool:
    """Tell whether a new client that trusts ``root`` is answered."""
    credentials = grpc.ssl_channel_credentials(root)
    # A channel of its own: subchannels are shared between channels of the same target and options.
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.secure_channel(address, credentials, options=options) as channel:
        try:
            await IngestServiceStub(channel).ListFormats(REQUEST, timeout=5)
        except grpc.aio.AioRpcError:
            return False
        return True


def test_a_rotated_certificate_is_served_without_a_restart(tmp_path: Path) -> None:
    old, log = a_certificate(tmp_path), Lines()
    options = ServerOptions(drain_s=0.2, tls=Tls(cert_file=tmp_path / "cert.pem", key_file=tmp_path / "key.pem"))

    async def rotated() -> list[bool]:
        async with an_ingest_server(tmp_path, options=options, log=log) as running:
            seen = [await _trusts(running.address, old)]
            new = a_certificate(tmp_path)
            seen += [await _trusts(running.address, new), await _trusts(running.address, old)]
            (tmp_path / "cert.pem").write_text("half a fi")
            return [*seen, await _trusts(running.address, new)]

    assert asyncio.run(rotated()) == [True, True, False, True]
    assert "error" in [line["level"] for line in log.lines if "certificate" in str(line["event"])]


async def _refusal(call: Any) -> grpc.aio.AioRpcError:  # noqa: ANN401 -- any call
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error
    raise AssertionError("the call was answered")


def test_a_stream_that_stalls_is_cut(tmp_path: Path) -> None:
    async def stalled() -> AsyncIterator[pb.IngestReportRequest]:
        yield pb.IngestReportRequest(metadata=pb.ReportMetadata(filename="a.json", size_bytes=10))
        await asyncio.sleep(20)

    async def cut() -> tuple[grpc.StatusCode, str]:
        options = ServerOptions(drain_s=0.2, stream_idle_s=0.2)
        async with (
            an_ingest_server(tmp_path, options=options) as running,
            grpc.aio.insecure_channel(running.address) as channel,
        ):
            error = await _refusal(IngestServiceStub(channel).IngestReport(stalled(), timeout=10))
        return error.code(), error.details() or ""

    code, text = asyncio.run(cut())
    assert code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert "sent nothing for 0.2 s" in text


def test_more_calls_than_the_rate_are_told_when_to_come_again(tmp_path: Path) -> None:
    async def refused() -> grpc.aio.AioRpcError:
        options = ServerOptions(drain_s=0.2, rate=RateLimit(0.1))
        async with (
            an_ingest_server(tmp_path, options=options) as running,
            grpc.aio.insecure_channel(running.address) as channel,
        ):
            stub = IngestServiceStub(channel)
            await stub.ListFormats(REQUEST)
            return await _refusal(stub.ListFormats(REQUEST))

    error = asyncio.run(refused())
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error_info(error).reason == "OVERLOADED"
    assert int(error_info(error).metadata["retry_after_ms"]) > 1000


def test_more_calls_in_flight_than_the_limit_are_refused_and_room_comes_back(tmp_path: Path) -> None:
    waiting = asyncio.Event

    async def counted() -> tuple[grpc.StatusCode, bool]:
        release = waiting()

        async def held() -> AsyncIterator[pb.IngestReportRequest]:
            await release.wait()
            yield pb.IngestReportRequest()

        options = ServerOptions(drain_s=0.2, max_calls_count=1)
        log = Lines()
        async with (
            an_ingest_server(tmp_path, options=options, log=log) as running,
            grpc.aio.insecure_channel(running.address) as channel,
        ):
            stub = IngestServiceStub(channel)
            first = asyncio.ensure_future(_refusal(stub.IngestReport(held(), timeout=10)))
            error = None
            while error is None:
                try:
                    await stub.ListFormats(REQUEST)
                except grpc.aio.AioRpcError as refused:
                    error = refused
            release.set()
            await first
            return error.code(), bool((await stub.ListFormats(REQUEST)).formats)

    assert asyncio.run(asyncio.wait_for(counted(), 20)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, True)


def test_figures_of_calls_are_read_over_http_and_unknown_methods_share_a_label(tmp_path: Path) -> None:
    meter = Meter()
    meter.gauges({"tonnage_data_version": lambda: 7.0})
    port, stop = meter.serve("127.0.0.1", 0)

    async def called() -> None:
        options = ServerOptions(drain_s=0.2, watch=Watch(meter=meter))
        async with (
            an_ingest_server(tmp_path, options=options) as running,
            grpc.aio.insecure_channel(running.address) as channel,
        ):
            await IngestServiceStub(channel).ListFormats(REQUEST)

    try:
        asyncio.run(called())
        meter.began()
        meter.ended("/made.up/Method", "UNIMPLEMENTED", 0.1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            text = answer.read().decode()
    finally:
        stop()
    assert 'tonnage_calls_total{code="OK",method="/tonnage.v1.IngestService/ListFormats"} 1.0' in text
    assert 'tonnage_calls_total{code="UNIMPLEMENTED",method="other"} 1.0' in text
    assert "tonnage_calls_in_flight 0.0" in text
    assert "tonnage_data_version 7.0" in text


def test_a_metrics_port_in_use_is_refused_by_name() -> None:
    port, stop = Meter().serve("127.0.0.1", 0)
    try:
        with pytest.raises(InvalidInput, match="metrics_port: cannot be bound"):
            Meter().serve("127.0.0.1", port)
    finally:
        stop()


def test_audit_lines_are_json_in_a_file_of_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    logs.audit(path).info("write", identity="ci")
    line = json.loads(path.read_text())
    assert (line["event"], line["identity"]) == ("write", "ci")
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(InvalidInput, match="audit_file: cannot be written"):
        logs.audit(tmp_path / "none" / "audit.jsonl")

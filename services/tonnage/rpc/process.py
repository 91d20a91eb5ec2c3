"""What every server process does around its own work: settings, log, loop, exit status."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

import uvloop

from tonnage import settings as settings_module
from tonnage.errors import InvalidInput, TonnageError
from tonnage.rpc import logs
from tonnage.rpc.auth import BearerCheck
from tonnage.rpc.guard import Guard, RateLimit
from tonnage.rpc.interceptors import Watch
from tonnage.rpc.server import ServerOptions
from tonnage.rpc.tls import Tls
from tonnage.rpc.tokens.file import TokenFile

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from tonnage.rpc.metrics import Meter

EXIT_OK: Final = 0
EXIT_BAD_SETTINGS: Final = 2
EXIT_NOT_AVAILABLE: Final = 3

S = TypeVar("S", bound=settings_module.ServerSettings)


def server_options(settings: settings_module.ServerSettings, port: int, log: logs.Log) -> ServerOptions:
    """Return how a server is reached; raise ``InvalidInput`` when a token file or the audit file is no use."""
    tls = None
    if settings.tls_cert_file is not None and settings.tls_key_file is not None:
        tls = Tls(
            cert_file=settings.tls_cert_file,
            key_file=settings.tls_key_file,
            client_ca_file=settings.tls_client_ca_file,
        )
    return ServerOptions(
        host=settings.host,
        port=port,
        max_message_bytes=settings.max_message_bytes,
        drain_s=settings.drain_s,
        tls=tls,
        guard=_guard(settings, log),
        rate=None if settings.max_calls_per_s is None else RateLimit(settings.max_calls_per_s),
        max_calls_count=settings.max_calls_count,
        max_streams_count=settings.max_streams_count,
        stream_idle_s=settings.stream_idle_s,
        shares_port=settings.share_port,
        watch=Watch(
            meter=_meter(settings),
            audit=None if settings.audit_file is None else logs.audit(settings.audit_file),
        ),
    )


def _meter(settings: settings_module.ServerSettings) -> Meter | None:
    if settings.metrics_port is None:
        return None
    from tonnage.rpc.metrics import Meter  # noqa: PLC0415 -- costs a start 0.1 s, and not all want it

    return Meter()


def _guard(settings: settings_module.ServerSettings, log: logs.Log) -> Guard:
    oidc = None
    if settings.oidc_issuer is not None and settings.oidc_audience is not None and settings.oidc_jwks_url is not None:
        from tonnage.rpc.oidc import Oidc, OidcOptions  # noqa: PLC0415 -- costs a start 0.2 s, and few want it

        options = OidcOptions(
            issuer=settings.oidc_issuer,
            audience=settings.oidc_audience,
            jwks_url=settings.oidc_jwks_url,
            namespaces_claim=settings.oidc_namespaces_claim,
            leeway_s=settings.oidc_leeway_s,
        )
        oidc = Oidc(options, log)
    return Guard(
        shared=None if settings.token_file is None else BearerCheck.from_file(settings.token_file),
        tokens=None if settings.tokens_file is None else TokenFile(settings.tokens_file, log),
        oidc=oidc,
        reflection=settings.reflection,
    )


@contextmanager
def metrics_served(
    settings: settings_module.ServerSettings,
    options: ServerOptions,
    gauges: Mapping[str, Callable[[], float]],
    log: logs.Log,
) -> Iterator[None]:
    """Serve the Prometheus endpoint, where a port is set, on the host of the server."""
    meter = options.watch.meter
    if settings.metrics_port is None or meter is None:
        yield
        return
    meter.gauges(gauges)
    port, stop = meter.serve(settings.host, settings.metrics_port)
    log.info("metrics listening", port=port)
    try:
        yield
    finally:
        stop()


def run(kind: type[S], name: str, work: Callable[[S, logs.Log], Awaitable[None]], arguments: Sequence[str]) -> int:
    """Read the settings, run ``work`` on a fresh loop and return the exit status.

    0 after a drain, 2 when a setting cannot be used, 3 when what the server stands on cannot be
    reached; the reason is one line on stderr.
    """
    try:
        settings = settings_module.load(kind, arguments)
        logs.configure(settings.log_level)
        uvloop.run(_awaited(work, settings, logs.logger(name)))
    except InvalidInput as error:
        return _refused(error, EXIT_BAD_SETTINGS)
    except TonnageError as error:
        return _refused(error, EXIT_NOT_AVAILABLE)
    return EXIT_OK


async def _awaited(work: Callable[[S, logs.Log], Awaitable[None]], settings: S, log: logs.Log) -> None:
    await work(settings, log)


def _refused(error: TonnageError, status: int) -> int:
    sys.stderr.write(f"error: {error}\n")
    return status

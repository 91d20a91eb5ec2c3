"""What every server process does around its own work: settings, log, loop, exit status."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, TypeVar

import uvloop

from tonnage import settings as settings_module
from tonnage.errors import InvalidInput, TonnageError
from tonnage.rpc import logs
from tonnage.rpc.auth import BearerCheck
from tonnage.rpc.server import ServerOptions, Tls

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

EXIT_OK: Final = 0
EXIT_BAD_SETTINGS: Final = 2
EXIT_NOT_AVAILABLE: Final = 3

S = TypeVar("S", bound=settings_module.ServerSettings)


def server_options(settings: settings_module.ServerSettings, port: int) -> ServerOptions:
    """Return how a server is reached; raise ``InvalidInput`` when a token file is no use."""
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
        bearer=None if settings.token_file is None else BearerCheck.from_file(settings.token_file),
    )


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

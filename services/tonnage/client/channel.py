"""Where a server is and how to talk to it: target, deadlines, retries, TLS and token."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grpc
import grpc.aio

from tonnage.client.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_TARGETS: Final = {"TONNAGE_PLANNING": "127.0.0.1:7051", "TONNAGE_INGEST": "127.0.0.1:7052"}
TOKEN_VARIABLE: Final = "TONNAGE_TOKEN"  # noqa: S105 -- the variable's name, not a token
TLS_CA_VARIABLE: Final = "TONNAGE_TLS_CA"
DEFAULT_TIMEOUT_S: Final = 10.0
MAX_MESSAGE_BYTES: Final = 16 << 20
KEEPALIVE_MS: Final = 30_000

# Only what was never handled is sent again; every write is idempotent by digest or request_id.
_SERVICE_CONFIG: Final = json.dumps(
    {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 4,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "2s",
                    "backoffMultiplier": 3,
                    # CANCELLED by the server: it went away before it looked at the call.
                    "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
                },
            }
        ],
    }
)
_LOOPBACK: Final = re.compile(r"(dns:///|ipv4:|ipv6:)?(127\.\d+\.\d+\.\d+|localhost|\[::1\]):\d+|unix:.*")
_SCHEMES: Final = ("dns", "unix", "ipv4", "ipv6", "xds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One server and how to reach it.

    ``tls_ca`` is a PEM file of the authorities to trust and turns TLS on; without it the channel is
    plain. ``token`` is sent as a bearer token with every call. ``timeout_s`` bounds unary calls;
    None waits for ever.
    """

    target: str
    token: str | None = field(default=None, repr=False)
    tls_ca: Path | None = None
    timeout_s: float | None = DEFAULT_TIMEOUT_S

    def __post_init__(self) -> None:
        """Refuse what gRPC would take for a host name nobody has."""
        scheme, separator, _ = self.target.partition("://")
        if separator and scheme not in _SCHEMES:
            raise BadInput.field("target", f"{self.target} is a URL; give host:port")
        if not self.target.strip():
            raise BadInput.field("target", "is empty; give host:port")

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Return what goes with every call."""
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()

    def open(self) -> grpc.Channel:
        """Return a blocking channel; nothing is dialled yet."""
        credentials = self._credentials()
        if credentials is None:
            return grpc.insecure_channel(self.target, options=self._options())
        return grpc.secure_channel(self.target, credentials, options=self._options())

    def open_async(self) -> grpc.aio.Channel:
        """Return a channel of the running loop; nothing is dialled yet."""
        credentials = self._credentials()
        if credentials is None:
            return grpc.aio.insecure_channel(self.target, options=self._options())
        return grpc.aio.secure_channel(self.target, credentials, options=self._options())

    def _credentials(self) -> grpc.ChannelCredentials | None:
        if self.tls_ca is None:
            return None
        try:
            return grpc.ssl_channel_credentials(root_certificates=self.tls_ca.read_bytes())
        except OSError as error:
            raise BadInput.field(
                "tls_ca", f"{self.tls_ca} cannot be read: {error.strerror}; give a PEM file"
            ) from error

    def _options(self) -> list[tuple[str, str | int]]:
        options: list[tuple[str, str | int]] = [
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ("grpc.keepalive_time_ms", KEEPALIVE_MS),
            ("grpc.service_config", _SERVICE_CONFIG),
        ]
        if _LOOPBACK.fullmatch(self.target):
            # A proxy set for the outside never leads back to this machine.
            options.append(("grpc.enable_http_proxy", 0))
        return options


def endpoint(
    variable: str,
    target: str | None = None,
    *,
    token: str | None = None,
    tls_ca: str | os.PathLike[str] | None = None,
    timeout_s: float | None = DEFAULT_TIMEOUT_S,
    environment: Mapping[str, str] = os.environ,
) -> Endpoint:
    """Return the endpoint of a server: what is given, else the environment, else the default.

    ``variable`` is TONNAGE_PLANNING or TONNAGE_INGEST. Raises ``BadInput`` on an unusable target.
    """
    ca = tls_ca or environment.get(TLS_CA_VARIABLE)
    return Endpoint(
        target=target or environment.get(variable) or DEFAULT_TARGETS[variable],
        token=token or environment.get(TOKEN_VARIABLE) or None,
        tls_ca=Path(ca) if ca else None,
        timeout_s=timeout_s,
    )

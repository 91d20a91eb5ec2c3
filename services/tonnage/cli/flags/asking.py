"""Flags of every command that asks a server: where it is, how to prove who asks, and how to answer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from tonnage.client import IngestAsyncClient, IngestClient, PlanningClient
from tonnage.client.channel import DEFAULT_TIMEOUT_S
from tonnage.client.errors import BadInput

_TARGET = "HOST:PORT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaching:
    """How any server is reached."""

    token_file: Annotated[
        Path | None, Option(help="File that holds the bearer token; TONNAGE_TOKEN holds the token itself.")
    ] = None
    tls_ca: Annotated[
        Path | None, Option(help="PEM file of the authorities to trust; turns TLS on.", envvar="TONNAGE_TLS_CA")
    ] = None
    timeout_s: Annotated[float, Option(help="Seconds to wait for an answer; uploads wait as long as it takes.")] = (
        DEFAULT_TIMEOUT_S
    )
    as_json: Annotated[bool, Option("--json", help="Print JSON for programs.")] = False

    @property
    def token(self) -> str | None:
        """Return the token of the file, or None to let the environment say."""
        if self.token_file is None:
            return None
        try:
            return self.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput.field("--token-file", f"{self.token_file} cannot be read: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning(Reaching):
    """Where the planning server is."""

    planning: Annotated[str | None, Option(metavar=_TARGET, help="Planning server.", envvar="TONNAGE_PLANNING")] = None

    def client(self) -> PlanningClient:
        """Return a client; nothing is dialled yet."""
        return PlanningClient(self.planning, token=self.token, tls_ca=self.tls_ca, timeout_s=self.timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest(Reaching):
    """Where the ingest server is."""

    ingest: Annotated[str | None, Option(metavar=_TARGET, help="Ingest server.", envvar="TONNAGE_INGEST")] = None

    def client(self) -> IngestClient:
        """Return a client; nothing is dialled yet."""
        return IngestClient(self.ingest, token=self.token, tls_ca=self.tls_ca, timeout_s=self.timeout_s)

    def async_client(self) -> IngestAsyncClient:
        """Return a client of the running loop."""
        return IngestAsyncClient(self.ingest, token=self.token, tls_ca=self.tls_ca, timeout_s=self.timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which data an answer stands on."""

    namespace: Annotated[str, Option(help="Whose runs; empty means default.")] = ""
    min_data_version: Annotated[int | None, Option(help="Wait until the planner holds at least this data version.")] = (
        None
    )

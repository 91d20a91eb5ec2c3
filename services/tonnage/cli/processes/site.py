"""What the children are: which commands, on which data, at which ports."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from tonnage.client.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPBACK: Final = "127.0.0.1"
PLANNING_PORT: Final = 7051
INGEST_PORT: Final = 7052
UI_PORT: Final = 8501


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One data folder and how its servers are reached; port 0 lets the system choose."""

    data: Path
    host: str = LOOPBACK
    planning_port: int = PLANNING_PORT
    ingest_port: int = INGEST_PORT
    ui_port: int | None = None
    log_level: str = "warning"
    token_file: Path | None = None
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None
    tls_ca: Path | None = None

    @property
    def store_url(self) -> str:
        """Return the store's URL; a folder's name may hold anything."""
        return f"lake://{quote(str(self.data.resolve()))}"

    def command(self, server: str, port: int) -> list[str]:
        """Return the command of one server, "planning" or "ingest"."""
        files = {
            "--token-file": self.token_file,
            "--tls-cert-file": self.tls_cert_file,
            "--tls-key-file": self.tls_key_file,
        }
        flags = {
            "--store": self.store_url,
            "--host": self.host,
            "--port": str(port),
            "--log-level": self.log_level,
            **{flag: str(path) for flag, path in files.items() if path is not None},
        }
        return [sys.executable, "-m", f"tonnage.{server}", *(text for pair in flags.items() for text in pair)]

    def check(self) -> None:
        """Refuse what could not work, before anything is started."""
        if (self.tls_cert_file is None) != (self.tls_key_file is None):
            raise BadInput.field("--tls-cert-file", "goes together with --tls-key-file; give both or none")
        if self.tls_cert_file is not None and self.tls_ca is None:
            raise BadInput.field(
                "--tls-ca", "is needed with --tls-cert-file, to reach the servers; give the CA's PEM file"
            )
        try:
            self.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput.field("--data", f"{self.data} cannot be made: {error.strerror}; name a folder") from error


def ui_app() -> Path:
    """Return the pages' script: of the current folder, else of the checkout this package stands in."""
    places = (Path("ui/app.py"), Path(__file__).resolve().parents[4] / "ui" / "app.py")
    for place in places:
        if place.is_file():
            return place.resolve()
    raise BadInput.field("--ui", "finds no ui/app.py; run it from a checkout of the product")


def ui_command(app: Path, host: str, port: int) -> list[str]:
    """Return the command that serves the pages."""
    options = {
        "--server.address": host,
        "--server.port": str(port),
        "--server.headless": "true",
        "--browser.gatherUsageStats": "false",
        "--server.fileWatcherType": "none",
    }
    return [sys.executable, "-m", "streamlit", "run", str(app), *(text for pair in options.items() for text in pair)]


def environment(addresses: Mapping[str, str], site: Site) -> dict[str, str]:
    """Return the environment the pages find the servers by."""
    found = dict(os.environ) | {"TONNAGE_PLANNING": addresses["planning"], "TONNAGE_INGEST": addresses["ingest"]}
    if site.token_file is not None:
        found["TONNAGE_TOKEN"] = site.token_file.read_text(encoding="utf-8").strip()
    if site.tls_ca is not None:
        found["TONNAGE_TLS_CA"] = str(site.tls_ca.resolve())
    return found


def free_port(host: str, wanted: int) -> int:
    """Return the port wanted when it is free and not 0, else another that is."""
    for port in (wanted, 0):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
            free: int = probe.getsockname()[1]
            return free
    raise BadInput.field("--host", f"{host} has no port to give; name an address of this machine")

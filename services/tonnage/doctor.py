"""``python -m tonnage.doctor``: looks at what the servers stand on, as they would; nothing is started or changed.

Reads the variables of both servers. Ends with 0, or with 1 when something would keep a server from answering.
"""

from __future__ import annotations

import json
import shutil
import socket
import sys
import tempfile
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from tonnage import settings as settings_module
from tonnage.errors import InvalidInput, TonnageError
from tonnage.rpc.auth import BearerCheck
from tonnage.rpc.tokens.book import TokenBook, utc_now
from tonnage.settings import IngestSettings, PlanningSettings, ServerSettings
from tonnage.store import open_reader
from tonnage.store.admin.info import info
from tonnage.store.url import EmbeddedPlace, parse_store_url, shown_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_LEAST_FREE_BYTES: Final = 1 << 30
_SOON: Final = timedelta(days=14)
# Before this release was made no clock is right.
_EARLIEST: Final = datetime(2026, 1, 1, tzinfo=UTC)

State = Literal["ok", "warning", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    words: str


def findings(arguments: Sequence[str]) -> Iterator[Finding]:
    """Yield what was found; ``arguments`` are flags that both servers share."""
    yield Finding("release", "ok", f"tonnage {version('tonnage')}")
    try:
        ingest = settings_module.load(IngestSettings, arguments)
        planning = settings_module.load(PlanningSettings, arguments)
    except InvalidInput as error:
        yield Finding("settings", "wrong", error.message)
        return
    yield Finding("settings", "ok", f"store {shown_url(ingest.store)}")
    for what, look in _looks(ingest, planning):
        try:
            yield from look()
        except TonnageError as error:
            yield Finding(what, "wrong", error.message)
        except (OSError, ValueError) as error:
            yield Finding(what, "wrong", f"{what}: {error}")


def _looks(ingest: IngestSettings, planning: PlanningSettings) -> list[tuple[str, Callable[[], Iterator[Finding]]]]:
    return [
        ("clock", _clock),
        ("store", lambda: _store(ingest)),
        ("disk", lambda: _disk(ingest)),
        ("tls", lambda: _tls(ingest)),
        ("tokens", lambda: _tokens(ingest)),
        ("ingest port", lambda: _port("ingest port", ingest.host, ingest.ingest_port)),
        ("planning port", lambda: _port("planning port", planning.host, planning.planning_port)),
    ]


def _clock() -> Iterator[Finding]:
    now = utc_now()
    is_right = now >= _EARLIEST
    yield Finding(
        "clock", "ok" if is_right else "wrong", f"{now:%Y-%m-%d %H:%M} UTC" + ("" if is_right else "; set it")
    )


def _store(settings: ServerSettings) -> Iterator[Finding]:
    place = parse_store_url(settings.store)
    if not isinstance(place, EmbeddedPlace):
        with closing(open_reader(settings.store)) as reader:
            is_reached, found_version = reader.healthy(), reader.snapshot.data_version
        said = f"data version {found_version}" if is_reached else f"{shown_url(settings.store)} was not reached"
        yield Finding("store", "ok" if is_reached else "wrong", said)
        return
    if not place.folder.exists():
        yield Finding("store", "warning", f"{place.folder} is not there yet; ingest makes it")
        return
    found = info(place)
    yield Finding("store", "ok", f"schema {found.schema_version}, data version {found.data_version}")


def _disk(settings: ServerSettings) -> Iterator[Finding]:
    folder = _nearest(_local_folder(settings))
    free_bytes = shutil.disk_usage(folder).free
    state: State = "ok" if free_bytes >= _LEAST_FREE_BYTES else "wrong"
    cure = "" if state == "ok" else "; ingest needs room, at least 1 GiB"
    yield Finding("disk", state, f"{free_bytes / (1 << 30):.1f} GiB free at {folder}{cure}")


def _local_folder(settings: ServerSettings) -> Path:
    """Return where this machine keeps what it is sent."""
    place = parse_store_url(settings.store)
    return place.folder if isinstance(place, EmbeddedPlace) else Path(tempfile.gettempdir())


def _nearest(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


def _tls(settings: ServerSettings) -> Iterator[Finding]:
    if settings.tls_cert_file is None or settings.tls_key_file is None:
        is_local = settings.host in {"127.0.0.1", "::1", "localhost"}
        yield Finding("tls", "ok" if is_local else "warning", f"off, listening on {settings.host}")
        return
    certificate = x509.load_pem_x509_certificates(settings.tls_cert_file.read_bytes())[0]
    key = load_pem_private_key(settings.tls_key_file.read_bytes(), password=None)
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if certificate.public_key().public_bytes(*form) != key.public_key().public_bytes(*form):
        yield Finding("tls", "wrong", f"{settings.tls_key_file} is not the key of {settings.tls_cert_file}")
        return
    until = certificate.not_valid_after_utc
    state: State = "wrong" if until <= utc_now() else "warning" if until - utc_now() < _SOON else "ok"
    yield Finding("tls", state, f"{settings.tls_cert_file} is valid until {until:%Y-%m-%d}")


def _tokens(settings: ServerSettings) -> Iterator[Finding]:
    if settings.token_file is not None:
        BearerCheck.from_file(settings.token_file)
        yield Finding("tokens", "ok", f"one shared token in {settings.token_file}")
    if settings.tokens_file is not None:
        states = [token.state(utc_now()) for token in TokenBook.from_file(settings.tokens_file).tokens]
        live_count = states.count("live")
        words = f"{live_count} live of {len(states)} in {settings.tokens_file}"
        yield Finding("tokens", "ok" if live_count else "warning", words)
    if settings.token_file is None and settings.tokens_file is None and settings.oidc_issuer is None:
        yield Finding("tokens", "warning", "none asked for: everybody who reaches the port may do everything")


def _port(what: str, host: str, port: int) -> Iterator[Finding]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            yield Finding(
                what, "warning", f"{host}:{port} cannot be bound now ({error.strerror}); is a server running?"
            )
            return
    yield Finding(what, "ok", f"{host}:{port} is free")


def main(arguments: Sequence[str]) -> int:
    """Look, print, and return the exit status."""
    as_json = "--json" in arguments
    found = list(findings([word for word in arguments if word != "--json"]))
    if as_json:
        sys.stdout.write(json.dumps({"findings": [asdict(item) for item in found]}) + "\n")
    else:
        sys.stdout.writelines(f"{item.state:<8} {item.what:<14} {item.words}\n" for item in found)
    return int(any(item.state == "wrong" for item in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

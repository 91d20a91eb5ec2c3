"""The server's certificate and authorities, read again when their files change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.rpc.logs import Log

Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM files of the server; a client CA makes client certificates required."""

    cert_file: Path
    key_file: Path
    client_ca_file: Path | None = None

    def credentials(self, log: Log) -> grpc.ServerCredentials:
        """Return credentials that follow the files; raise ``InvalidInput`` naming the file that cannot be read."""
        return _Followed(self, log).credentials()

    def configuration(self) -> grpc.ServerCertificateConfiguration:
        """Return what the files hold now."""
        client_ca = _pem("tls_client_ca_file", self.client_ca_file) if self.client_ca_file is not None else None
        pair = (_pem("tls_key_file", self.key_file), _pem("tls_cert_file", self.cert_file))
        return grpc.ssl_server_certificate_configuration([pair], client_ca)

    def files(self) -> list[Path]:
        """Return the files in use."""
        return [file for file in (self.cert_file, self.key_file, self.client_ca_file) if file is not None]


class _Followed:
    """Asked by gRPC at each handshake, from its own threads; a rotation that is half done changes nothing."""

    def __init__(self, tls: Tls, log: Log) -> None:
        self._tls = tls
        self._log = log
        self._stamp = self._now()

    def credentials(self) -> grpc.ServerCredentials:
        found: grpc.ServerCredentials = grpc.dynamic_ssl_server_credentials(
            self._tls.configuration(),
            self._changed,  # type: ignore[arg-type]  # the stubs leave out None: nothing has changed
            require_client_authentication=self._tls.client_ca_file is not None,
        )
        return found

    def _changed(self) -> grpc.ServerCertificateConfiguration | None:
        try:
            stamp = self._now()
            if stamp == self._stamp:
                return None
            self._stamp = stamp
            found = self._tls.configuration()
        except (OSError, InvalidInput) as error:
            self._log.error("certificate cannot be read again, the one before still holds", detail=str(error))
            return None
        self._log.info("certificate read", cert_file=str(self._tls.cert_file))
        return found

    def _now(self) -> Stamp:
        found = []
        for file in self._tls.files():
            if not file.exists():
                found.append((0, 0, 0))
                continue
            state = file.stat()
            found.append((state.st_ino, state.st_mtime_ns, state.st_size))
        return tuple(found)


def _pem(path: str, file: Path) -> bytes:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidInput.field(path, str(file), f"cannot be read: {error.strerror}", "name a PEM file") from error
    if b"-----BEGIN" not in data:
        raise InvalidInput.field(path, str(file), "holds no PEM block", "name a PEM file")
    return data

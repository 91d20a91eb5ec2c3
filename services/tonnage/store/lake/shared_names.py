"""Where a shared lake is, and DuckDB's secrets for it; passwords and keys stand in nothing else that is printed."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from tonnage.store.lake.connection import quoted

if TYPE_CHECKING:
    from tonnage.store.url import ScaleOutPlace

_DEFAULT_PORT: Final = 5432
_DEFAULT_REGION: Final = "us-east-1"
# What a session asks of the server: a host that went away without a word keeps no lock, neither while the server
# waits for it (keep-alives) nor while it owes it an answer (user timeout).
_SESSION: Final = {
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "idle_in_transaction_session_timeout": "600000",
}
# The same on this side, for a server that went away.
_WATCH: Final = {
    "options": " ".join(f"-c {name}={value}" for name, value in _SESSION.items()),
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """A PostgreSQL database. Without a password libpq asks PGPASSWORD and its password file."""

    host: str
    port: int
    user: str
    database: str
    password: str | None = field(repr=False)
    options: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, place: ScaleOutPlace) -> Catalog:
        """Take a place apart."""
        parts = urlsplit(place.catalog)
        tls = {"sslmode": place.sslmode, "sslrootcert": place.sslrootcert}
        return cls(
            host=parts.hostname or "",
            port=parts.port or _DEFAULT_PORT,
            user=unquote(parts.username) if parts.username else os.environ.get("PGUSER", "tonnage"),
            database=unquote(parts.path.strip("/")),
            password=None if parts.password is None else unquote(parts.password),
            options=tuple((name, value) for name, value in tls.items() if value is not None),
        )

    @property
    def secret(self) -> str:
        """Return the name of DuckDB's secret, another for each catalog."""
        return f"catalog_{_short(self.host, self.port, self.database)}"

    @property
    def name(self) -> str:
        """Return how messages call it."""
        return f"{self.database} on {self.host}:{self.port}"

    def parameters(self) -> str:
        """Return libpq's parameters that are no secret."""
        return " ".join(f"{name}={_libpq(value)}" for name, value in (*_WATCH.items(), *self.options))

    def keywords(self) -> dict[str, str | int]:
        """Return all of libpq's parameters."""
        given = {"password": self.password} if self.password is not None else {}
        return {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "dbname": self.database,
            **given,
            **_WATCH,
            **dict(self.options),
        }

    def secret_sql(self) -> str:
        """Return the statement that tells DuckDB who we are."""
        password = "" if self.password is None else f", PASSWORD {quoted(self.password)}"
        return (
            f"CREATE SECRET {self.secret} (TYPE postgres, HOST {quoted(self.host)}, PORT {self.port}, "
            f"DATABASE {quoted(self.database)}, USER {quoted(self.user)}{password})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A bucket with a prefix; the keys come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN."""

    bucket: str
    prefix: str
    endpoint: str | None
    region: str
    key_id: str | None
    key: str | None = field(repr=False)
    token: str | None = field(repr=False)

    @classmethod
    def of(cls, place: ScaleOutPlace) -> Bucket:
        """Take a place apart, and the keys from the environment."""
        parts = urlsplit(place.data)
        return cls(
            bucket=parts.netloc,
            prefix=parts.path.strip("/"),
            endpoint=place.endpoint,
            region=place.region or os.environ.get("AWS_REGION") or _DEFAULT_REGION,
            key_id=os.environ.get("AWS_ACCESS_KEY_ID") or None,
            key=os.environ.get("AWS_SECRET_ACCESS_KEY") or None,
            token=os.environ.get("AWS_SESSION_TOKEN") or None,
        )

    @property
    def data_url(self) -> str:
        """Return the URL of the Parquet files; raw reports stand beside it, where no housekeeping reaches them."""
        return f"s3://{self.below('data')}/"

    def below(self, name: str) -> str:
        """Return bucket and key of a name below the prefix."""
        return "/".join(part for part in (self.bucket, self.prefix, name) if part)

    def secret_sql(self) -> str:
        """Return the statement that tells DuckDB the keys; without keys it reads what is open to all."""
        given = {"key_id": self.key_id, "secret": self.key, "session_token": self.token, "region": self.region}
        told = [f"{name} {quoted(value)}" for name, value in given.items() if value is not None]
        if self.endpoint is not None:
            parts = urlsplit(self.endpoint)
            told += [f"ENDPOINT {quoted(parts.netloc)}", "URL_STYLE 'path'"]
            told.append(f"USE_SSL {'true' if parts.scheme == 'https' else 'false'}")
        return f"CREATE SECRET data_{_short(self.data_url)} (TYPE s3, SCOPE {quoted(self.data_url)}, {', '.join(told)})"


def _short(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _libpq(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

"""Store URLs: where the store is, and of which kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from tonnage.errors import InvalidInput

_CURE: Final = "use lake:///absolute/path/to/folder, or lake+postgres://user@host/database?data=s3://bucket/prefix"
_OPTIONS: Final = frozenset({"data", "endpoint", "region", "sslmode", "sslrootcert"})


@dataclass(frozen=True, slots=True)
class EmbeddedPlace:
    """A folder on this machine: SQLite catalog, Parquet files and raw reports."""

    folder: Path


@dataclass(frozen=True, slots=True)
class ScaleOutPlace:
    """A PostgreSQL catalog and an S3-compatible bucket.

    ``catalog`` is a libpq URL, which may hold a password, so it is left out of what is printed. ``endpoint`` is the
    URL of an S3 server that is not Amazon's; ``sslmode`` and ``sslrootcert`` are libpq's.
    """

    catalog: str = field(repr=False)
    data: str
    endpoint: str | None = None
    region: str | None = None
    sslmode: str | None = None
    sslrootcert: str | None = None


Place = EmbeddedPlace | ScaleOutPlace


def parse_store_url(url: str) -> Place:
    """Return the place a store URL names; raise ``InvalidInput`` with path ``store``."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise _refused(url, f"is not a URL ({error})") from error
    if parts.scheme == "lake":
        return _embedded(url, parts)
    if parts.scheme == "lake+postgres":
        return _scale_out(parts)
    raise _refused(url, "is of no kind of store that is known" if parts.scheme else "has no scheme")


def shown_url(url: str) -> str:
    """Return a store URL as logs may hold it: without user, password and options."""
    parts = urlsplit(url)
    if parts.scheme != "lake+postgres":
        return url
    port = "" if parts.port is None else f":{parts.port}"
    return f"lake+postgres://{parts.hostname or ''}{port}{parts.path}"


def _embedded(url: str, parts: SplitResult) -> EmbeddedPlace:
    if parts.netloc:
        raise _refused(url, "names a host, or a path that is not absolute")
    if parts.query or parts.fragment:
        raise _refused(url, "holds ? or #, which a path needs as %3F or %23")
    path = unquote(parts.path)
    if path.strip("/") == "" or "\x00" in path:
        raise _refused(url, "names no folder")
    return EmbeddedPlace(Path(path))


def _scale_out(parts: SplitResult) -> ScaleOutPlace:
    # The URL may hold a password, so no message shows it.
    shown = f"lake+postgres://{parts.hostname or ''}{parts.path}"
    database = parts.path.strip("/")
    if not parts.hostname or not database:
        raise _refused(shown, "names no host or no database")
    try:
        query = parse_qs(parts.query, strict_parsing=True)
    except ValueError as error:
        raise _refused(shown, "lacks data=s3://bucket/prefix, or its query cannot be read") from error
    unknown = sorted(set(query) - _OPTIONS)
    if unknown:
        raise _refused(shown, f"has an unknown option {unknown[0]}")
    repeated = sorted(name for name, values in query.items() if len(values) > 1)
    options = {name: values[0] for name, values in query.items()}
    data = options.pop("data", "")
    if "data" in repeated or not data.startswith("s3://") or not data.removeprefix("s3://").strip("/"):
        raise _refused(shown, "needs one data=s3://bucket/prefix")
    if repeated:
        raise _refused(shown, f"has the option {repeated[0]} twice")
    if "endpoint" in options and not _is_endpoint(options["endpoint"]):
        raise _refused(shown, "needs endpoint=http://host:port, or https://host:port")
    return ScaleOutPlace(catalog=f"postgresql://{parts.netloc}/{database}", data=data, **options)


def _is_endpoint(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.path in {"", "/"} and not parts.query


def _refused(shown: str, problem: str) -> InvalidInput:
    return InvalidInput.field("store", shown, problem, _CURE)

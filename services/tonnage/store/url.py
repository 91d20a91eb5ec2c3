"""Store URLs: where the store is, and of which kind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from tonnage.errors import InvalidInput

_CURE: Final = "use lake:///absolute/path/to/folder, or lake+postgres://user@host/database?data=s3://bucket/prefix"


@dataclass(frozen=True, slots=True)
class EmbeddedPlace:
    """A folder on this machine: SQLite catalog, Parquet files and raw reports."""

    folder: Path


@dataclass(frozen=True, slots=True)
class ScaleOutPlace:
    """A PostgreSQL catalog and an S3-compatible bucket. ``catalog`` is a libpq URL, which may hold a password."""

    catalog: str
    data: str


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
    unknown = sorted(set(query) - {"data"})
    if unknown:
        raise _refused(shown, f"has an unknown option {unknown[0]}")
    data = query.get("data", [])
    if len(data) != 1 or not data[0].startswith("s3://") or len(data[0]) == len("s3://"):
        raise _refused(shown, "needs one data=s3://bucket/prefix")
    return ScaleOutPlace(catalog=f"postgresql://{parts.netloc}/{database}", data=data[0])


def _refused(shown: str, problem: str) -> InvalidInput:
    return InvalidInput.field("store", shown, problem, _CURE)

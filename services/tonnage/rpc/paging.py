"""Lists are paged; a page token is bound to the query and the data version it began with."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Final

from tonnage.errors import InvalidInput, PageTokenStale, shown

DEFAULT_PAGE_SIZE: Final = 50
LARGEST_PAGE_SIZE: Final = 1000
_LONGEST_TOKEN: Final = 2048


def page_size(asked: int, *, path: str = "page_size") -> int:
    """Return the number of rows of a page: 0 means the default; raise ``InvalidInput`` out of range."""
    if asked < 0 or asked > LARGEST_PAGE_SIZE:
        cure = f"give 1 to {LARGEST_PAGE_SIZE}, or 0 for {DEFAULT_PAGE_SIZE}"
        raise InvalidInput.field(path, asked, "is out of range", cure)
    return asked or DEFAULT_PAGE_SIZE


def query_digest(*parts: object) -> str:
    """Return a digest of everything that chooses and orders the rows, page size left out."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def encode_token(after: str | None, *, data_version: int, digest: str) -> str:
    """Return the token of the page behind ``after``; empty when there is none."""
    if after is None:
        return ""
    body = json.dumps([data_version, digest, after], separators=(",", ":"))
    return base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")


def decode_token(token: str, *, data_version: int, digest: str, path: str = "page_token") -> str | None:
    """Return the key behind which the page begins, or None for the first page.

    Raises ``InvalidInput`` when it is no token of ours, ``PageTokenStale`` when it belongs to another
    query or data version.
    """
    if not token:
        return None
    version, of_query, after = _opened(token, path)
    if of_query != digest:
        raise PageTokenStale.field(path, token, "belongs to another query", "repeat the query it came from")
    if version != data_version:
        problem = f"belongs to data version {version}, the store is at {data_version}"
        raise PageTokenStale.field(path, token, problem, "begin again without a token")
    return after


def _opened(token: str, path: str) -> tuple[int, str, str]:
    if len(token) > _LONGEST_TOKEN:
        raise _no_token(path, token)
    try:
        body = json.loads(base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True))
        version, digest, after = body
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        raise _no_token(path, token) from error
    if type(version) is not int or not isinstance(digest, str) or not isinstance(after, str):
        raise _no_token(path, token)
    return version, digest, after


def _no_token(path: str, token: str) -> InvalidInput:
    return InvalidInput.field(path, shown(token), "is not a page token of this server", "begin again without a token")

"""Tokens of an identity provider: JWTs checked against its key set, claims turned into scopes and namespaces."""

from __future__ import annotations

import asyncio
import time
import urllib.request
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import jwt
import msgspec

from tonnage.access import SCOPES, Identity
from tonnage.errors import Overloaded, Unauthenticated
from tonnage.rpc.tokens.book import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tonnage.rpc.logs import Log

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
_REMEMBERED_COUNT: Final = 4096
_LARGEST_KEY_SET_BYTES: Final = 1 << 20
_FETCH_TIMEOUT_S: Final = 5.0
_REFRESH_S: Final = 300.0
# An unknown key id may be a new key, or anybody's guess: asked for at most this often.
_LEAST_BETWEEN_FETCHES_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcOptions:
    """Which tokens are taken. Scopes stand in ``scope`` (with or without ``tonnage:`` before them)."""

    issuer: str
    audience: str
    jwks_url: str
    namespaces_claim: str = "tonnage_namespaces"
    leeway_s: float = 30.0


class Oidc:
    """Checks a token's signature once and remembers it until it expires; keys are fetched off the event loop."""

    def __init__(self, options: OidcOptions, log: Log) -> None:
        self._options = options
        self._log = log
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._fetched_s = -_REFRESH_S
        self._tried_s = -_LEAST_BETWEEN_FETCHES_S
        self._lock = asyncio.Lock()
        self._remembered: OrderedDict[str, tuple[Identity, float]] = OrderedDict()

    def remembered(self, token: str) -> Identity | None:
        """Return the identity of a token checked before that has not expired; None asks for ``identity``."""
        found = self._remembered.get(digest_of(token))
        if found is None or found[1] <= time.time():
            return None
        return found[0]

    async def identity(self, token: str) -> Identity:
        """Return whose token it is; raise ``Unauthenticated`` naming what is wrong with it."""
        try:
            header = jwt.get_unverified_header(token)
            key = await self._key(str(header.get("kid", "")))
            claims = self._claims(token, key)
        except jwt.PyJWTError as error:
            raise Unauthenticated(f"the JWT is not taken: {error}; sign in again") from error
        identity = identity_of(claims, self._options.namespaces_claim)
        self._remembered[digest_of(token)] = (identity, min(float(claims["exp"]), time.time() + _REFRESH_S))
        while len(self._remembered) > _REMEMBERED_COUNT:
            self._remembered.popitem(last=False)
        return identity

    def _claims(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=list(ALGORITHMS),
            audience=self._options.audience,
            issuer=self._options.issuer,
            leeway=self._options.leeway_s,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
        return claims

    async def _key(self, key_id: str) -> jwt.PyJWK:
        async with self._lock:
            moment_s = time.monotonic()
            is_old = moment_s - self._fetched_s > _REFRESH_S
            may_ask = moment_s - self._tried_s >= _LEAST_BETWEEN_FETCHES_S
            if (is_old or key_id not in self._keys) and may_ask:
                self._tried_s = moment_s
                await self._fetch()
        found = self._keys.get(key_id)
        if found is None and not self._keys:
            raise Overloaded("the identity provider's keys were not reached yet; try again", retry_after_ms=5000)
        if found is None:
            raise Unauthenticated("the JWT names a key the identity provider does not publish; sign in again")
        return found

    async def _fetch(self) -> None:
        """Read the key set; what was read before holds when it cannot be had."""
        try:
            data = await asyncio.to_thread(_read, self._options.jwks_url)
            found = jwt.PyJWKSet.from_dict(msgspec.json.decode(data, type=dict[str, Any]))
        except (OSError, ValueError, msgspec.MsgspecError, jwt.PyJWTError) as error:
            self._log.error("key set cannot be read", url=self._options.jwks_url, detail=str(error))
            return
        self._keys = {key.key_id: key for key in found.keys if key.key_id is not None}
        self._fetched_s = time.monotonic()
        # A key that was withdrawn opens nothing any more.
        self._remembered.clear()


def identity_of(claims: Mapping[str, Any], namespaces_claim: str) -> Identity:
    """Return the identity that checked claims describe; a token without the namespaces' claim sees none."""
    given = claims.get("scope", "")
    words = given.split() if isinstance(given, str) else [str(word) for word in given]
    scopes = frozenset(word.removeprefix("tonnage:") for word in words).intersection(SCOPES)
    listed = claims.get(namespaces_claim, [])
    namespaces = frozenset(listed.split() if isinstance(listed, str) else map(str, listed))
    return Identity(str(claims["sub"]), scopes, None if "*" in namespaces else namespaces)


def _read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=_FETCH_TIMEOUT_S) as answer:  # noqa: S310 -- the operator's own setting, http(s) by its check
        data: bytes = answer.read(_LARGEST_KEY_SET_BYTES + 1)
    if len(data) > _LARGEST_KEY_SET_BYTES:
        raise ValueError("the key set is larger than 1 MiB")
    return data

"""What a call must show before it is answered: a token, its scope, and its share of the rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tonnage.access import ANYBODY, Identity
from tonnage.errors import Overloaded, Unauthenticated
from tonnage.rpc import permissions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tonnage.rpc.auth import BearerCheck
    from tonnage.rpc.oidc import Oidc
    from tonnage.rpc.permissions import Reflection
    from tonnage.rpc.tokens.file import TokenFile

_SCHEME: Final = "bearer "
_HELD_BUCKETS_COUNT: Final = 10_000


@dataclass(slots=True)
class RateLimit:
    """A token bucket an identity: ``calls_per_s`` for ever, and twice that at once."""

    calls_per_s: float
    now_s: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, name: str) -> None:
        """Take one call out of the bucket; raise ``Overloaded`` with the time until there is one again."""
        moment_s = self.now_s()
        most = max(1.0, 2 * self.calls_per_s)
        left, since_s = self._left.pop(name, (most, moment_s))
        left = min(most, left + (moment_s - since_s) * self.calls_per_s)
        self._left[name] = (left - 1 if left >= 1 else left, moment_s)
        if len(self._left) > _HELD_BUCKETS_COUNT:
            self._left.popitem(last=False)
        if left < 1:
            wait_ms = int(1000 * (1 - left) / self.calls_per_s) + 1
            text = f"{name} asks more than {self.calls_per_s:g} calls/s; come again in {wait_ms} ms"
            raise Overloaded(text, retry_after_ms=wait_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Knows callers by one shared token (all rights), a token file, or an identity provider."""

    shared: BearerCheck | None = None
    tokens: TokenFile | None = None
    oidc: Oidc | None = None
    reflection: Reflection = "token"

    @property
    def is_open(self) -> bool:
        """Tell whether every caller is let in."""
        return self.shared is None and self.tokens is None and self.oidc is None

    async def admit(self, method: str, metadata: Iterable[tuple[str, str | bytes]]) -> Identity:
        """Return who calls; raise ``Unauthenticated`` or ``PermissionDenied``."""
        if self.is_open or permissions.is_open(method, self.reflection):
            return ANYBODY
        secret = _secret(metadata)
        identity = self._known(secret)
        if identity is None and self.oidc is not None and secret.count(".") == 2:  # noqa: PLR2004 -- a JWT's
            identity = await self.oidc.identity(secret)
        if identity is None:
            raise Unauthenticated("the token is not known here; check the token file of server and client")
        return identity

    def _known(self, secret: str) -> Identity | None:
        if self.shared is not None and self.shared.matches(secret):
            return ANYBODY
        found = None if self.tokens is None else self.tokens.identity(secret)
        if found is None and self.oidc is not None:
            found = self.oidc.remembered(secret)
        return found


def _secret(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    given = next((value for key, value in metadata if key == "authorization"), None)
    if given is None:
        raise Unauthenticated("the call carries no token; send metadata 'authorization: Bearer TOKEN'")
    text = given if isinstance(given, str) else given.decode("utf-8", "replace")
    if not text.lower().startswith(_SCHEME):
        raise Unauthenticated("the token is of another scheme; send metadata 'authorization: Bearer TOKEN'")
    return text[len(_SCHEME) :]

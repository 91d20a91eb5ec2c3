"""Who asks, and which namespaces they see; the check stands where a namespace enters a query."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from tonnage.errors import PermissionDenied

SCOPES: Final = ("plan", "read", "ingest", "admin")


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller: ``scopes`` says what it may do, ``namespaces`` what it sees; None is all of them."""

    name: str
    scopes: frozenset[str]
    namespaces: frozenset[str] | None = None

    def may(self, scopes: frozenset[str]) -> bool:
        """Tell whether one of the scopes is held; ``admin`` holds all."""
        return "admin" in self.scopes or not self.scopes.isdisjoint(scopes)


ANYBODY: Final = Identity("anonymous", frozenset({"admin"}))
_SEEN: ContextVar[frozenset[str] | None] = ContextVar("visible_namespaces", default=None)


def enter(identity: Identity) -> None:
    """Let the rest of this call see only the namespaces of an identity."""
    _SEEN.set(identity.namespaces)


def visible() -> frozenset[str] | None:
    """Return the namespaces this call sees; None is all of them."""
    return _SEEN.get()


def require(namespace: str) -> None:
    """Raise ``PermissionDenied`` unless this call sees the namespace; whether it exists is not told."""
    seen = _SEEN.get()
    if seen is not None and namespace not in seen:
        raise PermissionDenied(
            f"the token does not reach namespace {namespace}; ask for one that does, or name another namespace",
            namespace=namespace,
        )

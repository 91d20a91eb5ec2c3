"""The token file's own form: names, scopes, namespaces, times and digests, never a secret."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tonnage.access import Identity
from tonnage.errors import FieldViolation, InvalidInput, Unauthenticated, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PREFIX: Final = "tng_"
_SECRET_BYTES: Final = 32
_LARGEST_FILE_BYTES: Final = 16 << 20

Scope = Literal["plan", "read", "ingest", "admin"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$")]
Namespace = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]


class Token(BaseModel):
    """One token. A secret has 256 random bits, so one round of SHA-256 hides it as well as a slow hash would."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1)]
    namespaces: tuple[Namespace, ...] | None = Field(None, description="None is all of them.")
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None

    def state(self, now: datetime) -> Literal["live", "expired", "revoked"]:
        """Tell whether the token still opens anything."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "live"


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    tokens: tuple[Token, ...]


def digest_of(secret: str) -> str:
    """Return what is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class TokenBook:
    """All tokens of a file, by digest."""

    tokens: tuple[Token, ...]
    by_digest: Mapping[str, tuple[Token, Identity]]

    @classmethod
    def of(cls, tokens: tuple[Token, ...]) -> TokenBook:
        """Return the book of some tokens."""
        return cls(tokens, {token.sha256: (token, _identity(token)) for token in tokens})

    @classmethod
    def from_file(cls, path: Path) -> TokenBook:
        """Read a file; raise ``InvalidInput`` with the place that cannot be used. No secret stands in it."""
        try:
            with path.open("rb") as file:
                text = file.read(_LARGEST_FILE_BYTES + 1)
        except OSError as error:
            cure = "make one with tonnage token create"
            raise InvalidInput.field("tokens_file", str(path), f"cannot be read: {error.strerror}", cure) from error
        if len(text) > _LARGEST_FILE_BYTES:
            raise InvalidInput.field("tokens_file", str(path), "is larger than 16 MiB", "revoke and remove old tokens")
        try:
            tokens = _File.model_validate_json(text).tokens
        except ValidationError as error:
            raise _unusable(path, error) from error
        names = [token.name for token in tokens]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InvalidInput.field("tokens_file", twice, "is the name of two tokens", "rename one")
        return cls.of(tokens)

    def to_json(self) -> bytes:
        """Return the file's bytes."""
        rows: list[dict[str, Any]] = [token.model_dump(mode="json", exclude_none=True) for token in self.tokens]
        return json.dumps({"version": 1, "tokens": rows}, indent=2).encode() + b"\n"

    def identity(self, secret: str, now: datetime) -> Identity | None:
        """Return whose secret it is, or None; raise ``Unauthenticated`` when it has expired or was revoked.

        A dictionary lookup on the digest: how long it takes tells nothing about the secrets.
        """
        found = self.by_digest.get(digest_of(secret))
        if found is None:
            return None
        token, identity = found
        state = token.state(now)
        if state != "live":
            raise Unauthenticated(f"the token {token.name} is {state}; make another with tonnage token create")
        return identity

    def create(
        self,
        name: str,
        scopes: tuple[str, ...],
        namespaces: tuple[str, ...] | None,
        *,
        now: datetime,
        expires: datetime | None = None,
    ) -> tuple[TokenBook, str]:
        """Return the book with one token more, and its secret, which stands nowhere else."""
        if any(token.name == name for token in self.tokens):
            raise InvalidInput.field("name", name, "is taken", "choose another name, or revoke that token")
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        fields = {"name": name, "sha256": digest_of(secret), "scopes": scopes, "namespaces": namespaces}
        try:
            token = Token.model_validate({**fields, "created": now, "expires": expires})
        except ValidationError as error:
            raise InvalidInput("; ".join(str(item) for item in _violations(error))) from error
        return TokenBook.of((*self.tokens, token)), secret

    def revoke(self, name: str, now: datetime) -> TokenBook:
        """Return the book with one token revoked; raise ``InvalidInput`` when there is none of that name."""
        if all(token.name != name for token in self.tokens):
            raise InvalidInput.field("name", name, "is no token here", "see tonnage token list")
        changed = (
            token.model_copy(update={"revoked": now}) if token.name == name and token.revoked is None else token
            for token in self.tokens
        )
        return TokenBook.of(tuple(changed))


def _identity(token: Token) -> Identity:
    namespaces = None if token.namespaces is None else frozenset(token.namespaces)
    return Identity(token.name, frozenset(token.scopes), namespaces)


def _violations(error: ValidationError) -> list[FieldViolation]:
    return [
        FieldViolation(".".join(map(str, item["loc"])), shown(item["input"]), item["msg"], "see docs/operations.md")
        for item in error.errors(include_url=False)
    ]


def _unusable(path: Path, error: ValidationError) -> InvalidInput:
    """Return the error of a file, with the first place and without its text."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the whole"
    return InvalidInput.field("tokens_file", str(path), f"{place}: {first['msg']}", "see docs/operations.md")


def utc_now() -> datetime:
    """Return the time tokens expire by."""
    return datetime.now(UTC)

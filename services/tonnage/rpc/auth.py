"""The bearer check: one token, compared in constant time."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SCHEME: Final = "bearer "
SHORTEST_TOKEN: Final = 16
# Probes of a platform carry no token, and health tells nothing but up or down.
OPEN_METHODS: Final = ("/grpc.health.v1.Health/",)


@dataclass(frozen=True, slots=True)
class BearerCheck:
    """Lets a call pass when its ``authorization`` metadata holds the token."""

    token: str = field(repr=False)

    @classmethod
    def from_file(cls, path: Path) -> BearerCheck:
        """Read the token from a file, surrounding white space dropped.

        Raises ``InvalidInput`` when the file cannot be read or the token is too short to be one.
        """
        try:
            token = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput.field("token_file", str(path), f"cannot be read: {error}", "name a text file") from error
        if len(token) < SHORTEST_TOKEN or not token.isprintable() or not token.isascii():
            cure = f"put one line of at least {SHORTEST_TOKEN} printable ASCII characters into it"
            raise InvalidInput.field("token_file", str(path), "holds no usable token", cure)
        return cls(token)

    def check(self, method: str, metadata: Iterable[tuple[str, str | bytes]]) -> None:
        """Raise ``Unauthenticated`` unless the method is open or the token is there."""
        if method.startswith(OPEN_METHODS):
            return
        given = next((value for key, value in metadata if key == "authorization"), None)
        if given is None:
            raise Unauthenticated("the call carries no token; send metadata 'authorization: Bearer TOKEN'")
        text = given if isinstance(given, str) else given.decode("utf-8", "replace")
        matches = hmac.compare_digest(text[len(_SCHEME) :].encode(), self.token.encode())
        if not text.lower().startswith(_SCHEME) or not matches:
            raise Unauthenticated("the token is not known here; check the token file of server and client")

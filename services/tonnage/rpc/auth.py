"""One shared token, with all rights, compared in constant time."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

SHORTEST_TOKEN: Final = 16


@dataclass(frozen=True, slots=True)
class BearerCheck:
    """Knows the token."""

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

    def matches(self, secret: str) -> bool:
        """Tell, in constant time, whether it is the token."""
        return hmac.compare_digest(secret.encode("utf-8", "replace"), self.token.encode())

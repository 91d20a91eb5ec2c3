"""One call while it runs, and the id it is known by."""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.message import Message

    # A message, or one that is bytes already.
    Wire = Message | bytes

REQUEST_ID_KEY: Final = "x-request-id"
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
# A number behind what no other process has: a new id costs a call less than a random one.
_OF_PROCESS: Final = uuid.uuid4().hex[:20]
_NUMBERS: Final = count(1)


@dataclass(slots=True)
class Call:
    """One call while it runs; sizes in bytes on the wire, before framing."""

    method: str
    request_id: str
    peer: str
    metadata: Iterable[tuple[str, str | bytes]]
    started_s: float = field(default_factory=time.perf_counter)
    request_bytes: int = 0
    request_count: int = 0
    response_bytes: int = 0
    response_count: int = 0
    identity: str = ""
    is_counted: bool = False

    def took(self, message: Wire) -> Wire:
        """Count a request message."""
        self.request_bytes += _size_bytes(message)
        self.request_count += 1
        return message

    def gave(self, message: Wire) -> int:
        """Count a response message; return its size in bytes."""
        size_bytes = _size_bytes(message)
        self.response_bytes += size_bytes
        self.response_count += 1
        return size_bytes


def _size_bytes(message: Wire) -> int:
    return len(message) if isinstance(message, bytes) else message.ByteSize()


def request_id_of(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """Return the caller's ``x-request-id`` when it is a readable one, else a new id of 32 hexadecimal digits."""
    for key, value in metadata:
        if key == REQUEST_ID_KEY and isinstance(value, str) and _REQUEST_ID.fullmatch(value):
            return value
    return f"{_OF_PROCESS}{next(_NUMBERS):012x}"

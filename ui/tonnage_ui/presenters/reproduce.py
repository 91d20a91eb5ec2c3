"""What asks the same again elsewhere: a command line, a grpcurl line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.protobuf import json_format

if TYPE_CHECKING:
    from google.protobuf.message import Message


@dataclass(frozen=True, slots=True)
class Call:
    """A call as a user of the command line or of gRPC makes it; ``method`` is "Service/Method"."""

    method: str
    target: str
    command: str


def grpcurl(method: str, request: Message, target: str) -> str:
    """Return the line that sends a request to a server with reflection."""
    body = json_format.MessageToJson(request, preserving_proto_field_name=True, indent=None)
    return f"grpcurl -plaintext -d {shlex.quote(body)} {target} tonnage.v1.{method}"

"""What asks the same again elsewhere: JSON, a command line, a grpcurl line."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from google.protobuf import json_format

if TYPE_CHECKING:
    from google.protobuf.message import Message


def grpcurl(method: str, request: Message, target: str) -> str:
    """Return the line that sends a request to a server with reflection."""
    body = json_format.MessageToJson(request, preserving_proto_field_name=True, indent=None)
    return f"grpcurl -plaintext -d {shlex.quote(body)} {target} tonnage.v1.{method}"

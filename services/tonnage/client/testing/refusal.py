"""Ending a fake call as a server of ours does: status, reason, fields, request id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import grpc

from tonnage.client import wire
from tonnage.client.errors import REQUEST_ID_KEY

if TYPE_CHECKING:
    from collections.abc import Callable


class Refused(Exception):
    """What a fake, or a test's own answer, raises to end a call."""

    def __init__(self, code: grpc.StatusCode, reason: str, message: str, **context: str) -> None:
        super().__init__(message)
        self.code = code
        self.details = wire.Details(reason=reason, context=context)
        self.message = message

    @classmethod
    def field(cls, path: str, problem: str, *, reason: str = "INVALID_INPUT") -> Refused:
        """Return the refusal of one field."""
        made = cls(grpc.StatusCode.INVALID_ARGUMENT, reason, f"{path}: {problem}", field=path)
        made.details = wire.Details(reason=reason, context={"field": path}, violations=(wire.Violation(path, problem),))
        return made

    @classmethod
    def not_stored(cls, kind: str, name: str) -> Refused:
        """Return the refusal of a name nothing has."""
        return cls(grpc.StatusCode.NOT_FOUND, "NOT_STORED", f"no such {kind}: {name}", kind=kind, name=name)


class _Status(NamedTuple):
    code: grpc.StatusCode
    details: str
    trailing_metadata: tuple[tuple[str, str | bytes], ...]


def refusing(method: Callable[[Any, Any], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
    """Return a handler that ends the call where the method raises ``Refused``."""

    def handle(request: Any, context: grpc.ServicerContext) -> Any:  # noqa: ANN401 -- a message or an iterator of them
        try:
            return method(request, context)
        except Refused as refusal:
            number: int = refusal.code.value[0]
            data = wire.encode_details(number, refusal.message, refusal.details)
            trailers = ((wire.STATUS_KEY, data), (REQUEST_ID_KEY, "fake"))
            context.abort_with_status(cast("grpc.Status", _Status(refusal.code, refusal.message, trailers)))

    return handle

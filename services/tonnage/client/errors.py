"""What a call can end in, apart from an answer.

ClientError
├── BadInput            INVALID_ARGUMENT, OUT_OF_RANGE: ``violations`` name the fields
├── NotFound            NOT_FOUND
├── Conflict            ALREADY_EXISTS, ABORTED
├── NotReady            FAILED_PRECONDITION
├── NotAvailable        UNIMPLEMENTED
├── Denied              UNAUTHENTICATED, PERMISSION_DENIED
├── TooLarge            RESOURCE_EXHAUSTED, of one message or upload
├── Overloaded          RESOURCE_EXHAUSTED, for now: ``retry_after_s``
├── Cancelled           CANCELLED
├── Unavailable         UNAVAILABLE
│   └── DeadlineExceeded  DEADLINE_EXCEEDED
└── ServerFault         INTERNAL, UNKNOWN, DATA_LOSS
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

from google.protobuf.message import DecodeError

from tonnage.client import wire

if TYPE_CHECKING:
    from collections.abc import Iterable

    import grpc

    from tonnage.client.wire import Violation

REQUEST_ID_KEY: Final = "x-request-id"


class ClientError(Exception):
    """Base of the tree.

    ``code`` is gRPC's name, ``reason`` ours (``error_reason.proto``), ``context`` what the message
    mentions; ``request_id`` finds the call in the server's log. All but ``message`` may be empty.
    """

    def __init__(
        self, message: str, *, code: str = "", details: wire.Details | None = None, request_id: str = ""
    ) -> None:
        super().__init__(message)
        known = details or wire.Details()
        self.message = message
        self.code = code
        self.reason = known.reason
        self.context = known.context
        self.violations: tuple[Violation, ...] = known.violations
        self.retry_after_s = known.retry_after_s
        self.request_id = request_id


class BadInput(ClientError):
    """A field holds what it may not hold."""

    @classmethod
    def field(cls, path: str, description: str) -> BadInput:
        """Return the error of one field, found before anything was sent."""
        found = wire.Details(reason="INVALID_INPUT", violations=(wire.Violation(path, description),))
        return cls(f"{path}: {description}", code="INVALID_ARGUMENT", details=found)


class NotFound(ClientError):
    """Nothing has that name."""


class Conflict(ClientError):
    """Something else is already there."""


class NotReady(ClientError):
    """The server's state forbids it for now."""


class NotAvailable(ClientError):
    """The server's release does not do that."""


class Denied(ClientError):
    """The token is missing, unknown or has not the scope."""


class TooLarge(ClientError):
    """A message or an upload is larger than the server takes."""


class Overloaded(ClientError):
    """Too much at once; ``retry_after_s`` says when to come back, where the server knows."""


class Cancelled(ClientError):
    """The call was cancelled."""


class Unavailable(ClientError):
    """Nobody answers at the target, or the server cannot answer now."""


class DeadlineExceeded(Unavailable):
    """No answer came in time."""


class ServerFault(ClientError):
    """A fault of the server's own; its log knows more under ``request_id``."""


_CLASSES: Final[dict[str, type[ClientError]]] = {
    "INVALID_ARGUMENT": BadInput,
    "OUT_OF_RANGE": BadInput,
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": Conflict,
    "ABORTED": Conflict,
    "FAILED_PRECONDITION": NotReady,
    "UNIMPLEMENTED": NotAvailable,
    "UNAUTHENTICATED": Denied,
    "PERMISSION_DENIED": Denied,
    "RESOURCE_EXHAUSTED": TooLarge,
    "CANCELLED": Cancelled,
    "UNAVAILABLE": Unavailable,
    "DEADLINE_EXCEEDED": DeadlineExceeded,
    "INTERNAL": ServerFault,
    "UNKNOWN": ServerFault,
    "DATA_LOSS": ServerFault,
}
_BY_REASON: Final[dict[str, type[ClientError]]] = {"OVERLOADED": Overloaded}


class _Failed(Protocol):
    """What both kinds of channel raise."""

    def code(self) -> grpc.StatusCode: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> Iterable[tuple[str, str | bytes]] | None: ...


def decode(error: grpc.RpcError, *, target: str) -> ClientError:
    """Return our error for gRPC's; ``target`` is named where nobody answered there."""
    failed = cast("_Failed", error)
    code = failed.code().name
    trailers = dict(failed.trailing_metadata() or ())
    details = _details(trailers.get(wire.STATUS_KEY))
    kind = _BY_REASON.get(details.reason) or _CLASSES[code]
    request_id = trailers.get(REQUEST_ID_KEY, "")
    text = failed.details() or code
    if issubclass(kind, Unavailable) and not details.reason:
        text = f"no answer from {target}: {text}"
    return kind(text, code=code, details=details, request_id=request_id if isinstance(request_id, str) else "")


def _details(data: str | bytes | None) -> wire.Details:
    if not isinstance(data, bytes):
        return wire.Details()
    try:
        return wire.decode_details(data)
    except DecodeError:
        # Something between us and the server wrote the trailer; status and message still stand.
        return wire.Details()

"""One table from error classes to gRPC codes, and the status details a client reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2

from tonnage import errors

if TYPE_CHECKING:
    from google.protobuf.message import Message

DOMAIN: Final = "tonnage"
DETAILS_KEY: Final = "grpc-status-details-bin"

CODES: Final[dict[type[errors.TonnageError], grpc.StatusCode]] = {
    errors.TonnageError: grpc.StatusCode.INTERNAL,
    errors.InvalidInput: grpc.StatusCode.INVALID_ARGUMENT,
    errors.UnknownFormat: grpc.StatusCode.INVALID_ARGUMENT,
    errors.AmbiguousFormat: grpc.StatusCode.INVALID_ARGUMENT,
    errors.MalformedReport: grpc.StatusCode.INVALID_ARGUMENT,
    errors.AmbiguousName: grpc.StatusCode.INVALID_ARGUMENT,
    errors.PageTokenStale: grpc.StatusCode.INVALID_ARGUMENT,
    errors.UnknownName: grpc.StatusCode.NOT_FOUND,
    errors.NotStored: grpc.StatusCode.NOT_FOUND,
    errors.RequestIdReused: grpc.StatusCode.ALREADY_EXISTS,
    errors.SameFileOtherLabels: grpc.StatusCode.ALREADY_EXISTS,
    errors.TooLarge: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.Overloaded: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.StoreUnavailable: grpc.StatusCode.UNAVAILABLE,
    errors.StoreLocked: grpc.StatusCode.UNAVAILABLE,
    errors.SchemaTooNew: grpc.StatusCode.FAILED_PRECONDITION,
    errors.StoreDamaged: grpc.StatusCode.DATA_LOSS,
    errors.DataVersionNotReached: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NotAvailable: grpc.StatusCode.UNIMPLEMENTED,
    errors.DeadlineExceeded: grpc.StatusCode.DEADLINE_EXCEEDED,
    errors.Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    errors.PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
}

# gRPC drops trailers beyond 8 KiB by chance, and always beyond 16; message and details share them.
_LARGEST_TRAILERS_BYTES: Final = 7_000
_LIMITS: Final = ((2_000, 400, 16), (900, 160, 8), (400, 80, 4), (200, 40, 1))


def code_of(error: errors.TonnageError) -> grpc.StatusCode:
    """Return the code of an error; a class without a row of its own takes its parent's."""
    return next(CODES[kind] for kind in type(error).__mro__ if kind in CODES)


def status_of(error: errors.TonnageError, request_id: str) -> status_pb2.Status:
    """Return the status of an error, cut so that the trailers arrive.

    Details: ``ErrorInfo`` with reason and context, ``BadRequest`` with the fields,
    ``RetryInfo`` where a hint is given, ``RequestInfo`` with the request's id.
    """
    for text_limit, value_limit, field_limit in _LIMITS:
        status = _status(error, request_id, text_limit, value_limit, field_limit)
        if _trailer_bytes(status) <= _LARGEST_TRAILERS_BYTES:
            break
    return status


def number_of(code: grpc.StatusCode) -> int:
    """Return the code's number on the wire."""
    return int(code.value[0])


def _trailer_bytes(status: status_pb2.Status) -> int:
    details_bytes: int = status.ByteSize()
    return len(quote(status.message)) + details_bytes * 4 // 3


def _status(
    error: errors.TonnageError, request_id: str, text_limit: int, value_limit: int, field_limit: int
) -> status_pb2.Status:
    details: list[Message] = [_error_info(error, value_limit)]
    if isinstance(error, errors.InvalidInput) and error.violations:
        details.append(_bad_request(error, value_limit, field_limit))
    if isinstance(error, errors.Overloaded) and error.context.get("retry_after_ms", "").isdecimal():
        details.append(_retry_info(int(error.context["retry_after_ms"])))
    details.append(error_details_pb2.RequestInfo(request_id=request_id))
    status = status_pb2.Status(code=number_of(code_of(error)), message=_cut(error.message, text_limit))
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    return status


def _error_info(error: errors.TonnageError, limit: int) -> error_details_pb2.ErrorInfo:
    metadata = {key: _cut(value, limit) for key, value in list(error.context.items())[:16]}
    return error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=metadata)


def _bad_request(error: errors.InvalidInput, limit: int, field_limit: int) -> error_details_pb2.BadRequest:
    violations = [
        error_details_pb2.BadRequest.FieldViolation(
            field=_cut(item.path, limit),
            description=_cut(f"{item.problem}{_found(item)}; {item.cure}", limit),
            reason=error.reason,
        )
        for item in error.violations[:field_limit]
    ]
    return error_details_pb2.BadRequest(field_violations=violations)


def _found(item: errors.FieldViolation) -> str:
    return f" (found {item.value})" if item.value else ""


def _retry_info(delay_ms: int) -> error_details_pb2.RetryInfo:
    delay = duration_pb2.Duration()
    delay.FromMilliseconds(delay_ms)
    return error_details_pb2.RetryInfo(retry_delay=delay)


def _cut(text: str, limit: int) -> str:
    whole = text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= limit else whole[: limit - 1] + "…"

"""The few foreign messages an error or a health check carries, in a pool of their own.

A bare install has neither googleapis-common-protos nor grpcio-health-checking, and where they are
present their names must not meet ours: the fields stand here by number under a private package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE: Final = "tonnage.client.wire"
_Field = descriptor_pb2.FieldDescriptorProto
_TYPES: Final = {"text": _Field.TYPE_STRING, "bytes": _Field.TYPE_BYTES, "int": _Field.TYPE_INT64}

# Numbers as in google/rpc/{status,error_details}.proto, google/protobuf/{any,duration}.proto and
# grpc/health/v1/health.proto. A leading "*" is a repeated field; a kind that is no scalar is a message.
_MESSAGES: Final[dict[str, dict[str, tuple[int, str]]]] = {
    "Packed": {"type_url": (1, "text"), "value": (2, "bytes")},
    "Status": {"code": (1, "int"), "message": (2, "text"), "*details": (3, "Packed")},
    "Pair": {"key": (1, "text"), "value": (2, "text")},
    "ErrorInfo": {"reason": (1, "text"), "domain": (2, "text"), "*metadata": (3, "Pair")},
    "FieldViolation": {"field": (1, "text"), "description": (2, "text")},
    "BadRequest": {"*field_violations": (1, "FieldViolation")},
    "Duration": {"seconds": (1, "int"), "nanos": (2, "int")},
    "RetryInfo": {"retry_delay": (1, "Duration")},
    "HealthCheckRequest": {"service": (1, "text")},
    "HealthCheckResponse": {"status": (1, "int")},
}
_SERVING: Final = 1
_NANOS_PER_S: Final = 1e9


def _describe(message: descriptor_pb2.DescriptorProto, fields: Mapping[str, tuple[int, str]]) -> None:
    for name, (number, kind) in fields.items():
        entry = message.field.add(name=name.lstrip("*"), number=number)
        entry.label = _Field.LABEL_REPEATED if name.startswith("*") else _Field.LABEL_OPTIONAL
        entry.type = _TYPES.get(kind, _Field.TYPE_MESSAGE)
        if kind not in _TYPES:
            entry.type_name = f".{_PACKAGE}.{kind}"


def _build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="tonnage/client/wire.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        _describe(file.message_type.add(name=name), fields)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


_CLASSES: Final = _build()

STATUS_KEY: Final = "grpc-status-details-bin"
HEALTH_METHOD: Final = "/grpc.health.v1.Health/Check"


@dataclass(frozen=True, slots=True)
class Violation:
    """One field a server refused: its path, and what is wrong with how to mend it."""

    field: str
    description: str

    def __str__(self) -> str:
        """Return the line a user reads."""
        return f"{self.field}: {self.description}" if self.field else self.description


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What a server attached to a status; empty where it attached nothing."""

    reason: str = ""
    context: dict[str, str] = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()
    retry_after_s: float | None = None


def decode_details(data: bytes) -> Details:
    """Read the bytes of ``grpc-status-details-bin``; raises protobuf's DecodeError on foreign bytes."""
    parts = {item.type_url.rpartition("/")[2]: item.value for item in _CLASSES["Status"].FromString(data).details}
    info = _CLASSES["ErrorInfo"].FromString(parts.get("google.rpc.ErrorInfo", b""))
    refused = _CLASSES["BadRequest"].FromString(parts.get("google.rpc.BadRequest", b""))
    retry = _CLASSES["RetryInfo"].FromString(parts.get("google.rpc.RetryInfo", b""))
    delay = retry.retry_delay
    return Details(
        reason=info.reason,
        context={pair.key: pair.value for pair in info.metadata},
        violations=tuple(Violation(item.field, item.description) for item in refused.field_violations),
        retry_after_s=delay.seconds + delay.nanos / _NANOS_PER_S if retry.HasField("retry_delay") else None,
    )


def encode_details(code: int, message: str, details: Details) -> bytes:
    """Return what ``decode_details`` reads, as a server would send it."""
    status = _CLASSES["Status"](code=code, message=message)
    pairs = [_CLASSES["Pair"](key=key, value=value) for key, value in sorted(details.context.items())]
    _pack(status, "ErrorInfo", _CLASSES["ErrorInfo"](reason=details.reason, domain="tonnage", metadata=pairs))
    if details.violations:
        rows = [
            _CLASSES["FieldViolation"](field=item.field, description=item.description) for item in details.violations
        ]
        _pack(status, "BadRequest", _CLASSES["BadRequest"](field_violations=rows))
    if details.retry_after_s is not None:
        seconds, rest = divmod(details.retry_after_s, 1)
        delay = _CLASSES["Duration"](seconds=int(seconds), nanos=int(rest * _NANOS_PER_S))
        _pack(status, "RetryInfo", _CLASSES["RetryInfo"](retry_delay=delay))
    data: bytes = status.SerializeToString()
    return data


def _pack(status: Any, name: str, message: Any) -> None:  # noqa: ANN401 -- classes made at run time have no static type
    status.details.add(type_url=f"type.googleapis.com/google.rpc.{name}", value=message.SerializeToString())


def encode_health_request(service: str = "") -> bytes:
    """Return a health question about one service, or about the server."""
    data: bytes = _CLASSES["HealthCheckRequest"](service=service).SerializeToString()
    return data


def says_serving(data: bytes) -> bool:
    """Tell whether a health answer says SERVING."""
    status: int = _CLASSES["HealthCheckResponse"].FromString(data).status
    return status == _SERVING

"""The few foreign messages an error or a health check carries, in a pool of their own.

A bare install has neither googleapis-common-protos nor grpcio-health-checking, and where they are
present their names must not meet ours: the fields stand here by number under a private package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.message import Message

_PACKAGE: Final = "tonnage.client.wire"
_Field = descriptor_pb2.FieldDescriptorProto
_TEXT: Final = _Field.TYPE_STRING
_BYTES: Final = _Field.TYPE_BYTES
_INT32: Final = _Field.TYPE_INT32
_INT64: Final = _Field.TYPE_INT64

# Numbers as in google/rpc/status.proto, google/rpc/error_details.proto, google/protobuf/duration.proto
# and grpc/health/v1/health.proto; a leading "*" is a repeated field.
_MESSAGES: Final[dict[str, dict[str, tuple[int, int | str]]]] = {
    "Packed": {"type_url": (1, _TEXT), "value": (2, _BYTES)},
    "Status": {"code": (1, _INT32), "message": (2, _TEXT), "*details": (3, "Packed")},
    "Pair": {"key": (1, _TEXT), "value": (2, _TEXT)},
    "ErrorInfo": {"reason": (1, _TEXT), "domain": (2, _TEXT), "*metadata": (3, "Pair")},
    "FieldViolation": {"field": (1, _TEXT), "description": (2, _TEXT)},
    "BadRequest": {"*field_violations": (1, "FieldViolation")},
    "Duration": {"seconds": (1, _INT64), "nanos": (2, _INT32)},
    "RetryInfo": {"retry_delay": (1, "Duration")},
    "HealthCheckRequest": {"service": (1, _TEXT)},
    "HealthCheckResponse": {"status": (1, _INT32)},
}


def _describe(message: descriptor_pb2.DescriptorProto, fields: Mapping[str, tuple[int, int | str]]) -> None:
    for name, (number, kind) in fields.items():
        field = message.field.add(name=name.lstrip("*"), number=number)
        field.label = _Field.LABEL_REPEATED if name.startswith("*") else _Field.LABEL_OPTIONAL
        if isinstance(kind, str):
            field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
        else:
            field.type = _Field.Type.Name(kind) and kind  # type: ignore[assignment]


def _build() -> dict[str, type[Message]]:
    file = descriptor_pb2.FileDescriptorProto(name="tonnage/client/wire.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        _describe(file.message_type.add(name=name), fields)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


_CLASSES: Final = _build()

"""Every enum of the wire against its domain twin, in one place."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from tonnage.domain.finding import Origin, Severity
from tonnage.domain.measurement import ArrivalKind, TestState
from tonnage.errors import InvalidInput
from tonnage.v1 import finding_pb2, run_pb2

if TYPE_CHECKING:
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper

E = TypeVar("E", bound=Enum)


class EnumMap(Generic[E]):
    """Pairs the members of a domain enum with the wire's numbers; number 0 is "not stated"."""

    def __init__(self, domain: type[E], wire: _EnumTypeWrapper[Any], prefix: str) -> None:
        self._wire = wire
        self._prefix = prefix
        self._numbers: dict[E, int] = {member: wire.Value(f"{prefix}_{member.name}") for member in domain}
        self._members: dict[int, E] = {number: member for member, number in self._numbers.items()}

    def encode(self, member: E | None) -> Any:  # noqa: ANN401 -- the stubs give each enum its own value type
        """Return the number on the wire; None is 0."""
        return 0 if member is None else self._numbers[member]

    def decode(self, number: int, path: str) -> E | None:
        """Return the member, None for 0; raise ``InvalidInput`` for a number nobody defined."""
        if number == 0:
            return None
        member = self._members.get(number)
        if member is None:
            known = ", ".join(sorted(name for name, value in self._wire.items() if value))
            raise InvalidInput.field(path, number, "is not a known value", f"use one of {known}")
        return member

    def decode_required(self, number: int, path: str) -> E:
        """Return the member; raise ``InvalidInput`` for 0 too."""
        member = self.decode(number, path)
        if member is None:
            known = ", ".join(sorted(name for name, value in self._wire.items() if value))
            raise InvalidInput.field(path, None, "is required and absent", f"use one of {known}")
        return member


SEVERITY: Final = EnumMap(Severity, finding_pb2.Severity, "SEVERITY")
ORIGIN: Final = EnumMap(Origin, finding_pb2.Origin, "ORIGIN")
ARRIVAL_KIND: Final = EnumMap(ArrivalKind, run_pb2.ArrivalKind, "ARRIVAL_KIND")
TEST_STATE: Final = EnumMap(TestState, run_pb2.TestState, "TEST_STATE")

"""The error tree; it knows nothing of gRPC, and ``rpc/status.py`` gives each class its code.

TonnageError
├── InvalidInput
│   ├── UnknownFormat
│   ├── AmbiguousFormat
│   ├── MalformedReport
│   ├── AmbiguousName
│   └── PageTokenStale
├── UnknownName
├── NotStored
├── RequestIdReused
├── SameFileOtherLabels
├── TooLarge
├── Overloaded
├── StoreUnavailable
│   └── StoreLocked
├── SchemaTooNew
├── StoreDamaged
├── DataVersionNotReached
├── NotAvailable
├── DeadlineExceeded
├── Unauthenticated
└── PermissionDenied
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    from types import TracebackType


class TonnageError(Exception):
    """Base of the tree; ``context`` carries what the message mentions."""

    reason: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, **context: object) -> None:
        super().__init__(message)
        self.message = message
        self.context = {key: str(value) for key, value in context.items()}


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field that holds what it may not hold.

    ``path`` is dotted, with indices in brackets; ``value`` is what was found, as text,
    cut to a readable length; ``cure`` says what would be accepted.
    """

    path: str
    value: str
    problem: str
    cure: str

    def __str__(self) -> str:
        """Return the sentence a user reads."""
        found = f" (found {self.value})" if self.value else ""
        return f"{self.path or 'request'}: {self.problem}{found}; {self.cure}"


_LONGEST_SHOWN_VALUE = 120


def shown(value: object) -> str:
    """Return a value as a message may show it: one line, bounded."""
    text = value if isinstance(value, str) else repr(value)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SHOWN_VALUE else line[: _LONGEST_SHOWN_VALUE - 1] + "…"


class InvalidInput(TonnageError):
    """A field holds a value it may not hold."""

    reason = "INVALID_INPUT"

    def __init__(self, message: str, *, violations: tuple[FieldViolation, ...] = (), **context: object) -> None:
        super().__init__(message, **context)
        self.violations = violations

    @classmethod
    def field(cls, path: str, value: object, problem: str, cure: str) -> Self:
        """Return the error of one field."""
        violation = FieldViolation(path, shown(value) if value is not None else "", problem, cure)
        return cls(str(violation), violations=(violation,), field=path)

    def under(self, prefix: str) -> InvalidInput:
        """Return the same error, seen from a message that holds the field under ``prefix``."""
        moved = tuple(
            FieldViolation(_join(prefix, item.path), item.value, item.problem, item.cure) for item in self.violations
        )
        if not moved:
            return self
        self.violations = moved
        self.message = "; ".join(str(item) for item in moved)
        self.context["field"] = moved[0].path
        self.args = (self.message,)
        return self


def _join(prefix: str, path: str) -> str:
    if not path:
        return prefix
    return f"{prefix}{path}" if path.startswith("[") else f"{prefix}.{path}"


class at:  # noqa: N801 -- reads as a preposition: ``with at("workload"):``
    """Prefix the path of any ``InvalidInput`` raised inside."""

    __slots__ = ("_prefix",)

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __enter__(self) -> None:
        """Start; costs nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Add the prefix to the error passing through."""
        if isinstance(error, InvalidInput):
            error.under(self._prefix)


class UnknownFormat(InvalidInput):
    """No reader recognises the file."""

    reason = "UNKNOWN_FORMAT"


class AmbiguousFormat(InvalidInput):
    """Several readers recognise the file."""

    reason = "AMBIGUOUS_FORMAT"


class MalformedReport(InvalidInput):
    """The file is of a known tool and broken."""

    reason = "MALFORMED_REPORT"


class AmbiguousName(InvalidInput):
    """A name that means several things we know."""

    reason = "AMBIGUOUS_NAME"


class PageTokenStale(InvalidInput):
    """A page token of another query or data version."""

    reason = "PAGE_TOKEN_STALE"


class UnknownName(TonnageError):
    """A name that means no model, accelerator or engine we know."""

    reason = "UNKNOWN_NAME"


class NotStored(TonnageError):
    """No such run, report or request."""

    reason = "NOT_STORED"


class RequestIdReused(TonnageError):
    """The request id was used with another body."""

    reason = "REQUEST_ID_REUSED"


class SameFileOtherLabels(TonnageError):
    """The same bytes are stored with other labels."""

    reason = "SAME_FILE_OTHER_LABELS"


class TooLarge(TonnageError):
    """The upload or message is larger than the server takes."""

    reason = "TOO_LARGE"


class Overloaded(TonnageError):
    """Too much at once; try again after the hint."""

    reason = "OVERLOADED"


class StoreUnavailable(TonnageError):
    """The store cannot be reached or written now."""

    reason = "STORE_UNAVAILABLE"


class StoreLocked(StoreUnavailable):
    """Another process writes this store."""

    reason = "STORE_LOCKED"


class SchemaTooNew(TonnageError):
    """The store's schema is newer than this release."""

    reason = "SCHEMA_TOO_NEW"


class StoreDamaged(TonnageError):
    """Stored bytes do not match their checksum."""

    reason = "STORE_DAMAGED"


class DataVersionNotReached(TonnageError):
    """The replica did not reach the asked data version in time."""

    reason = "DATA_VERSION_NOT_REACHED"


class NotAvailable(TonnageError):
    """This release does not do that yet."""

    reason = "NOT_AVAILABLE"


class DeadlineExceeded(TonnageError):
    """The caller's time ran out before the answer."""

    reason = "DEADLINE_EXCEEDED"


class Unauthenticated(TonnageError):
    """A token is missing, unknown or expired."""

    reason = "UNAUTHENTICATED"


class PermissionDenied(TonnageError):
    """The identity lacks the scope."""

    reason = "PERMISSION_DENIED"

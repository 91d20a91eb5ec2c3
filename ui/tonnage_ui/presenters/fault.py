"""A failed call as a state with something to do: never an empty table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.client import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from tonnage.client import ClientError
    from tonnage_ui.words import Words

_KINDS: Final[tuple[tuple[type[ClientError], str], ...]] = (
    (errors.DeadlineExceeded, "deadline"),
    (errors.Unavailable, "unavailable"),
    (errors.BadInput, "bad_input"),
    (errors.NotFound, "not_found"),
    (errors.Conflict, "conflict"),
    (errors.NotReady, "not_ready"),
    (errors.NotAvailable, "not_available"),
    (errors.Denied, "denied"),
    (errors.TooLarge, "too_large"),
    (errors.Overloaded, "overloaded"),
    (errors.Cancelled, "cancelled"),
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong, in the reader's words, and what to do.

    ``fields`` pairs a form label (or the request's path) with what is wrong there.
    ``is_outage`` tells whether asking again may help.
    """

    title: str
    message: str
    advice: str
    fields: tuple[tuple[str, str], ...]
    request_id: str
    is_outage: bool


def fault(
    error: ClientError, target: str, words: Words, key_of_field: Callable[[str], str | None] = lambda _: None
) -> Fault:
    """Return the state for an error of a call to ``target``."""
    kind = next((name for known, name in _KINDS if isinstance(error, known)), "server_fault")
    return Fault(
        title=words(f"fault.{kind}_title"),
        message=error.message,
        advice=words(f"fault.{kind}_advice", target=target),
        fields=tuple(
            (_label(violation.field, words, key_of_field), violation.description) for violation in error.violations
        ),
        request_id=error.request_id,
        is_outage=isinstance(error, errors.Unavailable | errors.Overloaded),
    )


def _label(path: str, words: Words, key_of_field: Callable[[str], str | None]) -> str:
    key = key_of_field(path)
    if key is not None and words.has(f"field.{key}"):
        return f"{words(f'field.{key}')} ({path})"
    return path

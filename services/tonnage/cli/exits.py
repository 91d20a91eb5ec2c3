"""Exit statuses, and how an error is told: ``error: field: problem; cure`` on stderr, never a traceback."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import TYPE_CHECKING

from tonnage.client import errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tonnage.cli.processes.child import NotRunning


class Exit(IntEnum):
    """What a command ends with."""

    OK = 0
    # The answer is "no": not feasible, does not fit, over the limit, nothing known.
    NO = 1
    BAD_INPUT = 2
    UNREACHABLE = 3
    # A fault of the command itself; never means "no".
    FAULT = 70
    INTERRUPTED = 130


_STATUS: dict[type[errors.ClientError], Exit] = {
    errors.Unavailable: Exit.UNREACHABLE,
    errors.NotReady: Exit.UNREACHABLE,
    errors.Overloaded: Exit.UNREACHABLE,
    errors.ServerFault: Exit.UNREACHABLE,
    errors.Cancelled: Exit.UNREACHABLE,
    errors.NotAvailable: Exit.UNREACHABLE,
    errors.BadInput: Exit.BAD_INPUT,
    errors.NotFound: Exit.BAD_INPUT,
    errors.Conflict: Exit.BAD_INPUT,
    errors.TooLarge: Exit.BAD_INPUT,
    errors.Denied: Exit.BAD_INPUT,
}


def status_of(error: errors.ClientError) -> Exit:
    """Return the exit status of an error; the nearest class above it decides."""
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def lines_of(error: errors.ClientError, flags: Mapping[str, str] | None = None) -> Iterable[str]:
    """Yield what is told of an error, one line a field; ``flags`` names the flag behind a request's path."""
    for violation in error.violations:
        flag = (flags or {}).get(violation.field)
        yield f"{violation} ({flag})" if flag else str(violation)
    if not error.violations:
        yield error.message
    if isinstance(error, errors.Unavailable) and not error.reason:
        yield "start the services with `tonnage serve`, or say where they are (TONNAGE_PLANNING, TONNAGE_INGEST)"
    if isinstance(error, errors.ServerFault) and error.request_id:
        yield f"the server's log knows more under request {error.request_id}"


def tell(lines: Iterable[str]) -> None:
    """Print error lines to stderr: the first names the error, the rest help."""
    for line in lines:
        print(f"error: {line}", file=sys.stderr)  # noqa: T201 -- this is what a command line is for


def tell_not_running(error: NotRunning) -> Exit:
    """Tell why the servers do not run, and return the status."""
    tell([str(error)])
    return Exit.BAD_INPUT if error.bad_settings else Exit.UNREACHABLE

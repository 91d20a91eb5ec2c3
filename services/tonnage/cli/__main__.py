"""The ``tonnage`` command: runs one command line and turns whatever comes into an exit status."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_MISSING: Final = 2
_FAULT: Final = 70
_INTERRUPTED: Final = 130


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its status."""
    sys.exit(status_of(sys.argv[1:] if args is None else args))


def status_of(args: Sequence[str]) -> int:
    """Run the command line and return its status; nothing is raised."""
    try:
        from tonnage.cli import app  # noqa: PLC0415 -- a bare install has no Typer, and is told so
    except ModuleNotFoundError as error:
        return _tell(f"{error.name} is not installed; install tonnage[cli]", _MISSING)
    from typer import Abort, TyperException  # noqa: PLC0415 -- the same

    try:
        return app.run(args)
    except TyperException as error:
        return _usage(error)
    except (KeyboardInterrupt, Abort):
        return _tell("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        # The reader went away; the rest has nowhere to go, and Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 -- the outermost frame; anything else is told, never traced
        return _failed(error)


def _usage(error: Exception) -> int:
    """Tell of a command line Typer refused."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        print(context.get_help() if context is not None else error)  # noqa: T201 -- help is what was asked for
        return 0
    hint = f"; try '{context.command_path} --help'" if context is not None else ""
    message = getattr(error, "format_message", lambda: str(error))()
    return _tell(f"{message.rstrip('.')}{hint}", _MISSING)


def _failed(error: Exception) -> int:
    from tonnage.cli import exits  # noqa: PLC0415 -- grpc loads only where a command got that far
    from tonnage.cli.flags.paths import FLAGS  # noqa: PLC0415 -- the same
    from tonnage.client import ClientError  # noqa: PLC0415 -- the same

    if isinstance(error, ClientError):
        exits.tell(exits.lines_of(error, FLAGS))
        return exits.status_of(error)
    if os.environ.get("TONNAGE_TRACEBACK"):
        raise error
    return _tell(f"a fault of the command: {type(error).__name__}: {error}; TONNAGE_TRACEBACK=1 shows where", _FAULT)


def _tell(message: str, status: int) -> int:
    print(f"error: {message}", file=sys.stderr)  # noqa: T201 -- this is what a command line is for
    return status


if __name__ == "__main__":
    main()

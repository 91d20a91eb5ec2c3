"""Structured logs: JSON lines on stderr."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Final, Protocol

import msgspec
import structlog

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

LEVELS: Final = ("debug", "info", "warning", "error")


class Log(Protocol):
    """What the servers ask of a logger: an event and its fields."""

    def debug(self, event: str, **fields: object) -> None:
        """Log what only a developer wants."""

    def info(self, event: str, **fields: object) -> None:
        """Log what happened."""

    def warning(self, event: str, **fields: object) -> None:
        """Log what deserves a look."""

    def error(self, event: str, **fields: object) -> None:
        """Log what failed; ``exc_info`` adds the stack."""


def configure(level: str = "info") -> None:
    """Send structured lines to stderr from ``level`` upwards."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        # One write a line; stderr is not buffered beyond it.
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _json(fields: object, **_options: object) -> str:
    """Return a line's fields as JSON; what JSON lacks as its ``repr``. A line a call is written, so its cost counts."""
    return msgspec.json.encode(fields, enc_hook=repr).decode()


class _Appended:
    """Adds lines to an open file, each by one write, so that processes may share it."""

    def __init__(self, number: int) -> None:
        self._number = number

    def info(self, line: str) -> None:
        os.write(self._number, line.encode() + b"\n")


def audit(path: Path) -> Log:
    """Return a logger that adds its lines to a file, one write a line, readable by its owner only."""
    try:
        number = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    except OSError as error:
        cure = "name a file in a folder you may write"
        raise InvalidInput.field("audit_file", str(path), f"cannot be written: {error.strerror}", cure) from error
    log: Log = structlog.wrap_logger(
        _Appended(number),
        processors=[
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    return log


def logger(service: str) -> Log:
    """Return a logger whose lines name the service."""
    log: Log = structlog.get_logger().bind(service=service)
    return log

"""Structured logs: JSON lines on stderr."""

from __future__ import annotations

import logging
import os
import sys
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol

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
        processors=[],
        wrapper_class=_lines_from(level),
        # One write a line; stderr is not buffered beyond it.
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )


def _lines_from(level: str) -> type[structlog.BoundLoggerBase]:
    """Return a logger that makes a line by one function; each call writes one, and a chain of them costs more."""

    class Lines(structlog.make_filtering_bound_logger(level)):  # type: ignore[misc]  # the class is made by the call
        def _proxy_to_logger(self, method_name: str, event: str | None = None, **event_kw: Any) -> None:  # noqa: ANN401 -- structlog's own signature
            self._logger.msg(_line(method_name, {**self._context, **event_kw, "event": event}))

    return Lines


def _line(level: str, fields: dict[str, Any]) -> bytes:
    if "request_id" not in fields:
        structlog.contextvars.merge_contextvars(None, level, fields)
    if fields.get("exc_info"):
        structlog.processors.format_exc_info(None, level, fields)
    fields["level"] = level
    fields["timestamp"] = _moment()
    return msgspec.json.encode(fields, enc_hook=repr)


def _moment() -> str:
    """Return now in UTC as ISO 8601, to the microsecond."""
    whole_s, rest_ns = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(whole_s)}.{rest_ns // 1000:06d}Z"


@lru_cache(maxsize=1)
def _second(whole_s: int) -> str:
    return datetime.fromtimestamp(whole_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _json(fields: object, **_options: object) -> str:
    """Return a line's fields as JSON; what JSON lacks as its ``repr``."""
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

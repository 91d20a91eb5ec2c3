"""Structured logs: JSON lines on stderr."""

from __future__ import annotations

import logging
import sys
from typing import Final, Protocol

import structlog

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
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def logger(service: str) -> Log:
    """Return a logger whose lines name the service."""
    log: Log = structlog.get_logger().bind(service=service)
    return log

"""Findings and evidence, the same under every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage.cli.output import UNKNOWN, table, word
from tonnage.client import messages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table


def findings(items: Iterable[messages.Finding], title: str = "Findings") -> list[Table]:
    """Return the findings, gravest first; nothing when there are none."""
    ordered = sorted(items, key=lambda item: -item.severity)
    if not ordered:
        return []
    rows = [(word(messages.Severity, item.severity), item.code, _where(item), _remedy(item)) for item in ordered]
    return [table(title, ("", "code", "what", "what to do"), rows, whole=(1,))]


def _where(item: messages.Finding) -> str:
    return f"{item.path}: {item.message}" if item.path else item.message


def _remedy(item: messages.Finding) -> str:
    return item.remedy or UNKNOWN


def evidence(items: Iterable[messages.Evidence], title: str = "Evidence") -> list[Table]:
    """Return what an answer rests on; nothing when it rests on nothing."""
    rows = [
        (
            item.quantity,
            word(messages.Origin, item.origin),
            item.source or UNKNOWN,
            item.tool or UNKNOWN,
            _place(item),
            item.note,
        )
        for item in items
    ]
    return [table(title, ("quantity", "origin", "source", "tool", "run", "note"), rows)] if rows else []


def _place(item: messages.Evidence) -> str:
    point = f" point {item.point_index}" if item.HasField("point_index") else ""
    location = f" at {item.location}" if item.location else ""
    return f"{item.run}{point}{location}" if item.run else UNKNOWN

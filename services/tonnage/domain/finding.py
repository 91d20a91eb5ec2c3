"""Findings and the evidence under every number."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How grave a finding is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Origin(StrEnum):
    """Where a number comes from."""

    MEASURED = "measured"
    DERIVED = "derived"
    DECLARED = "declared"
    INTERPOLATED = "interpolated"
    FITTED = "fitted"
    PREDICTED = "predicted"
    ASSUMED = "assumed"

    @property
    def weakness(self) -> int:
        """Rank for showing the weakest link; higher is weaker."""
        return list(Origin).index(self)


def weakest(*origins: Origin) -> Origin:
    """Return the weakest of some origins."""
    return max(origins, key=lambda origin: origin.weakness)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a number or a finding rests on; empty text is not stated."""

    origin: Origin
    quantity: str
    run: str = ""
    point_index: int | None = None
    report_id: str = ""
    source: str = ""
    tool: str = ""
    location: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something a reader should know; ``code`` is stable and listed in docs/findings.md."""

    code: str
    severity: Severity
    message: str
    path: str = ""
    remedy: str = ""
    evidence: tuple[Evidence, ...] = field(default=())

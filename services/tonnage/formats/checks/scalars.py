"""Checks on rates, counts, durations and request sizes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.formats.reading.notes import warning

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Level, Work

_NOT_NEGATIVE: Final = (
    "requests_per_s",
    "output_tokens_per_s",
    "total_tokens_per_s",
    "reported_requests_per_s",
    "completed_count",
    "failed_count",
)
_LARGEST_COUNT: Final = 2**53
_POSITIVE: Final = ("concurrency", "offered_requests_per_s", "duration_s")


def check_scalars(level: Level) -> tuple[Level, list[Finding]]:
    """Drop values that are not finite, negative, or zero where zero cannot be."""
    found: list[Finding] = []
    changes: dict[str, object] = {}
    for name in (*_NOT_NEGATIVE, *_POSITIVE):
        problem = fault(getattr(level, name), name, zero_is_fine=name in _NOT_NEGATIVE)
        if problem is not None:
            found.append(problem)
            changes[name] = None
    work, work_findings = _checked_work(level.work)
    return replace(level, work=work, **changes), [*found, *work_findings]  # type: ignore[arg-type]  # names of its fields


def fault(value: float | None, name: str, *, zero_is_fine: bool) -> Finding | None:
    """Return the finding on a value that cannot be, or None."""
    if value is None:
        return None
    if not _is_finite(value):
        return warning(
            "NON_FINITE_STATISTIC",
            f"{name} is {_shown(value)}, which measures nothing",
            path=name,
            remedy="measure again, or update the load tool",
        )
    if name.endswith("_count") and value > _LARGEST_COUNT:
        return warning("IMPOSSIBLE_STATISTIC", f"{name} is {value:g}, more than can be counted", path=name)
    if value < 0 or (value == 0 and not zero_is_fine):
        meaning = "negative" if value < 0 else "zero, which load tools write when nothing was measured"
        return warning(
            "IMPOSSIBLE_STATISTIC",
            f"{name} is {value:g}: {meaning}",
            path=name,
            remedy="measure again, or update the load tool",
        )
    return None


def _shown(value: float) -> str:
    try:
        return str(float(value))
    except OverflowError:
        return "beyond any number"


def _is_finite(value: float) -> bool:
    """Tell whether a number is one a double holds; a reader may have counted beyond."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _checked_work(work: Work) -> tuple[Work, list[Finding]]:
    found: list[Finding] = []
    changes: dict[str, object] = {}
    for name in work.__dataclass_fields__:
        value: float | None = getattr(work, name)
        problem = fault(value, name, zero_is_fine=True)
        if problem is None and name.endswith("_ratio") and value is not None and value > 1:
            problem = warning("IMPOSSIBLE_STATISTIC", f"{name} is {value:g}, above 1", path=name)
        if problem is not None:
            found.append(problem)
            changes[name] = None
    return (replace(work, **changes) if changes else work), found  # type: ignore[arg-type]  # names of its fields

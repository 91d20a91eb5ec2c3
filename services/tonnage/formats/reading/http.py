"""What readers of HTTP load tools share: the level knows requests, not tokens, models or first tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tonnage.domain.measurement import Run
from tonnage.formats.reading.assemble import Point, arrival_of
from tonnage.formats.reading.notes import BYTES_NOT_TOKENS, LATENCY_INCLUDES_FAILURES, POOLED

if TYPE_CHECKING:
    from datetime import datetime

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Level
    from tonnage.formats.base import ToolFormat


def http_point(
    reader: type[ToolFormat],
    level: Level,
    *,
    tool_version: str | None = None,
    measured_at: datetime | None = None,
    with_failures: bool = False,
    is_pool: bool = False,
) -> Point:
    """Return the level of an HTTP tool; ``with_failures`` says that its latencies hold failed requests too.

    ``is_pool`` says that the figures pool several endpoints, which are no operating point together.
    """
    found: list[Finding] = list(level.findings)
    if with_failures and level.failed_count:
        found.append(LATENCY_INCLUDES_FAILURES)
    if is_pool:
        found.append(POOLED)
    header = Run(
        tool=reader.name,
        metric_definitions=reader.metric_definitions,
        levels=(),
        tool_version=tool_version,
        arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
        findings=(BYTES_NOT_TOKENS,),
    )
    usable = level.usable and not is_pool
    return Point(header, replace(level, findings=tuple(found), usable=usable), measured_at)

"""Requests as the command line a user would type."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tonnage_ui.messages import enum_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage_ui.messages import pb


def plan_command(request: pb.PlanCapacityRequest) -> str:
    """Return the ``tonnage plan`` line that asks the same."""
    return _line("plan", _plan_flags(request))


def _line(command: str, flags: Iterator[tuple[str, str]]) -> str:
    parts = [f"tonnage {command}"]
    parts += [f"--{name} {shlex.quote(value)}" if value else f"--{name}" for name, value in flags]
    return " ".join(parts)


def _plan_flags(request: pb.PlanCapacityRequest) -> Iterator[tuple[str, str]]:
    workload = request.workload
    yield "model", workload.model
    for limit in workload.slo.latency_limits:
        yield "slo", f"{enum_word(limit, 'metric')}_{enum_word(limit, 'statistic')}_ms={limit.max_ms:g}"

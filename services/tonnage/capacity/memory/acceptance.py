"""Accepting a quantized build: measured before and after, line by line; open only when every line is green."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from tonnage import checks


class LineState(StrEnum):
    """How one line of the comparison stands."""

    GREEN = "green"
    RED = "red"
    NOT_MEASURED = "not-measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildMeasured:
    """What was measured of one build; None was not. Times in ms, memory in bytes at one length."""

    quality_score: float | None = None
    memory_bytes: int | None = None
    ttft_p50_ms: float | None = None
    output_tokens_per_s: float | None = None
    tail_ttft_p99_ms: float | None = None
    operators_supported: bool | None = None

    def __post_init__(self) -> None:
        """Hold figures to 0 or more."""
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, bool):
                checks.not_negative(item.name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceLimits:
    """What a quantized build may lose or must gain against the one before it, as ratios."""

    max_quality_loss_ratio: float
    min_memory_saving_ratio: float
    max_ttft_growth_ratio: float
    max_speed_loss_ratio: float
    max_tail_growth_ratio: float

    def __post_init__(self) -> None:
        """Hold ratios to 0 or more."""
        for item in fields(self):
            checks.not_negative(item.name, getattr(self, item.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceLine:
    """One line of the comparison; ``change_ratio`` is after / before - 1."""

    name: str
    state: LineState
    change_ratio: float | None
    limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """All lines, and whether the gate is open."""

    lines: tuple[AcceptanceLine, ...]

    @property
    def open(self) -> bool:
        """Tell whether every line is green; what was not measured keeps the gate shut."""
        return all(line.state is LineState.GREEN for line in self.lines)


def _line(name: str, before: float | None, after: float | None, least: float, most: float) -> AcceptanceLine:
    limit = f"between {least:+.1%} and {most:+.1%}" if least > -1 else f"at most {most:+.1%}"
    if most == float("inf"):
        limit = f"at least {least:+.1%}"
    if before is None or after is None or before == 0:
        return AcceptanceLine(name=name, state=LineState.NOT_MEASURED, change_ratio=None, limit=limit)
    change = after / before - 1
    state = LineState.GREEN if least <= change <= most else LineState.RED
    return AcceptanceLine(name=name, state=state, change_ratio=change, limit=limit)


def _operators(after: BuildMeasured) -> AcceptanceLine:
    states = {True: LineState.GREEN, False: LineState.RED, None: LineState.NOT_MEASURED}
    state = states[after.operators_supported]
    return AcceptanceLine(name="operators", state=state, change_ratio=None, limit="every operator runs on the card")


def acceptance(before: BuildMeasured, after: BuildMeasured, limits: AcceptanceLimits) -> Acceptance:
    """Return the comparison of two builds on the same prompts, lengths and load."""
    endless = float("inf")
    return Acceptance(
        lines=(
            _line("quality", before.quality_score, after.quality_score, -limits.max_quality_loss_ratio, endless),
            _line("memory", before.memory_bytes, after.memory_bytes, -1, -limits.min_memory_saving_ratio),
            _line("ttft", before.ttft_p50_ms, after.ttft_p50_ms, -1, limits.max_ttft_growth_ratio),
            _line(
                "speed", before.output_tokens_per_s, after.output_tokens_per_s, -limits.max_speed_loss_ratio, endless
            ),
            _line("tail", before.tail_ttft_p99_ms, after.tail_ttft_p99_ms, -1, limits.max_tail_growth_ratio),
            _operators(after),
        )
    )

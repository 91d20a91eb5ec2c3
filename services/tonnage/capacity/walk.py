"""A curve walked up to its first miss: levels inside the limits, levels passed over, and where the walk ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage.capacity.limits import Limit, Standing, Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.levels import CurveLevel


@dataclass(frozen=True, slots=True)
class Walk:
    """Levels inside, levels whose statistic is too thin to tell, and the level that ended the walk."""

    inside: tuple[CurveLevel, ...]
    skipped: tuple[tuple[CurveLevel, Verdict], ...]
    end: tuple[CurveLevel, Verdict] | None
    stood_in: tuple[tuple[str, str], ...]

    @property
    def missed(self) -> bool:
        """Tell whether the walk ended at a measured miss."""
        return self.end is not None and self.end[1].standing is Standing.MISSES


def walk_of(
    levels: Sequence[CurveLevel], limits: tuple[Limit, ...], max_failure_ratio: float | None, noise_ratio: float
) -> Walk:
    """Return the walk over levels in order of load; too thin a statistic is passed over, any other doubt ends it."""
    inside: list[CurveLevel] = []
    skipped: list[tuple[CurveLevel, Verdict]] = []
    stood_in: dict[tuple[str, str], None] = {}
    end = None
    for level in levels:
        verdict = judge(level, limits, max_failure_ratio, noise_ratio)
        if verdict.standing is Standing.PASSES:
            inside.append(level)
            stood_in.update(dict.fromkeys(verdict.stood_in))
        elif verdict.standing is Standing.TOO_FEW:
            skipped.append((level, verdict))
        else:
            end = (level, verdict)
            break
    return Walk(tuple(inside), tuple(skipped), end, tuple(stood_in))

"""Q of one bucket as a function of how far the measured curve is off, tabulated over the normal that drives it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import isotonic_regression

from tonnage.capacity.limits import Limit, ready
from tonnage.capacity.qualified import Doubt
from tonnage.capacity.slo import slo_capacity
from tonnage.capacity.spread.curve import Spread, level_at, spread_of
from tonnage.capacity.spread.published import GRID_COUNT, STEPS
from tonnage.domain.plan import CapacityBound, CapacityPolicy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tonnage.capacity.levels import CurveLevel
    from tonnage.capacity.spread.curve import Moves
    from tonnage.capacity.sweeps import Choice
    from tonnage.domain.plan import SloCapacity
    from tonnage.domain.workload import Slo

    Floats = NDArray[np.float64]

CAUSES: Final = ("run_to_run", "age", "within_run")
_GRID: Final = STEPS[:GRID_COUNT]
_LOWEST: Final = float(_GRID[0])
_MIDDLE: Final = GRID_COUNT // 2
_SIGNS: Final = np.append(np.sign(_GRID), [-1.0, 1.0] * len(CAUSES))
"""Of the grid, then the low and the high edge of each cause alone."""
BETWEEN_LOADS: Final = 0.085
"""Deviation of an interpolated crossing: 14 % at the ninth decile of published sweeps at usual limits, over 1.645."""
BETWEEN_LENGTHS: Final = 0.073
"""Deviation of a rate between two measured inputs: 12 % at the ninth decile of published sweeps, over 1.645."""
CONVERTED_LENGTHS: Final = 0.22
"""Deviation of a rate converted to a length up to twofold away: off by 15 % at the median, over 0.674."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """ln Q of one bucket: a table over the curve's normal, and the deviations of what was not measured.

    ``served_from`` is the normal below which the lowest measured load misses a limit. ``swings`` give ln Q at the low
    and the high edge of each cause alone, minus infinity where that load misses.
    """

    center: float
    table: Floats
    served_from: float
    between_loads: float
    lengths: float
    swings: dict[str, tuple[float, float]]
    spread: Spread
    at_least: bool
    model_deviation: float = field(init=False)

    def __post_init__(self) -> None:
        """Put the deviations of interpolation and prediction together."""
        object.__setattr__(self, "model_deviation", math.hypot(self.between_loads, self.lengths))

    def drawn(self, curve: Floats, model: Floats) -> Floats:
        """Return ln Q in each world, minus infinity where nothing serves; shapes as the columns."""
        found = np.interp(curve, _GRID, self.table)
        if self.model_deviation > 0:
            found += self.model_deviation * model
        if self.served_from > _LOWEST:
            found[curve < self.served_from] = -np.inf
        return found

    @property
    def always_served(self) -> bool:
        """Tell whether the lowest measured load keeps every limit in all worlds."""
        return self.served_from <= _LOWEST


def rate_of(choice: Choice, capacity: SloCapacity, slo: Slo, as_of_date: str, *, other_version: bool) -> Rate:
    """Return Q of one bucket around the crossing, or the best measured load where no crossing is known.

    ``slo`` is as the measured lengths must keep it. In a world the curve's latencies lie below and its throughput above
    what was measured by the moves of their spread, all driven by one normal: what makes a server slow moves both.
    Latency over load is made non-decreasing first (pool adjacent violators); nothing lies beyond the last load.
    """
    limits = ready(slo)
    known = _known(choice.sweep.curve.levels, limits, slo.max_failure_ratio)
    level = level_at(choice.sweep.curve.levels, capacity.offered_load)
    spread = spread_of(choice, level, as_of_date, other_version=other_version)
    center = math.log(max(capacity.q_slo_requests_per_s or 0.0, capacity.crossing_requests_per_s or 0.0))
    curve = _Curve.of(known or (level,), limits)
    found = curve.ln_rate(_sizes(spread.throughput()), [_sizes(spread.latency(name)) for name in curve.names])
    found += center - found[_MIDDLE]
    steps, edges = found[:GRID_COUNT], found[GRID_COUNT:].tolist()
    first = int(np.argmax(steps > -np.inf))
    return Rate(
        center=center,
        table=np.maximum(steps, steps[first]),
        served_from=float(_GRID[first]),
        between_loads=_between_loads(capacity),
        lengths=_lengths(choice, capacity, slo),
        swings={cause: (edges[2 * place], edges[2 * place + 1]) for place, cause in enumerate(CAUSES)},
        spread=spread,
        at_least=capacity.bound is CapacityBound.AT_LEAST,
    )


def _sizes(moves: Moves) -> Floats:
    """Return the sizes of moves in the order of the signs."""
    return np.append(moves.together, [getattr(moves, cause) for cause in CAUSES for _ in range(2)])


def _between_loads(capacity: SloCapacity) -> float:
    """Return the deviation of the crossing; a crossing at a measured load has none."""
    best, crossing = capacity.measured_requests_per_s, capacity.crossing_requests_per_s
    return BETWEEN_LOADS if best is not None and crossing is not None and crossing > best else 0.0


def _lengths(choice: Choice, capacity: SloCapacity, slo: Slo) -> float:
    if choice.apart.same:
        return 0.0
    other = choice.other_side if capacity.policy is CapacityPolicy.INTERPOLATED else None
    if other is not None and slo_capacity(other.curve, slo, capacity.policy).q_slo_requests_per_s is not None:
        return BETWEEN_LENGTHS
    return CONVERTED_LENGTHS * math.log(choice.apart.factor) / math.log(2)


def _known(
    levels: Sequence[CurveLevel], limits: Sequence[Limit], max_failure_ratio: float | None
) -> tuple[CurveLevel, ...]:
    """Return the levels whose limited statistics are known, up to the first that fails too often or states none."""
    found = []
    for level in levels:
        failed = level.level.failure_ratio
        if max_failure_ratio is not None and (failed is None or failed > max_failure_ratio):
            break
        missing = [limit for limit in limits if _value(level, limit) is None]
        if not missing:
            found.append(level)
            continue
        refusal = level.qualified.refusals.get(missing[0].name)
        if refusal is None or refusal.doubt is not Doubt.TOO_FEW:
            break
    return tuple(found)


def _value(level: CurveLevel, limit: Limit) -> tuple[str, float] | None:
    for name in (limit.name, *limit.stand_ins):
        value = level.qualified.values.get(name)
        if value is not None and value > 0:
            return name, value
    return None


@dataclass(frozen=True, slots=True)
class _Curve:
    """Logs of load, throughput and each limited latency, all non-decreasing in the load; limits in logs."""

    loads: Floats
    rates: Floats
    names: tuple[str, ...]
    latencies: tuple[Floats, ...]
    limits: tuple[float, ...]

    @classmethod
    def of(cls, levels: Sequence[CurveLevel], limits: Sequence[Limit]) -> _Curve:
        names, rows, most = [], [], []
        for limit in limits:
            found = [_value(level, limit) for level in levels]
            if None in found:
                continue
            pairs = [item for item in found if item is not None]
            names.append(pairs[0][0])
            rows.append(_steadied(np.log([value for _, value in pairs])))
            most.append(math.log(limit.max_ms))
        return cls(
            np.log([level.offered_load for level in levels]),
            _steadied(np.log([level.requests_per_s for level in levels])),
            tuple(names),
            tuple(rows),
            tuple(most),
        )

    def ln_rate(self, moved: Floats, latencies: Sequence[Floats]) -> Floats:
        """Return ln Q under each move, minus infinity where the lowest load misses a limit.

        ``moved`` and ``latencies`` are sizes of moves of throughput and of each latency, in the order of the signs.
        """
        load = np.full(_SIGNS.shape, self.loads[-1])
        for row, most, size in zip(self.latencies, self.limits, latencies, strict=True):
            # A level that keeps the limit exactly keeps it: reach past the rounding of logs.
            load = np.minimum(load, np.interp(_SIGNS * size + (most + 1e-12), row, self.loads, left=-np.inf))
        found: Floats = np.asarray(np.interp(load, self.loads, self.rates) + _SIGNS * moved)
        found[load == -np.inf] = -np.inf
        return found


def _steadied(values: Floats) -> Floats:
    """Return the nearest non-decreasing values (least squares); values that do not fall stay as they are."""
    if values.size < 2 or bool(np.all(np.diff(values) >= 0)):  # noqa: PLR2004 -- one value cannot fall
        return values
    return np.asarray(isotonic_regression(values).x, dtype=np.float64)

"""The spread of one curve: its repeats, else published reruns, wider with age and another engine version."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity.exact import rounded
from tonnage.capacity.spread import published, repeats, within
from tonnage.capacity.spread.published import Kind
from tonnage.domain.confidence import CurveSpread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tonnage.capacity.curves import Curve
    from tonnage.capacity.levels import CurveLevel
    from tonnage.capacity.sweeps import Choice, SweepCurve

OLDER_SWEEPS_USED: Final = 5
"""As many as an answer names, so that a kept plan holds them."""
_SQUARES: Final = published.STEPS**2
_FRESH_DAYS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Moves:
    """How far one figure may lie from what was measured, in logs.

    ``together`` is the size at each normal of the grid; the others are sizes of one cause alone at the edge of the
    central nine tenths.
    """

    together: NDArray[np.float64]
    run_to_run: float
    age: float
    within_run: float
    edge: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What is known of the repeats, the age and the version of one curve, at the level its capacity stands on.

    ``own_run_count`` is of the sweep that is planned on; older sweeps tell the deviation and average nothing.
    """

    measured: tuple[repeats.Measured, ...]
    level: CurveLevel
    run_count: int
    own_run_count: int
    age_days: float | None
    other_version: bool
    _one_run: bool
    _known: dict[str, repeats.Components] = field(default_factory=dict)

    def throughput(self) -> Moves:
        """Return how far throughput may move."""
        error = within.throughput_error(self.level)
        return self._moves(Kind.THROUGHPUT, self._components("", repeats.throughput_of), error)

    def latency(self, name: str) -> Moves:
        """Return how far one statistic of latency may move ("ttft_p99_ms")."""
        error = within.latency_error(self.level, name)
        return self._moves(published.kind_of(name), self._components(name, repeats.statistic(name)), error)

    def said(self) -> CurveSpread:
        """Return what an answer says of it."""
        found = self._components("", repeats.throughput_of)
        return CurveSpread(
            run_count=self.run_count,
            run_to_run=_rounded(found.between),
            within_run=_rounded(found.within),
            used_half_width_90=float(f"{self.throughput().edge:.6g}"),
            age_days=self.age_days,
            other_version=self.other_version,
        )

    def _components(self, name: str, value_of: Callable[[CurveLevel], float | None]) -> repeats.Components:
        if self._one_run:
            return repeats.Components(0)
        if name not in self._known:
            self._known[name] = repeats.components(self.measured, value_of)
        return self._known[name]

    def _moves(self, kind: Kind, found: repeats.Components, error: float) -> Moves:
        """Return the moves of one figure; causes are added in quadrature, exact for normals.

        One published rerun moves by P(z), of which each of the two runs has P^2 / 2. Repeats on f degrees of freedom
        with deviation s weigh f against 1 for the prior, and never count for less than s:
        max(s^2 z^2, (P^2 / 2 + f s^2 z^2) / (1 + f)) x (1 + 1 / n), n runs of the sweep at its level. What age and
        version add to the prior is not made smaller by repeats.
        """
        fresh = published.moves(kind, _FRESH_DAYS, other_version=False) ** 2
        age = _FRESH_DAYS if self.age_days is None else self.age_days
        older = np.maximum(0.0, published.moves(kind, age, other_version=self.other_version) ** 2 - fresh)
        runs = self.own_run_count
        seen = (found.between or 0.0) ** 2 * _SQUARES
        rerun = np.maximum(seen, (fresh / 2 + found.free * seen) / (1 + found.free)) * (1 + 1 / runs)
        inside = (error if found.within is None else found.within) ** 2 / runs
        total = np.sqrt(rerun + older + inside * _SQUARES)
        return Moves(
            total[:-1],
            math.sqrt(rerun[-1]),
            math.sqrt(older[-1]),
            math.sqrt(inside) * published.EDGE,
            float(total[-1]),
        )


def spread_of(choice: Choice, level: CurveLevel, as_of_date: str, *, other_version: bool) -> Spread:
    """Return the spread of the chosen sweep, with older sweeps of the same tool, definitions and size as repeats."""
    curve = choice.sweep.curve
    alike = [choice.sweep, *(item for item in choice.aside if _alike(curve, item.curve))][: 1 + OLDER_SWEEPS_USED]
    measured = tuple(
        repeats.Measured(item.evidence[0].run, item.offered_load, item)
        for sweep in alike
        for item in sweep.curve.repeats
    )
    runs = {item.run for item in measured if item.load == level.offered_load}
    own = {item.evidence[0].run for item in curve.repeats if item.offered_load == level.offered_load}
    return Spread(
        measured=measured,
        level=level,
        run_count=max(1, len(runs)),
        own_run_count=max(1, len(own)),
        age_days=_age_days(choice.sweep, as_of_date),
        other_version=other_version,
        _one_run=len({item.run for item in measured}) <= 1,
    )


def _alike(one: Curve, other: Curve) -> bool:
    return other.unusable is None and (one.tool, one.metric_definitions, one.arrival_kind, one.replicas_under_test) == (
        other.tool,
        other.metric_definitions,
        other.arrival_kind,
        other.replicas_under_test,
    )


def _age_days(sweep: SweepCurve, as_of_date: str) -> float | None:
    """Return whole days from the sweep's newest run to the plan's date, at least 0; None without a time."""
    if sweep.newest is None:
        return None
    measured: datetime = sweep.newest
    day = measured.astimezone(UTC).date() if measured.tzinfo is not None else measured.date()
    return float(max(0, (date.fromisoformat(as_of_date) - day).days))


def _rounded(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def level_at(levels: Sequence[CurveLevel], offered_load: float | None) -> CurveLevel:
    """Return the level at a load, the last one where no load is named; ``levels`` must not be empty."""
    return next((item for item in levels if item.offered_load == offered_load), levels[-1])

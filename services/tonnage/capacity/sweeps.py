"""Which sweep of a configuration speaks for a request size: the nearest lengths, then the newest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tonnage.capacity import lengths, notes
from tonnage.capacity.lengths import SAME_RATIO, Distance, distance
from tonnage.capacity.slo import slo_capacity
from tonnage.domain.plan import CapacityPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from tonnage.capacity.curves import Curve
    from tonnage.domain.configuration import Configuration
    from tonnage.domain.finding import Evidence, Finding
    from tonnage.domain.measurement import Work
    from tonnage.domain.plan import SloCapacity
    from tonnage.domain.workload import Slo

_NAMES_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCurve:
    """The curve of one sweep, its mean request size, and when its newest run was measured or taken in."""

    curve: Curve
    work: Work
    sweep_id: str
    newest: datetime | None = None

    @property
    def age_key(self) -> float:
        """Return what sorts newer sweeps higher; one without a time is the oldest."""
        return -math.inf if self.newest is None else self.newest.timestamp()


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateCurves:
    """One configuration with the curves of its sweeps; their order never matters."""

    configuration: Configuration
    sweeps: tuple[SweepCurve, ...]
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        """Hash the identity once."""
        object.__setattr__(self, "fingerprint", self.configuration.fingerprint)


@dataclass(frozen=True, slots=True)
class Choice:
    """The sweep that speaks for one request size, how far it is, and the sweeps of that size left aside.

    ``other_side`` is a second sweep of the same output length whose input lies on the other side of the wanted one.
    """

    sweep: SweepCurve
    apart: Distance
    aside: tuple[SweepCurve, ...] = ()
    other_side: SweepCurve | None = None


def choose(sweeps: Sequence[SweepCurve], wanted: Work) -> Choice:
    """Return the newest usable sweep of the nearest lengths.

    Sweeps within a tenth of the wanted lengths are alike, and so are others whose distance differs by less than a
    tenth; among alike ones the newest counts. A sweep whose curve is unusable is chosen only where none is usable.
    ``sweeps`` must not be empty.
    """
    rated = [(sweep, distance(sweep.work, wanted)) for sweep in sweeps]
    usable = [pair for pair in rated if pair[0].curve.unusable is None] or rated
    chosen = min(usable, key=lambda pair: (_step(pair[1]), -pair[0].age_key, pair[0].sweep_id, pair[0].curve.tool))
    step = _step(chosen[1])
    aside = tuple(sweep for sweep, apart in rated if sweep is not chosen[0] and _step(apart) == step)
    return Choice(
        chosen[0],
        chosen[1],
        tuple(sorted(aside, key=lambda item: (-item.age_key, item.sweep_id))),
        None if chosen[1].same else _other_side(chosen[0], usable, wanted),
    )


def _other_side(chosen: SweepCurve, usable: Sequence[tuple[SweepCurve, Distance]], wanted: Work) -> SweepCurve | None:
    """Return the nearest usable sweep of the wanted output length beyond the wanted input, seen from the chosen one.

    Both must lie within reach, come from one tool and arrival kind, and hold the wanted output within a tenth.
    """
    found = [
        (sweep, apart)
        for sweep, apart in usable
        if sweep.curve.unusable is None
        and not apart.too_far
        and lengths.brackets(chosen.work, sweep.work, wanted)
        and (sweep.curve.tool, sweep.curve.metric_definitions, sweep.curve.arrival_kind)
        == (chosen.curve.tool, chosen.curve.metric_definitions, chosen.curve.arrival_kind)
    ]
    if not found:
        return None
    return min(found, key=lambda pair: (_step(pair[1]), -pair[0].age_key, pair[0].sweep_id))[0]


def _step(apart: Distance) -> float:
    """Return the distance in steps of a tenth; 0 is the same size."""
    if apart.same:
        return 0.0
    return math.inf if math.isinf(apart.factor) else 1.0 + math.floor(math.log(apart.factor) / math.log(SAME_RATIO))


def capacity_of(sweep: SweepCurve, wanted: Work, slo: Slo, policy: CapacityPolicy) -> SloCapacity:
    """Return what one sweep says of a request size, converted or refused where its lengths differ."""
    apart = distance(sweep.work, wanted)
    found = slo_capacity(sweep.curve, lengths.slo_for(slo, sweep.work, wanted), policy)
    if apart.same or sweep.curve.unusable is not None:
        return found
    if apart.too_far:
        return lengths.refused(found, sweep.work, wanted, apart)
    return lengths.convert(found, sweep.work, wanted)


def chosen_capacity(choice: Choice, wanted: Work, slo: Slo, policy: CapacityPolicy) -> SloCapacity:
    """Return what the chosen sweep says of a request size; between two sizes, what both say together.

    Under policy *interpolated* and between two measured inputs of the wanted output length, the time of a request in
    service, 1 / Q, is taken as straight in the input. Anything else is the chosen sweep's word alone.
    """
    single = capacity_of(choice.sweep, wanted, slo, policy)
    other = choice.other_side
    if policy is not CapacityPolicy.INTERPOLATED or other is None:
        return single
    one, two = (slo_capacity(item.curve, slo, policy) for item in (choice.sweep, other))
    return lengths.between(single, (one, choice.sweep.work), (two, other.work), wanted)


def left_aside(choice: Choice) -> Iterable[Finding]:
    """Yield what is said of sweeps of the same size that were not used."""
    newer = [item for item in choice.aside if item.age_key > choice.sweep.age_key]
    others = [item for item in choice.aside if item.age_key <= choice.sweep.age_key]
    for item in newer:
        why = item.curve.unusable.message if item.curve.unusable is not None else "it cannot be used"
        yield notes.warning(
            "NEWER_SWEEP_NOT_USED",
            f"the newer sweep {item.sweep_id} ({item.curve.tool}) was not used: {why}",
            evidence=item.curve.evidence,
        )
    if others:
        names = ", ".join(f"{item.sweep_id} ({item.curve.tool})" for item in others[:_NAMES_SHOWN])
        more = f" and {len(others) - _NAMES_SHOWN} more" if len(others) > _NAMES_SHOWN else ""
        yield notes.info(
            "OTHER_SWEEPS_NOT_USED",
            f"the newest sweep of these lengths, {choice.sweep.sweep_id} ({choice.sweep.curve.tool}), was used; sweeps "
            f"are not pooled, so these were not: {names}{more}",
            evidence=_evidence(others[:_NAMES_SHOWN]),
        )


def _evidence(sweeps: Iterable[SweepCurve]) -> tuple[Evidence, ...]:
    return tuple(evidence for item in sweeps for evidence in item.curve.evidence)

"""The candidates of a plan, each with how sure it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.capacity import lengths, notes, sweeps
from tonnage.capacity.confidence.candidate import Setting, confidence_of
from tonnage.capacity.confidence.draws import Worlds, seed_of
from tonnage.capacity.confidence.inputs import inputs_of
from tonnage.capacity.confidence.rates import Rate, rate_of
from tonnage.domain.confidence import ConfidenceOptions
from tonnage.domain.versions import split_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tonnage.capacity.candidates import Asked
    from tonnage.capacity.sweeps import CandidateCurves
    from tonnage.domain.finding import Finding
    from tonnage.domain.plan import Candidate

WORLD_COUNT: Final = 2_000
BEST_WORLD_COUNT: Final = 10_000
BEST_COUNT: Final = 3
_NOTHING_SAID: Final = ConfidenceOptions()


def with_confidence(
    asked: Asked, ranked: Sequence[Candidate], curves: Mapping[str, CandidateCurves], data_version: int
) -> tuple[tuple[Candidate, ...], tuple[Finding, ...]]:
    """Return ranked candidates with how sure each is, the best three over more worlds; and what is said of all.

    ``curves`` are the candidates' by fingerprint. Without demand nothing is drawn. Raises ``InvalidInput`` for a range
    that does not hold its figure.
    """
    options = asked.request.confidence or _NOTHING_SAID
    if asked.peak == 0:
        return tuple(ranked), ()
    inputs = inputs_of(asked.request.workload, options, asked.peak, asked.reserve.ratio)
    seed = seed_of(asked.request, data_version)
    best, others = (Setting.of(inputs, Worlds(seed, count)) for count in (BEST_WORLD_COUNT, WORLD_COUNT))
    found = []
    for place, candidate in enumerate(ranked):
        rates = _rates(asked, options, candidate, curves[candidate.configuration.fingerprint])
        setting = best if place < BEST_COUNT else others
        found.append(replace(candidate, confidence=confidence_of(asked.request, options, candidate, rates, setting)))
    return tuple(found), tuple(_said(options, has_ranges=bool(inputs.ranges)))


def _rates(asked: Asked, options: ConfidenceOptions, candidate: Candidate, curves: CandidateCurves) -> tuple[Rate, ...]:
    planned, measured = options.planned_engine_version, candidate.configuration.engine_version
    other = planned is not None and split_version(planned)[0] != measured
    rates = []
    for row in candidate.buckets:
        choice = sweeps.choose(curves.sweeps, row.work)
        slo = lengths.slo_for(asked.request.workload.slo, choice.sweep.work, row.work)
        rates.append(rate_of(choice, row.capacity, slo, asked.request.as_of_date, other_version=other))
    return tuple(rates)


def _said(options: ConfidenceOptions, *, has_ranges: bool) -> Iterable[Finding]:
    if not has_ranges:
        yield notes.info(
            "DEMAND_TAKEN_AS_CERTAIN",
            "no range of demand or reserve was stated, so intervals hold what is unsure of the runs alone",
            path="confidence",
            remedy="state confidence.peak_requests_per_s, or ranges of the base, the factor and the reserve's parts",
        )
    missing = [name for name in ("server_too_many_per_hour", "slo_broken_per_hour") if getattr(options, name) is None]
    if missing:
        yield notes.info(
            "REGRET_PRICES_NOT_STATED",
            f"no count of least regret is chosen without {' and '.join(missing)}",
            path=f"confidence.{missing[0]}",
            remedy="state what one server too many and an hour of a broken SLO cost",
        )

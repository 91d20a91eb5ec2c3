"""One configuration out of the store, and what its curves say of one request size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.capacity.sweeps import choose, chosen_capacity
from tonnage.errors import InvalidInput, NotStored
from tonnage.planning.usecase.book import matching
from tonnage.planning.usecase.names import normalized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.planner import CandidateCurves, SweepCurve
    from tonnage.domain.configuration import Configuration
    from tonnage.domain.measurement import Work
    from tonnage.domain.plan import CapacityPolicy, SloCapacity
    from tonnage.domain.workload import Slo
    from tonnage.planning.usecase.book import CurveBook, Held
    from tonnage.store.base import ConfigurationFacts, Snapshot

_NAMES_SHOWN: Final = 6


def only_one(
    snapshot: Snapshot, book: CurveBook, namespace: str, asked: Configuration, fingerprint: str | None
) -> Held:
    """Return the one configuration a selector leaves.

    Raises ``NotStored`` when none matches, ``InvalidInput`` naming what tells the others apart when several do.
    """
    selector = normalized(asked)
    known = (
        snapshot.configurations(namespace)
        if selector.model is None
        else book.of_model(snapshot, namespace, selector.model)
    )
    found = matching(known, selector, fingerprint)
    if not found:
        stated = ", ".join(f"{key} {value}" for key, value in selector.stated().items()) or f"fingerprint {fingerprint}"
        raise NotStored(
            f"no live run of a configuration with {stated} is stored in {namespace}; list the configurations",
            kind="configuration",
            name=fingerprint or stated,
        )
    if len(found) > 1:
        raise InvalidInput.field("", None, f"leaves {len(found)} configurations", _cure(found))
    return book.held(snapshot, namespace, found[0])


def _cure(found: Sequence[ConfigurationFacts]) -> str:
    """Return what would leave one: the fields in which the configurations differ."""
    stated = [facts.configuration.stated() for facts in found]
    names = sorted({name for item in stated for name in item})
    apart = [name for name in names if len({item.get(name) for item in stated}) > 1]
    return f"state {', '.join(apart[:_NAMES_SHOWN])} too, or give one fingerprint of ListConfigurations"


def capacity_for(
    curves: CandidateCurves, work: Work, slo: Slo, policy: CapacityPolicy
) -> tuple[SloCapacity, SweepCurve]:
    """Return the capacity for one request size and the sweep it stands on; lengths are converted where they differ."""
    choice = choose(curves.sweeps, work)
    return chosen_capacity(choice, work, slo, policy), choice.sweep

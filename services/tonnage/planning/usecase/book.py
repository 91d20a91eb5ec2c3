"""Curves of every configuration, made once for what its sweeps hold and kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage import access
from tonnage.capacity.curves import curve_of
from tonnage.capacity.planner import CandidateCurves, SweepCurve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tonnage.domain.configuration import Configuration
    from tonnage.domain.measurement import Run
    from tonnage.store.base import ConfigurationFacts, Snapshot, Sweep

MOST_HELD: Final = 20_000
_VERSIONS_INDEXED: Final = 4


@dataclass(frozen=True, slots=True)
class Held:
    """The sweeps of one configuration and the curves made of them, in the same order.

    ``sweep_runs`` gives, by the name of a run, all runs of its sweep.
    """

    sweeps: Sequence[Sweep]
    curves: CandidateCurves
    sweep_runs: Mapping[str, tuple[Run, ...]]


class CurveBook:
    """Held curves, least recently used ones given up first; safe between threads.

    What was held is right as long as the store hands out the same sweeps, which it does until
    a commit touches that configuration.
    """

    def __init__(self, most_held: int = MOST_HELD) -> None:
        self._most_held = most_held
        self._held: OrderedDict[tuple[str, str], Held] = OrderedDict()
        self._by_model: OrderedDict[tuple[str, int], Mapping[str | None, tuple[ConfigurationFacts, ...]]] = (
            OrderedDict()
        )
        self._lock = threading.Lock()

    def held(self, snapshot: Snapshot, namespace: str, facts: ConfigurationFacts) -> Held:
        """Return the sweeps and curves of one configuration."""
        sweeps = snapshot.sweeps(namespace, facts.fingerprint)
        key = (namespace, facts.fingerprint)
        with self._lock:
            found = self._held.get(key)
            if found is not None and found.sweeps is sweeps:
                self._held.move_to_end(key)
                return found
        made = hold(facts.configuration, sweeps)
        with self._lock:
            self._held[key] = made
            self._held.move_to_end(key)
            while len(self._held) > self._most_held:
                self._held.popitem(last=False)
        return made

    def is_light(self, namespace: str, chosen: Sequence[ConfigurationFacts], most: int) -> bool:
        """Tell whether planning on these costs little: few, and every curve made already."""
        with self._lock:
            return len(chosen) <= most and all((namespace, facts.fingerprint) in self._held for facts in chosen)

    def of_model(self, snapshot: Snapshot, namespace: str, model: str | None) -> tuple[ConfigurationFacts, ...]:
        """Return the configurations of one model, by fingerprint."""
        access.require(namespace)  # what is kept here never passes the store's own check
        key = (namespace, snapshot.data_version)
        with self._lock:
            index = self._by_model.get(key)
        if index is None:
            index = _index(snapshot.configurations(namespace))
            with self._lock:
                self._by_model[key] = index
                while len(self._by_model) > _VERSIONS_INDEXED:
                    self._by_model.popitem(last=False)
        return index.get(model, ())


def _index(known: Sequence[ConfigurationFacts]) -> Mapping[str | None, tuple[ConfigurationFacts, ...]]:
    found: dict[str | None, list[ConfigurationFacts]] = {}
    for facts in known:
        found.setdefault(facts.configuration.model, []).append(facts)
    return {model: tuple(sorted(rows, key=lambda facts: facts.fingerprint)) for model, rows in found.items()}


def hold(configuration: Configuration, sweeps: Sequence[Sweep]) -> Held:
    """Return sweeps of a configuration with the curves made of them."""
    curves = CandidateCurves(configuration=configuration, sweeps=tuple(_sweep_curve(sweep) for sweep in sweeps))
    return Held(sweeps, curves, {run.name: sweep.runs for sweep in sweeps for run in sweep.runs})


def _sweep_curve(sweep: Sweep) -> SweepCurve:
    newest = sweep.newest_measured_at if sweep.newest_measured_at is not None else sweep.newest_ingested_at
    return SweepCurve(curve=curve_of(sweep.runs), work=sweep.work, sweep_id=sweep.sweep_id, newest=newest)


def matching(
    known: Sequence[ConfigurationFacts], configuration: Configuration, fingerprint: str | None
) -> tuple[ConfigurationFacts, ...]:
    """Return the configurations that differ in no field the selector states."""
    return tuple(
        facts
        for facts in known
        if (fingerprint is None or facts.fingerprint == fingerprint)
        and not facts.configuration.conflicts_with(configuration)
    )

"""Domain objects of configurations that were asked for, bounded in levels."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tonnage.store.rows import row_to_run
from tonnage.store.sweeps import sweeps_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.domain.measurement import Run
    from tonnage.store.base import Sweep
    from tonnage.store.known import Key
    from tonnage.store.lake.generation import Generation, Row

MAX_CACHED_LEVELS: Final = 200_000
_KEPT_STATES: Final = 4


@dataclass(slots=True)
class _Held:
    """Every run of one configuration up to ``data_version``, retired ones included, and its newest states."""

    data_version: int = 0
    runs: dict[str, tuple[int, Run]] = field(default_factory=dict)
    level_count: int = 0
    states: dict[int, tuple[Sweep, ...]] = field(default_factory=dict)


class SweepCache:
    """Sweeps by configuration and by the data version that last changed it.

    A read that is held takes no SQL and no lock; a configuration that grew reads only what is new.
    """

    def __init__(self, generation: Generation, max_level_count: int = MAX_CACHED_LEVELS) -> None:
        self._generation = generation
        self._max_level_count = max_level_count
        self._held: OrderedDict[Key, _Held] = OrderedDict()
        self._lock = threading.Lock()

    def sweeps(self, key: Key, relevant_version: int) -> tuple[Sweep, ...]:
        """Return the sweeps of (namespace, fingerprint) at the version that last changed it."""
        held = self._held.get(key)
        found = None if held is None else held.states.get(relevant_version)
        if found is not None:
            return found
        with self._lock:
            return self._read(key, relevant_version)

    def _read(self, key: Key, relevant_version: int) -> tuple[Sweep, ...]:
        held = self._held.setdefault(key, _Held())
        self._held.move_to_end(key)
        if relevant_version not in held.states:
            self._load(key, held, relevant_version)
            held.states[relevant_version] = self._at(key, held, relevant_version)
            self._shrink(held)
        return held.states[relevant_version]

    def _load(self, key: Key, held: _Held, data_version: int) -> None:
        if held.data_version >= data_version:
            return
        for version, run in load_runs(self._generation, key, held.data_version, data_version):
            held.runs[run.run_id] = (version, run)
            held.level_count += len(run.levels)
        held.data_version = data_version

    def _at(self, key: Key, held: _Held, data_version: int) -> tuple[Sweep, ...]:
        namespace, _ = key
        return sweeps_of(
            run
            for version, run in held.runs.values()
            if version <= data_version and self._generation.retirement((namespace, run.run_id), data_version) is None
        )

    def _shrink(self, newest: _Held) -> None:
        """Drop old states, and the configurations whose state changed longest ago."""
        for old in sorted(newest.states)[:-_KEPT_STATES]:
            del newest.states[old]
        total = sum(held.level_count for held in self._held.values())
        while total > self._max_level_count and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            total -= dropped.level_count


def load_runs(generation: Generation, key: Key, after: int, until: int) -> Iterable[tuple[int, Run]]:
    """Return the runs of a configuration stored in versions (after, until], with levels and version."""
    where = "skey = hash(?, ?) AND namespace = ? AND data_version > ? AND data_version <= ?"
    namespace, fingerprint = key
    parameters = [namespace, fingerprint, namespace, after, until]
    runs = generation.rows(
        f"SELECT * FROM {generation.database}.runs WHERE {where} AND fingerprint = ?", [*parameters, fingerprint]
    )
    levels: dict[str, list[Row]] = {row["run_id"]: [] for row in runs}
    for row in generation.rows(f"SELECT * FROM {generation.database}.points WHERE {where}", parameters):
        if row["run_id"] in levels:
            levels[row["run_id"]].append(row)
    return [(row["data_version"], row_to_run(row, levels[row["run_id"]])) for row in runs]

"""What is known of each configuration, read from the replica's runs without their levels."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import FIELD_NAMES, Configuration
from tonnage.domain.measurement import ArrivalKind, TestState
from tonnage.store.sweeps import RunHead, facts_of
from tonnage.store.texts import sums_from_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tonnage.store.base import ConfigurationFacts
    from tonnage.store.known import Key
    from tonnage.store.lake.generation import Generation, Row

_HEAD_COLUMNS: Final = (
    "run_id",
    "report_id",
    "sweep_id",
    "tool",
    "metric_definitions",
    "sample_set",
    "measured_at",
    "ingested_at",
    "level_count",
)
_COLUMNS: Final = ", ".join((*_HEAD_COLUMNS, "arrival_kind", "state", "work_sums", "fingerprint", *FIELD_NAMES))


class FactsCache:
    """Facts by configuration and by the data version that last changed it; the newest state of each is held."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._held: dict[Key, tuple[int, ConfigurationFacts | None]] = {}
        self._lock = threading.Lock()

    def facts(self, namespace: str, data_version: int) -> tuple[ConfigurationFacts, ...]:
        """Return the configurations with live runs at a data version, by fingerprint."""
        relevant = {
            key: version
            for key in list(self._generation.touched)
            if key[0] == namespace and (version := self._generation.relevant_version(key, data_version)) is not None
        }
        with self._lock:
            found = {
                key: held[1]
                for key, version in relevant.items()
                if (held := self._held.get(key, (0, None)))[0] == version
            }
            read = self._read(namespace, relevant.keys() - found.keys(), data_version)
            for key, item in read.items():
                if relevant[key] >= self._held.get(key, (0, None))[0]:
                    self._held[key] = (relevant[key], item)
        facts = {**found, **read}
        return tuple(item for key in sorted(facts) if (item := facts[key]) is not None)

    def _read(self, namespace: str, keys: set[Key], data_version: int) -> Mapping[Key, ConfigurationFacts | None]:
        if not keys:
            return {}
        rows = self._generation.rows(
            f"SELECT {_COLUMNS} FROM {self._generation.database}.runs "
            "WHERE namespace = ? AND data_version <= ? AND fingerprint IN (SELECT unnest(?))",
            [namespace, data_version, sorted(fingerprint for _, fingerprint in keys)],
        )
        by_key: defaultdict[Key, list[Row]] = defaultdict(list)
        for row in rows:
            if self._generation.retirement((namespace, row["run_id"]), data_version) is None:
                by_key[namespace, row["fingerprint"]].append(row)
        return {key: _facts(by_key[key]) if key in by_key else None for key in keys}


def _facts(rows: list[Row]) -> ConfigurationFacts | None:
    configuration = Configuration(**{name: rows[0][name] for name in FIELD_NAMES})
    return facts_of(configuration, [_head(row) for row in rows])


def _head(row: Row) -> RunHead:
    return RunHead(
        **{name: row[name] for name in _HEAD_COLUMNS},
        arrival_kind=None if row["arrival_kind"] is None else ArrivalKind(row["arrival_kind"]),
        state=None if row["state"] is None else TestState(row["state"]),
        sums=None if row["work_sums"] is None else sums_from_text(row["work_sums"]),
    )

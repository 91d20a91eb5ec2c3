"""What planning reads of the private replica: one data version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage import access
from tonnage.errors import NotStored
from tonnage.store.base import Listed
from tonnage.store.listing import Cut, cut_of
from tonnage.store.rows import row_to_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.measurement import Run
    from tonnage.store.base import ConfigurationFacts, Page, Retirement, RunFilter, Sweep
    from tonnage.store.lake.cache import SweepCache
    from tonnage.store.lake.facts import FactsCache
    from tonnage.store.lake.generation import Generation


class LakeSnapshot:
    """Everything of one data version, unchanged however long it is held: rows carry theirs, and none ever changes."""

    def __init__(self, generation: Generation, sweeps: SweepCache, facts: FactsCache) -> None:
        self.data_version = generation.data_version
        self._generation = generation
        self._sweeps = sweeps
        self._facts = facts
        self._configurations: dict[str, tuple[ConfigurationFacts, ...]] = {}

    def configurations(self, namespace: str) -> Sequence[ConfigurationFacts]:
        """Return configurations with live runs, by fingerprint."""
        access.require(namespace)
        found = self._configurations.get(namespace)
        if found is None:
            found = self._configurations[namespace] = self._facts.facts(namespace, self.data_version)
        return found

    def sweeps(self, namespace: str, fingerprint: str) -> Sequence[Sweep]:
        """Return the sweeps of one configuration, newest first; held in memory once read."""
        access.require(namespace)
        key = (namespace, fingerprint)
        version = self._generation.relevant_version(key, self.data_version)
        return () if version is None else self._sweeps.sweeps(key, version)

    def runs(self, namespace: str, chosen: RunFilter, page: Page) -> Listed:
        """Return runs without levels, newest first, each with its retirement."""
        access.require(namespace)
        cut = cut_of(page)
        where, parameters = self._condition(namespace, chosen)
        table = f"{self._generation.database}.runs"
        counted = self._generation.rows(f"SELECT count(*) AS total FROM {table} WHERE {where}", parameters)
        if cut is not None:
            where += " AND (ingested_at < ?::TIMESTAMPTZ OR (ingested_at = ?::TIMESTAMPTZ AND run_id > ?))"
            ingested_at = cut.ingested_at.isoformat()
            parameters = [*parameters, ingested_at, ingested_at, cut.run_id]
        rows = self._generation.rows(
            f"SELECT * FROM {table} WHERE {where} ORDER BY ingested_at DESC, run_id LIMIT ?",
            [*parameters, page.limit + 1],
        )
        runs = [row_to_run(row) for row in rows[: page.limit]]
        return Listed(
            rows=tuple((run, self._retirement(run)) for run in runs),
            total_count=counted[0]["total"],
            next_after=Cut.at(runs[-1]).text() if len(rows) > page.limit else None,
        )

    def run(self, namespace: str, run_id: str) -> tuple[Run, Retirement | None]:
        """Return one run with levels; raise ``NotStored``."""
        access.require(namespace)
        where = "namespace = ? AND run_id = ? AND data_version <= ?"
        parameters: list[object] = [namespace, run_id, self.data_version]
        database = self._generation.database
        found = self._generation.rows(f"SELECT * FROM {database}.runs WHERE {where}", parameters)
        if not found:
            raise NotStored(f"no run {run_id} in namespace {namespace}", run_id=run_id, namespace=namespace)
        levels = self._generation.rows(
            f"SELECT * FROM {database}.points WHERE skey = ? AND {where}", [found[0]["skey"], *parameters]
        )
        run = row_to_run(found[0], levels)
        return run, self._retirement(run)

    def _retirement(self, run: Run) -> Retirement | None:
        return self._generation.retirement((run.namespace, run.run_id), self.data_version)

    def _condition(self, namespace: str, chosen: RunFilter) -> tuple[str, list[object]]:
        """Return the WHERE of chosen runs; column names are those of ``Configuration``, values are parameters."""
        equal: dict[str, object] = {
            "namespace": namespace,
            **({} if chosen.configuration is None else chosen.configuration.stated()),
        }
        texts = {
            "fingerprint": chosen.fingerprint,
            "tool": chosen.tool,
            "coalesce(sweep_id, report_id)": chosen.sweep_id,
        }
        equal.update({name: value for name, value in texts.items() if value is not None})
        conditions = ["data_version <= ?", *(f"{name} = ?" for name in equal)]
        parameters: list[object] = [self.data_version, *equal.values()]
        if not chosen.include_retired:
            conditions.append("run_id NOT IN (SELECT unnest(?::VARCHAR[]))")
            parameters.append(self._generation.retired_ids(namespace, self.data_version))
        return " AND ".join(conditions), parameters

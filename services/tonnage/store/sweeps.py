"""Grouping of live runs into sweeps, and what is known of a configuration: pure, for every back end alike."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage.domain.buckets import WorkSums, added, sums_of
from tonnage.domain.measurement import TestState
from tonnage.store.base import ConfigurationFacts, Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from tonnage.domain.configuration import Configuration
    from tonnage.domain.measurement import ArrivalKind, Run, Work


def acknowledged_at(run: Run) -> datetime:
    """Return when a stored run was first acknowledged; the store sets it on every run."""
    if run.ingested_at is None:
        raise ValueError(f"run {run.run_id} did not come from a store")
    return run.ingested_at


def sweep_name(run: Run | RunHead) -> str:
    """Return the sweep id; where none was given, the levels of one file are one sweep."""
    return run.report_id if run.sweep_id is None else run.sweep_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHead:
    """What of a run decides to which sweep it belongs, and its part of the sweep's mean request size."""

    run_id: str
    report_id: str
    sweep_id: str | None
    tool: str
    metric_definitions: str
    arrival_kind: ArrivalKind | None
    sample_set: str | None
    state: TestState | None
    measured_at: datetime | None
    ingested_at: datetime
    level_count: int
    sums: WorkSums | None

    @classmethod
    def of(cls, run: Run) -> RunHead:
        """Return the head of a stored run with levels."""
        return cls(
            run_id=run.run_id,
            report_id=run.report_id,
            sweep_id=run.sweep_id,
            tool=run.tool,
            metric_definitions=run.metric_definitions,
            arrival_kind=run.arrival_kind,
            sample_set=run.sample_set,
            state=run.state,
            measured_at=run.measured_at,
            ingested_at=acknowledged_at(run),
            level_count=len(run.levels),
            sums=sums_of(run.levels),
        )

    @property
    def key(self) -> tuple[str, ...]:
        """Return what all runs of a sweep share, the configuration apart."""
        kind = "" if self.sums is None else self.sums.kind
        options = (self.arrival_kind, self.sample_set)
        texts = (f"={option}" if option is not None else "" for option in options)
        return (sweep_name(self), self.tool, self.metric_definitions, kind, *texts)

    @property
    def is_on_a_curve(self) -> bool:
        """Tell whether the run has warm levels: a cold run is kept, and is on no curve."""
        return self.sums is not None and self.state is not TestState.COLD


@dataclass(frozen=True, slots=True)
class Group:
    """The heads of one sweep, by run id."""

    heads: tuple[RunHead, ...]

    @property
    def newest_ingested_at(self) -> datetime:
        """Return when the newest run was first acknowledged."""
        return max(head.ingested_at for head in self.heads)

    @property
    def newest_measured_at(self) -> datetime | None:
        """Return when the newest run was measured, of those that tell."""
        return max((head.measured_at for head in self.heads if head.measured_at is not None), default=None)

    @property
    def work(self) -> Work:
        """Return the completed-weighted mean request size over all levels."""
        return added(head.sums for head in self.heads if head.sums is not None).mean()


def grouped(heads: Iterable[RunHead]) -> list[Group]:
    """Return the sweeps of one configuration, newest first.

    Newest by when it was measured, where that is known, else by when it was ingested; equal ones
    by ingestion, then by key, so that the order never depends on the order of the heads.
    """
    held: defaultdict[tuple[str, ...], list[RunHead]] = defaultdict(list)
    for head in heads:
        if head.is_on_a_curve:
            held[head.key].append(head)
    groups = [Group(tuple(sorted(held[key], key=lambda head: head.run_id))) for key in sorted(held)]
    groups.sort(key=lambda group: group.newest_ingested_at, reverse=True)
    groups.sort(key=lambda group: group.newest_measured_at or group.newest_ingested_at, reverse=True)
    return groups


def sweeps_of(runs: Iterable[Run]) -> tuple[Sweep, ...]:
    """Return the sweeps of live runs of one configuration, newest first, runs by id."""
    by_id = {run.run_id: run for run in runs}
    heads = (RunHead.of(run) for run in by_id.values())
    return tuple(_sweep(group, [by_id[head.run_id] for head in group.heads]) for group in grouped(heads))


def _sweep(group: Group, runs: Sequence[Run]) -> Sweep:
    first = group.heads[0]
    return Sweep(
        configuration=runs[0].configuration,
        sweep_id=sweep_name(first),
        tool=first.tool,
        metric_definitions=first.metric_definitions,
        arrival_kind=first.arrival_kind,
        work=group.work,
        runs=tuple(runs),
        newest_ingested_at=group.newest_ingested_at,
        newest_measured_at=group.newest_measured_at,
    )


def facts_of(configuration: Configuration, heads: Sequence[RunHead]) -> ConfigurationFacts | None:
    """Return what is known of a configuration from the heads of its live runs; None without any."""
    if not heads:
        return None
    works = dict.fromkeys(group.work for group in grouped(heads))
    return ConfigurationFacts(
        configuration=configuration,
        fingerprint=configuration.fingerprint,
        run_count=len(heads),
        level_count=sum(head.level_count for head in heads),
        works=tuple(works),
        newest_measured_at=max((head.measured_at for head in heads if head.measured_at is not None), default=None),
    )

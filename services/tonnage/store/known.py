"""What the store knows of uploads so far: the facts every decision about a new one is made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tonnage.store.base import PlanRecord, ReportFacts, Retirement, Retraction
    from tonnage.store.incoming import Upload

RequestKind = Literal["append", "retract"]
EventKind = Literal["RETRACTED", "SUPERSEDED", "RESTORED"]
Key = tuple[str, str]
"""(namespace, id)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRun:
    """A stored run; ``data_version`` is of its first ack, ``event_version`` of its newest event."""

    namespace: str
    run_id: str
    report_id: str
    filename: str
    level_count: int
    ingested_at: datetime
    data_version: int
    retirement: Retirement | None = None
    event_version: int | None = None

    @property
    def key(self) -> Key:
        """Return namespace and id."""
        return self.namespace, self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownReport:
    """A stored raw report with the labels last given; ``ingested_at`` and version are of the first ack."""

    namespace: str
    facts: ReportFacts
    ingested_at: datetime
    data_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRequest:
    """A request id that was answered, with the answer as text."""

    namespace: str
    request_id: str
    kind: RequestKind
    body_digest: str
    receipt: str
    answered_at: datetime
    data_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change of a run's standing."""

    namespace: str
    run_id: str
    kind: EventKind
    reason: str
    actor: str | None
    happened_at: datetime
    event_index: int
    data_version: int


def retirement_after(kind: EventKind) -> Retirement | None:
    """Return the standing of a run after an event."""
    return None if kind == "RESTORED" else kind


@dataclass(slots=True)
class Known:
    """Facts by key; holds at least those that the decision at hand touches."""

    runs: dict[Key, KnownRun] = field(default_factory=dict)
    reports: dict[Key, KnownReport] = field(default_factory=dict)
    requests: dict[Key, KnownRequest] = field(default_factory=dict)
    plans: dict[Key, PlanRecord] = field(default_factory=dict)

    def of_report(self, namespace: str, report_id: str) -> list[KnownRun]:
        """Return the runs of one raw report, by run id."""
        found = [run for run in self.runs.values() if (run.namespace, run.report_id) == (namespace, report_id)]
        return sorted(found, key=lambda run: run.run_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What has to be looked up before a decision."""

    runs: frozenset[Key] = frozenset()
    reports: frozenset[Key] = frozenset()
    requests: frozenset[Key] = frozenset()
    plans: frozenset[Key] = frozenset()

    @classmethod
    def of_uploads(cls, uploads: Sequence[Upload]) -> Keys:
        """Return the keys some uploads touch."""
        runs = {(key.namespace, key.run_id) for upload in uploads for key in upload.keys}
        filed = [upload for upload in uploads if upload.report is not None]
        reports = {(key.namespace, key.report_id) for upload in filed for key in upload.keys}
        items = [upload.item for upload in uploads]
        requests = {(item.namespace, item.request_id) for item in items if item.request_id is not None}
        return cls(runs=frozenset(runs), reports=frozenset(reports), requests=frozenset(requests))

    @classmethod
    def of_retraction(cls, item: Retraction) -> Keys:
        """Return the keys a retraction touches."""
        requests = () if item.request_id is None else ((item.namespace, item.request_id),)
        return cls(
            runs=frozenset((item.namespace, run_id) for run_id in item.run_ids),
            requests=frozenset(requests),
        )

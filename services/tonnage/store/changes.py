"""What one transaction writes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tonnage.store.known import Event, retirement_after

if TYPE_CHECKING:
    from datetime import datetime

    from tonnage.store.base import PlanRecord
    from tonnage.store.incoming import Upload
    from tonnage.store.known import EventKind, KnownReport, KnownRequest, KnownRun


@dataclass(slots=True)
class Changes:
    """Rows to be written in one transaction, under one new data version."""

    data_version: int
    now: datetime
    uploads: list[tuple[Upload, list[KnownRun]]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    reports: list[KnownReport] = field(default_factory=list)
    requests: list[KnownRequest] = field(default_factory=list)
    plans: list[PlanRecord] = field(default_factory=list)

    @property
    def holds_data(self) -> bool:
        """Tell whether answers change: only then the data version is spent."""
        return bool(self.uploads or self.events or self.reports)

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to write."""
        return not (self.holds_data or self.requests or self.plans)

    def namespaces(self) -> list[str]:
        """Return the namespaces whose data changes."""
        uploads = {upload.item.namespace for upload, _ in self.uploads}
        events = {event.namespace for event in self.events}
        return sorted(uploads | events | {report.namespace for report in self.reports})

    def counts(self, namespace: str) -> dict[str, int]:
        """Return how much the commit holds of a namespace."""
        runs = [known for upload, new in self.uploads if upload.item.namespace == namespace for known in new]
        return {
            "run_count": len(runs),
            "point_count": sum(known.level_count for known in runs),
            "event_count": sum(event.namespace == namespace for event in self.events),
        }

    def add_event(self, run: KnownRun, kind: EventKind, reason: str, actor: str | None) -> KnownRun:
        """Add an event of one run, and return the run as it stands then."""
        self.events.append(
            Event(
                namespace=run.namespace,
                run_id=run.run_id,
                kind=kind,
                reason=reason,
                actor=actor,
                happened_at=self.now,
                event_index=len(self.events),
                data_version=self.data_version,
            )
        )
        return replace(run, retirement=retirement_after(kind), event_version=self.data_version)

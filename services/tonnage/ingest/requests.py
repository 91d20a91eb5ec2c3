"""What ingest is asked and what it answers, free of the wire."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from tonnage import access, checks
from tonnage.errors import InvalidInput, at

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

DEFAULT_NAMESPACE: Final = "default"
LARGEST_RETRACTION: Final = 1000
LARGEST_MAP_COUNT: Final = 200
_NAMESPACE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_LONGEST_REQUEST_ID: Final = 128

Outcome = Literal["STORED", "ALREADY_STORED", "VALID"]


def check_namespace(path: str, namespace: str) -> None:
    """Refuse names that could not stand in a resource name, and those the call does not see."""
    if not _NAMESPACE.fullmatch(namespace):
        cure = "use up to 63 letters, digits, dots, hyphens and underscores, beginning with a letter or digit"
        raise InvalidInput.field(path, namespace, "is no namespace", cure)
    access.require(namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """What is said beside a raw file; texts that were empty are None."""

    namespace: str = DEFAULT_NAMESPACE
    request_id: str | None = None
    filename: str = ""
    format: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    column_map: Mapping[str, str] = field(default_factory=dict)
    sweep_id: str | None = None
    default_sweep_id: str | None = None
    replace: bool = False
    validate_only: bool = False
    ingested_by: str | None = None
    ci_job: str | None = None
    size_bytes: int | None = None

    def __post_init__(self) -> None:
        """Hold every text to a readable one; raise ``InvalidInput``."""
        check_namespace("namespace", self.namespace)
        checks.name("request_id", self.request_id, longest=_LONGEST_REQUEST_ID)
        for key in ("filename", "format", "sweep_id", "default_sweep_id", "ingested_by", "ci_job"):
            checks.name(key, getattr(self, key))
        checks.count("size_bytes", self.size_bytes, least=0)
        self._check_map()

    def _check_map(self) -> None:
        if len(self.column_map) > LARGEST_MAP_COUNT:
            cure = f"map at most {LARGEST_MAP_COUNT}"
            raise InvalidInput.field("column_map", len(self.column_map), "holds too many columns", cure)
        for key, value in self.column_map.items():
            checks.required("column_map", key)
            checks.name("column_map", key)
            with at(f'column_map["{key}"]'):
                checks.required("", value)
                checks.name("", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsRequest:
    """What is said beside runs that come in our own form."""

    namespace: str = DEFAULT_NAMESPACE
    request_id: str | None = None
    ingested_by: str | None = None
    ci_job: str | None = None
    validate_only: bool = False

    def __post_init__(self) -> None:
        """Hold every text to a readable one; raise ``InvalidInput``."""
        check_namespace("namespace", self.namespace)
        checks.name("request_id", self.request_id, longest=_LONGEST_REQUEST_ID)
        for key in ("ingested_by", "ci_job"):
            checks.name(key, getattr(self, key))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetractRequest:
    """Runs of one namespace to take out of every answer, by run id."""

    namespace: str
    run_ids: tuple[str, ...]
    reason: str
    request_id: str | None = None
    retracted_by: str | None = None
    validate_only: bool = False

    def __post_init__(self) -> None:
        """Refuse no runs, too many, and no reason; raise ``InvalidInput``."""
        checks.not_empty("runs", self.run_ids)
        if len(self.run_ids) > LARGEST_RETRACTION:
            cure = f"name at most {LARGEST_RETRACTION} at once"
            raise InvalidInput.field("runs", len(self.run_ids), "holds too many names", cure)
        check_namespace("runs[0]", self.namespace)
        checks.required("reason", self.reason.strip())
        checks.name("reason", self.reason)
        checks.name("request_id", self.request_id, longest=_LONGEST_REQUEST_ID)
        checks.name("retracted_by", self.retracted_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer:
    """What became of one run."""

    run: Run
    outcome: Outcome
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAnswer:
    """What became of a raw file; ``ingested_at`` is None when nothing was stored."""

    report_id: str
    format: str
    runs: tuple[RunAnswer, ...]
    data_version: int
    findings: tuple[Finding, ...] = ()
    ingested_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsAnswer:
    """What became of runs that came in our own form."""

    runs: tuple[RunAnswer, ...]
    data_version: int

    @property
    def stored_level_count(self) -> int:
        """Return how many levels are new."""
        return sum(len(item.run.levels) for item in self.runs if item.outcome == "STORED")


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRun:
    """What is told of one run that came in bulk; ``missing`` is what a plan needs and the run does not state.

    ``findings`` are told run by run where runs came as messages; of tables they are summed up in the answer.
    """

    run_id: str
    level_count: int
    usable_level_count: int
    fingerprint: str
    sweep_id: str
    missing: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAnswer:
    """What became of runs that came in bulk, in their order, each with its outcome."""

    namespace: str
    runs: tuple[tuple[BulkRun, Outcome], ...]
    data_version: int
    findings: tuple[Finding, ...]

    @property
    def stored(self) -> list[BulkRun]:
        """Return the runs that are new."""
        return [run for run, outcome in self.runs if outcome == "STORED"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """What a file would be stored as."""

    report_id: str
    format: str
    runs: tuple[Run, ...]
    findings: tuple[Finding, ...]

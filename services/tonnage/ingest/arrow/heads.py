"""What holds for whole runs: their names settled once for all runs that say the same of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tonnage import checks
from tonnage.domain.configuration import FIELD_NAMES, Conditions, Configuration
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import ArrivalKind, Run, TestState
from tonnage.errors import InvalidInput
from tonnage.formats.lint import COUNT_NOT_STATED
from tonnage.formats.reading.columns import CONDITIONS
from tonnage.formats.tonnage_table import TonnageTable
from tonnage.ingest import keys
from tonnage.ingest.arrow.columns import LABEL_PREFIX, WORK
from tonnage.ingest.given import Given
from tonnage.ingest.names import normal_run, settled_names
from tonnage.ingest.replicas import with_replicas
from tonnage.store.texts import findings_to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tonnage.domain.finding import Finding

# Every run has its own; the rest of what it says is shared by many.
OWN: Final = ("sweep_id", "measured_at")
_KINDS: Final = tuple(dict.fromkeys(kind for _, kind in WORK.values()))


@dataclass(frozen=True, slots=True)
class Head:
    """A run without levels, ids, sweep and date, in normal names; ``said_digest`` is of what the caller said."""

    run: Run
    kind: str
    said_digest: str
    fingerprint: str
    missing: tuple[str, ...]
    findings_text: str
    findings_text_uncounted: str

    def findings(self, *, is_counted: bool) -> tuple[Finding, ...]:
        """Return the findings of a run, one of whose levels may not tell how many requests completed."""
        return self.run.findings if is_counted else (COUNT_NOT_STATED, *self.run.findings)


def head_of(said: Mapping[str, Any]) -> Head:
    """Return the head of runs that say this; raise ``InvalidInput`` with the column as path."""
    for name, value in said.items():
        if isinstance(value, str):
            checks.name(name, value)
    kind = said.get("modality", "text")
    checks.one_of("modality", kind, _KINDS)
    run = with_replicas(settled_names(normal_run(_stated(said))), Given())
    return Head(
        run=run,
        kind=kind,
        said_digest=keys.body_digest(dict(said)),
        fingerprint=run.configuration.fingerprint,
        missing=run.missing_for_plan(),
        findings_text=findings_to_text(run.findings),
        findings_text_uncounted=findings_to_text((COUNT_NOT_STATED, *run.findings)),
    )


def _stated(said: Mapping[str, Any]) -> Run:
    checks.count("replicas_under_test", said.get("replicas_under_test"))
    state = _choice("state", said.get("state"), TestState)
    labels = ((name.removeprefix(LABEL_PREFIX), value) for name, value in said.items() if name.startswith(LABEL_PREFIX))
    return Run(
        tool=said.get("tool", TonnageTable.name),
        metric_definitions=said.get("metric_definitions", TonnageTable.metric_definitions),
        levels=(),
        tool_version=said.get("tool_version"),
        configuration=Configuration(**{name: said.get(name) for name in FIELD_NAMES}),
        conditions=Conditions(**{name: said.get(name) for name in CONDITIONS}, labels=tuple(sorted(labels))),
        replicas_under_test=said.get("replicas_under_test"),
        arrival_kind=_choice("arrival_kind", said.get("arrival_kind"), ArrivalKind),
        state=state,
        state_origin=None if state is None else Origin.DECLARED,
        sample_set=said.get("sample_set"),
        source=said.get("source"),
    )


def _choice(name: str, value: str | None, kinds: Any) -> Any:  # noqa: ANN401 -- one of two enums
    if value is None:
        return None
    try:
        return kinds(value.lower())
    except ValueError as error:
        raise InvalidInput.field(name, value, "is not known", f"use one of {', '.join(kinds)}") from error

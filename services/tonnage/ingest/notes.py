"""Findings that ingest itself makes, beside those of the readers and the lint."""

from __future__ import annotations

from typing import Final

from tonnage.domain.finding import Finding, Severity

CODES: Final = {
    "ACCELERATOR_AMBIGUOUS": "the file's accelerator name means several cards; kept as not stated",
    "ACCELERATOR_UNKNOWN": "the accelerator is not in the catalog; the name is kept as it was written",
    "COLUMN_MAP_NOT_USED": "columns were mapped, and the file is of a tool whose columns are known",
    "RUN_RETIRED": "a run sent again was retracted or superseded before, and stays so",
    "NAME_GIVEN": "a name the file uses was made precise by the label given",
    "ACCELERATORS_PER_REPLICA_DERIVED": "accelerators of a replica computed from the parallelism",
    "ACCELERATORS_CONTRADICT_PARALLELISM": "the file's accelerators are fewer than its parallelism needs",
    "REPLICAS_UNDER_TEST_ASSUMED": "nobody said how many replicas were under test; one is taken",
    "REPLICAS_UNDER_TEST_UNKNOWN": "the accelerators are not those of one replica, and nobody said how many ran",
    "REPLICAS_CONTRADICT_ACCELERATORS": "the replicas stated do not take up the accelerators stated",
}


def note(code: str, message: str, *, path: str, remedy: str = "", severity: Severity = Severity.WARNING) -> Finding:
    """Return a finding of one of ``CODES``."""
    if code not in CODES:
        raise KeyError(code)
    return Finding(code=code, severity=severity, message=message, path=path, remedy=remedy)

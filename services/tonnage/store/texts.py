"""Pure pairs between parts of the domain and the JSON texts kept in columns."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from tonnage.domain.buckets import FieldSums, WorkSums
from tonnage.domain.finding import Evidence, Finding, Origin, Severity
from tonnage.store.base import Receipt, RetractionReceipt, RunReceiptRow

if TYPE_CHECKING:
    from collections.abc import Sequence

# One encoder for all: making one costs more than a short text.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_SUM_NAMES: Final = tuple(item.name for item in fields(FieldSums))


def compact(value: object) -> str:
    """Return JSON without spaces; a double comes back as the same double."""
    return _ENCODER.encode(value)


def findings_to_text(findings: Sequence[Finding]) -> str:
    """Return findings as a JSON array; fields at their default are left out."""
    return compact([_finding(item) for item in findings])


def _finding(item: Finding) -> dict[str, Any]:
    stated = {key: value for key, value in asdict(item).items() if value}
    stated["evidence"] = [_stated(evidence) for evidence in item.evidence]
    return stated


def _stated(evidence: Evidence) -> dict[str, Any]:
    return {key: value for key, value in asdict(evidence).items() if value is not None and value != ""}


def findings_from_text(text: str) -> tuple[Finding, ...]:
    """Return the findings of a JSON array made by ``findings_to_text``."""
    if text == "[]":
        return ()
    return tuple(_to_finding(item) for item in json.loads(text))


def _to_finding(item: dict[str, Any]) -> Finding:
    evidence = tuple(
        Evidence(**{"quantity": "", **entry, "origin": Origin(entry["origin"])}) for entry in item["evidence"]
    )
    stated = {"code": "", "message": "", **item}
    return Finding(**{**stated, "severity": Severity(item["severity"]), "evidence": evidence})


def sums_to_text(sums: WorkSums) -> str:
    """Return the sums a sweep's mean request size is made of, as JSON."""
    parts = {name: [getattr(item, key) for key in _SUM_NAMES] for name, item in sums.sums}
    return compact({"kind": sums.kind, "sums": parts})


def sums_from_text(text: str) -> WorkSums:
    """Return the sums of a text made by ``sums_to_text``."""
    held = json.loads(text)
    parts = tuple(
        (name, FieldSums(**dict(zip(_SUM_NAMES, values, strict=True)))) for name, values in held["sums"].items()
    )
    return WorkSums(kind=held["kind"], sums=parts)


def receipt_to_text(receipt: Receipt | RetractionReceipt) -> str:
    """Return the receipt of a request, so that its repeat gets the same answer."""
    return json.dumps(asdict(receipt), default=datetime.isoformat, ensure_ascii=False, separators=(",", ":"))


def receipt_from_text(text: str) -> Receipt:
    """Return the receipt of an upload made by ``receipt_to_text``."""
    held = json.loads(text)
    return Receipt(
        data_version=held["data_version"],
        ingested_at=datetime.fromisoformat(held["ingested_at"]),
        runs=tuple(RunReceiptRow(**row) for row in held["runs"]),
        superseded=tuple(held["superseded"]),
    )


def retraction_from_text(text: str) -> RetractionReceipt:
    """Return the receipt of a retraction made by ``receipt_to_text``."""
    held = json.loads(text)
    return RetractionReceipt(data_version=held["data_version"], already_retracted=tuple(held["already_retracted"]))

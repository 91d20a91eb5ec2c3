"""What became of each uploaded file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage_ui.messages import enum_word, pb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage_ui.words import Words


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file's result; ``tone`` is success, info or error. ``runs`` are the names of what is stored now."""

    filename: str
    tone: str
    message: str
    runs: tuple[str, ...]
    findings: tuple[pb.Finding, ...]
    missing_for_plan: tuple[str, ...]
    fingerprints: tuple[str, ...]


def stored(filename: str, answer: pb.IngestReportResponse, words: Words) -> FileResult:
    """Return the result of a file the server took."""
    outcomes = [enum_word(receipt, "outcome") for receipt in answer.runs]
    kept = [receipt for receipt in answer.runs if enum_word(receipt, "outcome") in {"stored", "already_stored"}]
    return FileResult(
        filename=filename,
        tone=_tone(outcomes),
        message=_message(outcomes, answer, words),
        runs=tuple(receipt.run for receipt in kept),
        findings=(*answer.findings, *(finding for receipt in answer.runs for finding in receipt.findings)),
        missing_for_plan=tuple(dict.fromkeys(field for receipt in answer.runs for field in receipt.missing_for_plan)),
        fingerprints=tuple(dict.fromkeys(receipt.fingerprint for receipt in kept if receipt.fingerprint)),
    )


def _tone(outcomes: list[str]) -> str:
    if "stored" in outcomes:
        return "success"
    return "info" if "already_stored" in outcomes else "error"


def _message(outcomes: list[str], answer: pb.IngestReportResponse, words: Words) -> str:
    levels = sum(receipt.level_count for receipt in answer.runs)
    usable = sum(receipt.usable_level_count for receipt in answer.runs)
    key = {"success": "stored", "info": "already_stored", "error": "nothing_stored"}[_tone(outcomes)]
    return words(f"upload.{key}", runs=len(outcomes), levels=levels, usable=usable, tool=answer.format)


def format_rows(formats: Iterable[pb.Format], words: Words) -> list[dict[str, str]]:
    """Return one row a file form that can be read."""
    return [
        {
            words("column.format"): item.name,
            words("column.title"): item.title,
            words("column.recognised_by"): item.recognised_by,
            words("column.definitions"): "; ".join(
                f"{definition.metric}: {definition.definition}" for definition in item.definitions
            ),
        }
        for item in formats
    ]

"""Findings and evidence as rows, gravest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage_ui import numbers
from tonnage_ui.messages import count_of, enum_word, pb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage_ui.words import Words


@dataclass(frozen=True, slots=True)
class FindingCard:
    """One finding as it is shown; ``severity`` is error, warning or info."""

    code: str
    severity: str
    message: str
    path: str
    remedy: str
    evidence: tuple[pb.Evidence, ...]


def cards(findings: Iterable[pb.Finding]) -> list[FindingCard]:
    """Return findings gravest first; the same one said twice is shown once."""
    seen: dict[tuple[str, str, str], pb.Finding] = {}
    for finding in findings:
        seen.setdefault((finding.code, finding.path, finding.message), finding)
    ordered = sorted(seen.values(), key=lambda finding: -finding.severity)
    return [
        FindingCard(
            code=finding.code,
            severity=enum_word(finding, "severity"),
            message=finding.message,
            path=finding.path,
            remedy=finding.remedy,
            evidence=tuple(finding.evidence),
        )
        for finding in ordered
    ]


def tally(shown: list[FindingCard], words: Words) -> str:
    """Return how many findings of each severity there are, such as "1 warning, 2 notes"."""
    parts = []
    for severity in ("error", "warning", "info"):
        found = sum(card.severity == severity for card in shown)
        if found:
            parts.append(words(f"findings.{severity}_{'one' if found == 1 else 'many'}", count=found))
    return ", ".join(parts) or words("findings.none")


def evidence_rows(evidence: Iterable[pb.Evidence], words: Words) -> list[dict[str, str]]:
    """Return a table of what some numbers rest on, down to the place in the raw file."""
    unique = {item.SerializeToString(deterministic=True): item for item in evidence}
    return [
        {
            words("column.quantity"): item.quantity,
            words("column.origin"): words.known("origin", enum_word(item, "origin")),
            words("column.file"): numbers.text(item.source),
            words("column.tool"): numbers.text(item.tool),
            words("column.location"): numbers.text(item.location),
            words("column.point"): numbers.count(count_of(item, "point_index")),
            words("column.run"): numbers.text(item.run),
            words("column.report"): numbers.text(item.report_id),
            words("column.note"): numbers.text(item.note),
        }
        for item in unique.values()
    ]

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
    """The findings of one code as they are shown; ``severity`` is error, warning or info.

    ``others`` are the messages behind the first.
    """

    code: str
    severity: str
    message: str
    path: str
    remedy: str
    evidence: tuple[pb.Evidence, ...]
    others: tuple[str, ...]


def cards(findings: Iterable[pb.Finding]) -> list[FindingCard]:
    """Return findings gravest first, those of one code together; the same one said twice is shown once."""
    groups: dict[tuple[int, str], dict[tuple[str, str], pb.Finding]] = {}
    for finding in findings:
        group = groups.setdefault((-finding.severity, finding.code), {})
        group.setdefault((finding.path, finding.message), finding)
    return [_card(list(groups[key].values())) for key in sorted(groups, key=lambda key: key[0])]


def _card(group: list[pb.Finding]) -> FindingCard:
    first = group[0]
    return FindingCard(
        code=first.code,
        severity=enum_word(first, "severity"),
        message=first.message,
        path=first.path,
        remedy=first.remedy,
        evidence=tuple(item for finding in group for item in finding.evidence),
        others=tuple(finding.message for finding in group[1:]),
    )


def tally(shown: list[FindingCard], words: Words) -> str:
    """Return how many findings of each severity there are, such as "1 warning, 2 notes"."""
    parts = []
    for severity in ("error", "warning", "info"):
        found = sum(1 + len(card.others) for card in shown if card.severity == severity)
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

"""Findings and evidence, to the wire and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.domain.finding import Evidence, Finding
from tonnage.errors import at
from tonnage.rpc.codec.enums import ORIGIN, SEVERITY
from tonnage.v1 import finding_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage.domain.finding import Origin

_TEXTS = ("quantity", "run", "report_id", "source", "tool", "location", "note")
_LONGEST_TEXT = 4096


def encode_origin(origin: Origin | None) -> pb.Origin.ValueType:
    """Return the origin's number; None is unspecified."""
    number: pb.Origin.ValueType = ORIGIN.encode(origin)
    return number


def encode_evidence(evidence: Evidence) -> pb.Evidence:
    """Return evidence as a message."""
    return pb.Evidence(
        origin=ORIGIN.encode(evidence.origin),
        quantity=evidence.quantity,
        run=evidence.run,
        point_index=evidence.point_index,
        report_id=evidence.report_id,
        source=evidence.source,
        tool=evidence.tool,
        location=evidence.location,
        note=evidence.note,
    )


def encode_finding(finding: Finding) -> pb.Finding:
    """Return a finding as a message."""
    return pb.Finding(
        code=finding.code,
        severity=SEVERITY.encode(finding.severity),
        path=finding.path,
        message=finding.message,
        evidence=[encode_evidence(item) for item in finding.evidence],
        remedy=finding.remedy,
    )


def encode_findings(findings: Iterable[Finding]) -> list[pb.Finding]:
    """Return findings as messages, in their order."""
    return [encode_finding(item) for item in findings]


def decode_evidence(message: pb.Evidence) -> Evidence:
    """Return evidence; raise ``InvalidInput`` with the field's path."""
    for key in _TEXTS:
        checks.name(key, getattr(message, key), longest=_LONGEST_TEXT)
    index = message.point_index if message.HasField("point_index") else None
    checks.count("point_index", index, least=0)
    return Evidence(
        origin=ORIGIN.decode_required(message.origin, "origin"),
        point_index=index,
        **{key: getattr(message, key) for key in _TEXTS},
    )


def decode_finding(message: pb.Finding) -> Finding:
    """Return a finding; raise ``InvalidInput`` with the field's path."""
    checks.required("code", message.code)
    for key in ("code", "path", "message", "remedy"):
        checks.name(key, getattr(message, key), longest=_LONGEST_TEXT)
    evidence = []
    for position, item in enumerate(message.evidence):
        with at(f"evidence[{position}]"):
            evidence.append(decode_evidence(item))
    return Finding(
        code=message.code,
        severity=SEVERITY.decode_required(message.severity, "severity"),
        message=message.message,
        path=message.path,
        remedy=message.remedy,
        evidence=tuple(evidence),
    )


def decode_findings(messages: Sequence[pb.Finding], path: str = "findings") -> tuple[Finding, ...]:
    """Return findings in their order; raise ``InvalidInput`` with the field's path."""
    found = []
    for position, message in enumerate(messages):
        with at(f"{path}[{position}]"):
            found.append(decode_finding(message))
    return tuple(found)

"""Findings of the capacity maths: how they are made, and the one order they are told in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.finding import Evidence, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

_RANK: Final = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def info(code: str, message: str, *, path: str = "", remedy: str = "", evidence: tuple[Evidence, ...] = ()) -> Finding:
    """Return a finding worth knowing."""
    return Finding(code=code, severity=Severity.INFO, message=message, path=path, remedy=remedy, evidence=evidence)


def warning(
    code: str, message: str, *, path: str = "", remedy: str = "", evidence: tuple[Evidence, ...] = ()
) -> Finding:
    """Return a finding under which the answer stands on weaker ground than it looks."""
    return Finding(code=code, severity=Severity.WARNING, message=message, path=path, remedy=remedy, evidence=evidence)


def error(code: str, message: str, *, path: str = "", remedy: str = "", evidence: tuple[Evidence, ...] = ()) -> Finding:
    """Return a finding of something refused, dropped or impossible."""
    return Finding(code=code, severity=Severity.ERROR, message=message, path=path, remedy=remedy, evidence=evidence)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings once each, gravest first, then by code, path and words."""
    unique = dict.fromkeys(findings)
    return tuple(sorted(unique, key=lambda item: (_RANK[item.severity], item.code, item.path, item.message)))


_OF_WORKLOAD: Final = ("buckets", "demand", "failover", "reserve", "server", "slo")


def of_workload(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with their paths as a plan request has them: under ``workload``."""
    return tuple(_moved(item) for item in findings)


def _moved(finding: Finding) -> Finding:
    if finding.path == "accelerators_per_server":
        return replace(finding, path="workload.server.accelerators_per_server")
    return replace(finding, path=f"workload.{finding.path}") if finding.path.startswith(_OF_WORKLOAD) else finding

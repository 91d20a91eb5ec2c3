"""Checks on every level: what cannot be true is dropped, what is doubtful is marked; pure, and safe to repeat.

Two strengths, by ``docs/method.md`` and the meanings of the product:

* *dropped*: a value that cannot be true (NaN, negative, a latency of zero, disordered percentiles). The level no
  longer carries it; the finding holds what was there.
* *marked*: a value that is shown and not used as capacity. Its finding is a WARNING whose ``path`` is the
  statistic's name (``ttft_p99_ms``). A level that as a whole may not be used has ``usable`` False.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.finding import Severity
from tonnage.formats.checks.latencies import check_latencies
from tonnage.formats.checks.loads import check_load
from tonnage.formats.checks.scalars import check_scalars
from tonnage.formats.reading.notes import note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Level, Run

CODES = {
    "NON_FINITE_STATISTIC": "NaN or infinite; dropped",
    "IMPOSSIBLE_STATISTIC": "negative, zero where zero cannot be, or undefined; dropped",
    "PERCENTILE_ORDER": "a higher percentile lies below a lower one; both dropped",
    "MEAN_OUTSIDE_RANGE": "the mean is below what the percentiles allow; dropped",
    "E2E_BELOW_TTFT": "the whole request took less time than its first token; both dropped",
    "TOO_FEW_REQUESTS_FOR_STATISTIC": "too few completed requests for the statistic; marked",
    "E2E_MISMATCH": "e2e is not ttft + tpot x (output tokens - 1); TPOT marked when it is far too small",
    "TAIL_NOT_RESOLVED": "several percentiles are the same number",
    "ALL_FAILED": "no request succeeded; the level is not used",
    "NO_THROUGHPUT": "no rate is known; the level is not used",
    "LITTLES_LAW": "rate x time in system does not fit the cap on requests in flight",
    "RATE_MISMATCH": "requests/s is not completed / duration",
    "TOKEN_RATE_MISMATCH": "output tokens/s is not requests/s x mean output",
    "OFFERED_RATE_NOT_REACHED": "the server fell behind the offered rate",
    "LOAD_NOT_STATED": "neither a cap nor a rate is stated, so the level has no place on a curve",
    "UNSTEADY_LEVEL": "throughput or TTFT drifted between the halves of the level; the level is not used",
    "WARM_UP_INSIDE": "the first requests were far slower than the rest",
    "FAILURES_HIDDEN": "more requests were sent than completed and failed",
    "COUNT_NOT_STATED": "the file does not say how many requests completed, so its tails cannot be judged",
}

COUNT_NOT_STATED: Final = note(
    "COUNT_NOT_STATED",
    "the file does not say how many requests completed, so whether its tails rest on enough of them cannot be checked",
    path="completed_count",
    remedy="give completed_count with the upload",
)


def lint_run(run: Run) -> Run:
    """Return the run with its levels checked; what was found before is not said twice."""
    levels = tuple(lint_level(level) for level in run.levels)
    found = list(run.findings)
    if any(level.completed_count is None for level in levels):
        found.append(COUNT_NOT_STATED)
    return replace(run, levels=levels, findings=_distinct(found))


def lint_level(level: Level) -> Level:
    """Return one level, checked; tenants of a mixed level are checked alike."""
    level, scalar_findings = check_scalars(level)
    level, latency_findings = check_latencies(level)
    level, load_findings = check_load(level)
    tenants = tuple((name, lint_level(part)) for name, part in level.tenants)
    found = _distinct([*level.findings, *scalar_findings, *latency_findings, *load_findings])
    return replace(level, tenants=tenants, findings=found)


def marked_statistics(level: Level) -> frozenset[str]:
    """Return the names of statistics that are shown and may not be used as capacity."""
    return frozenset(item.path for item in level.findings if item.severity is not Severity.INFO and item.path)


def _distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    seen: dict[tuple[str, str], Finding] = {}
    for item in findings:
        seen.setdefault((item.code, item.path), item)
    return tuple(seen.values())

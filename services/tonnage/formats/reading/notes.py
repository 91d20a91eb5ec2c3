"""Findings that readers share, worded once."""

from __future__ import annotations

from tonnage.domain.finding import Finding, Severity


def note(code: str, message: str, *, path: str = "", remedy: str = "") -> Finding:
    """Return a finding a user should know and that bars nothing."""
    return Finding(code=code, severity=Severity.INFO, message=message, path=path, remedy=remedy)


def warning(code: str, message: str, *, path: str = "", remedy: str = "") -> Finding:
    """Return a finding that lowers trust; with a statistic's name as path it bars that statistic from capacity."""
    return Finding(code=code, severity=Severity.WARNING, message=message, path=path, remedy=remedy)


TIME_ZONE_NOT_STATED = note(
    "TIME_ZONE_NOT_STATED",
    "the file's date has no time zone and was taken as UTC",
    path="measured_at",
    remedy="give measured_at with a zone",
)
FAILURES_NOT_REPORTED = note(
    "FAILURES_NOT_REPORTED",
    "the tool does not write how many requests failed",
    path="failed_count",
    remedy="give failed_count, or compare completed requests with those sent",
)
POOLED = warning(
    "POOLED_LEVELS",
    "the file pools several load levels into one set of statistics, which is not an operating point",
    remedy="send the files of the single levels",
)
NOT_UNDER_LOAD = warning(
    "NOT_UNDER_LOAD",
    "a fixed batch without a server or a queue was timed; it says how fast the engine is, not what load it carries",
    remedy="drive the served model with a load tool at several loads",
)
BYTES_NOT_TOKENS = note(
    "NO_TOKEN_COUNTS",
    "the tool knows requests, not tokens",
    path="work",
    remedy="give input_tokens_mean and output_tokens_mean of the requests sent",
)
LATENCY_INCLUDES_FAILURES = warning(
    "LATENCY_INCLUDES_FAILURES",
    "the tool's latencies include failed requests, and a quick failure makes them look better",
    remedy="measure again without failures, or send per-request results",
)


def hidden_failures(sent: int | None, completed: int | None, failed: int | None) -> tuple[Finding, ...]:
    """Return the finding of requests sent that neither completed nor failed; nothing where a count is unknown."""
    if sent is None or completed is None or failed is None or sent <= completed + failed:
        return ()
    return (
        warning(
            "FAILURES_HIDDEN",
            f"{sent} requests were sent, {completed} completed and {failed} failed: "
            f"{sent - completed - failed} are not accounted for and may have failed",
            path="failed_count",
            remedy="see the tool's log for requests that timed out or were cut off, or give failed_count",
        ),
    )

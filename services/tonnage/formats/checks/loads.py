"""Checks of a level's rates against each other, its cap and its offered rate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import TextWork
from tonnage.formats.reading.fields import ratio
from tonnage.formats.reading.notes import note, warning

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Level

_LITTLE_SLACK: Final = 0.15
# A first token is only part of the time in the system, so it may not even fill the slots; rounding may pass by this.
_TTFT_SLACK: Final = 0.02
# Some tools take two nearby clocks for the duration and for the rate (4 % apart in short runs).
_RATE_SLACK: Final = 0.05
_TOKEN_SLACK: Final = 0.05
_BEHIND: Final = 0.10


def check_load(level: Level) -> tuple[Level, list[Finding]]:
    """Return the level, unusable where its figures cannot stand together, with what was found."""
    barring = [*_all_failed(level), *_no_throughput(level), *_overfull(level)]
    doubts = [*_no_load(level), *_underfull(level), *_unlike_rate(level), *_unlike_tokens(level), *_behind(level)]
    return (replace(level, usable=False) if barring else level), [*barring, *doubts]


def _all_failed(level: Level) -> list[Finding]:
    if level.completed_count != 0:
        return []
    failed = "all" if level.failed_count is None else f"all {level.failed_count}"
    return [warning("ALL_FAILED", f"no request succeeded ({failed} failed)", remedy="see the server's log, run again")]


def _no_throughput(level: Level) -> list[Finding]:
    if (
        level.requests_per_s is not None
        or level.output_tokens_per_s is not None
        or level.total_tokens_per_s is not None
    ):
        return []
    return [
        warning(
            "NO_THROUGHPUT",
            "the file states neither requests/s nor tokens/s, nor what they follow from",
            remedy="send the tool's file that holds the throughput, or give requests_per_s",
        )
    ]


def _in_flight(level: Level) -> float | None:
    rate = _rate(level)
    return None if rate is None or level.e2e.mean_ms is None else rate * level.e2e.mean_ms / 1000


def _rate(level: Level) -> float | None:
    """Return requests/s, or what tokens/s and their mean lengths come to, as a plan will take them."""
    if level.requests_per_s is not None or not isinstance(level.work, TextWork):
        return level.requests_per_s
    given, output = level.work.input_tokens_mean, level.work.output_tokens_mean
    found = ratio(level.output_tokens_per_s, output)
    if found is None and given is not None and output is not None:
        found = ratio(level.total_tokens_per_s, given + output)
    return found


def _overfull(level: Level) -> list[Finding]:
    """Little's law, L = lambda x W (Little 1961): what is in flight on average cannot exceed the cap.

    In a closed loop the sum of times in the system is at most cap x duration, so an excess is impossible in any run
    that counts one set of requests in both factors; 15 % covers tools that cut warm-up off one of them. The mean
    TTFT alone, being only a part of the time in the system, may not exceed it at all.
    """
    cap, rate = level.concurrency, _rate(level)
    if cap is None or rate is None:
        return []
    in_flight = _in_flight(level)
    if in_flight is not None and in_flight > cap * (1 + _LITTLE_SLACK):
        return [_little(f"requests/s x e2e mean = {in_flight:.4g} in flight, above the cap of {cap:g}")]
    if level.ttft.mean_ms is not None:
        waiting = rate * level.ttft.mean_ms / 1000
        if waiting > cap * (1 + _TTFT_SLACK):
            return [_little(f"requests/s x ttft mean = {waiting:.4g} before a first token, above the cap of {cap:g}")]
    return []


def _little(message: str) -> Finding:
    return warning("LITTLES_LAW", message, remedy="check the units and which requests each figure counts")


def _underfull(level: Level) -> list[Finding]:
    """Find a closed loop far below its cap: the load generator idled, or ramp-up and drain weigh.

    The level stays usable: its rate and latencies were measured together, only at fewer requests in flight than the
    label says. With an offered rate it is the normal case.
    """
    in_flight, cap = _in_flight(level), level.concurrency
    if in_flight is None or cap is None or level.offered_requests_per_s is not None:
        return []
    if in_flight >= cap * (1 - _LITTLE_SLACK) or level.completed_count == 0:
        return []
    message = f"requests/s x e2e mean = {in_flight:.4g} in flight on average, well below the cap of {cap:g}"
    return [warning("LITTLES_LAW", message, remedy="run longer, so that ramp-up and drain weigh less")]


def _no_load(level: Level) -> list[Finding]:
    if level.concurrency is not None or level.offered_requests_per_s is not None:
        return []
    return [
        warning(
            "LOAD_NOT_STATED",
            "neither a cap on requests in flight nor an offered rate is stated, so the level has no place on a curve",
            remedy="give concurrency or offered_requests_per_s with the upload",
        )
    ]


def _unlike_rate(level: Level) -> list[Finding]:
    count, duration_s, rate = level.completed_count, level.duration_s, level.requests_per_s
    if count is None or duration_s is None or rate is None:
        return []
    counted = count / duration_s
    if abs(counted - rate) <= _RATE_SLACK * max(counted, rate):
        return []
    return [
        warning(
            "RATE_MISMATCH",
            f"requests/s is {rate:g}, but completed / duration = {counted:g}",
            remedy="check whether the rate counts failed requests",
        )
    ]


def _unlike_tokens(level: Level) -> list[Finding]:
    work = level.work
    output = work.output_tokens_mean if isinstance(work, TextWork) else None
    if output is None or level.requests_per_s is None or level.output_tokens_per_s is None:
        return []
    counted = level.requests_per_s * output
    if abs(counted - level.output_tokens_per_s) <= _TOKEN_SLACK * max(counted, level.output_tokens_per_s):
        return []
    return [
        warning(
            "TOKEN_RATE_MISMATCH",
            f"output tokens/s is {level.output_tokens_per_s:g}, but requests/s x mean output = {counted:g}",
            remedy="check whose tokenizer counted and whether input tokens are in",
        )
    ]


def _behind(level: Level) -> list[Finding]:
    """Find an open loop that ended late: the work offered took longer than its sending plus one request."""
    offered, rate = level.offered_requests_per_s, level.requests_per_s
    if offered is None or rate is None or rate >= offered * (1 - _BEHIND) or not rate:
        return []
    if level.completed_count is not None and level.duration_s is not None:
        sending_s = (level.completed_count + (level.failed_count or 0)) / offered
        if level.duration_s <= sending_s * (1 + _BEHIND) + _last_request_ms(level) / 1000:
            return []
    return [
        note(
            "OFFERED_RATE_NOT_REACHED",
            f"{offered:g} requests/s were offered and {rate:g}/s completed: the server fell behind, "
            "or the run was so short that its end weighs",
            path="requests_per_s",
            remedy="run longer; where the server falls behind, latencies grow with the run and are not steady",
        )
    ]


def _last_request_ms(level: Level) -> float:
    """Return how long the last request may still have run after the last was sent; 0 when nothing tells."""
    e2e = level.e2e
    for value in (e2e.p99_ms, e2e.p95_ms, e2e.mean_ms):
        if value is not None:
            return value
    work = level.work
    output = work.output_tokens_mean if isinstance(work, TextWork) else None
    if level.ttft.mean_ms is None or level.tpot.mean_ms is None or output is None:
        return 0.0
    return level.ttft.mean_ms + level.tpot.mean_ms * output

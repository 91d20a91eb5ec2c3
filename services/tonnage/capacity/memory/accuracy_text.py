"""The accuracy report as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tonnage.capacity.memory.accuracy_report import Report, Score

_TITLES: Final = {
    "weights_gib": "weights, GiB",
    "kv_cache_gib": "cache pool, GiB",
    "kv_cache_tokens": "tokens the engine prints",
    "max_concurrency": "requests of the stated length at once",
    "kv_cache_tokens from the logged pool": "tokens, the logged pool given",
    "max_concurrency from the logged pool": "requests, the logged pool given",
}
_BARS: Final = {
    "weights_gib": (0.005, 0.03),
    "kv_cache_gib": (0.01, 0.05),
    "kv_cache_tokens": (0.01, 0.08),
    "max_concurrency": (0.01, 0.08),
}
_BALANCED_BAR: Final = 0.95
_WORST_SHOWN: Final = 10


def _share(value: float) -> str:
    return f"{100 * value:.2f} %"


def _summary(report: Report) -> list[str]:
    lines = [
        "| quantity | rows | median error | p90 | mean | inside the 90 % interval | aim (median, p90) |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for term, title in _TITLES.items():
        found = report.summary(term)
        if found is None:
            continue
        bar = _BARS.get(term)
        aim = "" if bar is None else f"{100 * bar[0]:g} %, {100 * bar[1]:g} %" + _kept(found.median, found.p90, bar)
        figures = " | ".join(_share(value) for value in (found.median, found.p90, found.mean_abs, found.covered_90))
        lines.append(f"| {title} | {found.n} | {figures} | {aim} |")
    return lines


def _kept(median: float, p90: float, bar: tuple[float, float]) -> str:
    return ": kept" if median <= bar[0] and p90 <= bar[1] else ": missed"


def _verdicts(report: Report) -> list[str]:
    balanced = report.balanced_accuracy
    wrong = [item for item in report.verdicts if not item.right]
    total = len(report.verdicts)
    lines = [f"{total - len(wrong)} of {total} verdicts are right."]
    if balanced is not None:
        kept = "kept" if balanced >= _BALANCED_BAR else "missed"
        lines.append(f"Balanced over starts and failures: {_share(balanced)} (aim {_share(_BALANCED_BAR)}: {kept}).")
    for item in wrong:
        happened = "started" if item.started else "failed"
        lines.append(f"- {item.id}: said {item.verdict}, it {happened}")
    return lines


def _worst(report: Report, term: str) -> list[str]:
    found = sorted((score for score in report.scores if score.term == term), key=_badness)[:_WORST_SHOWN]
    if not found:
        return []
    lines = [
        f"### {_TITLES[term]}",
        "",
        "| row | predicted | logged | error | inside the interval |",
        "| --- " * 5 + "|",
    ]
    for score in found:
        inside = "yes" if score.covered else "no"
        lines.append(f"| {score.id} | {score.predicted:,.2f} | {score.logged:,.2f} | {score.error:+.1%} | {inside} |")
    return [*lines, ""]


def _badness(score: Score) -> tuple[float, str]:
    return (-abs(score.error), score.id)


def markdown(report: Report) -> str:
    """Return the report: errors by quantity, verdicts, the worst rows, and what was not judged and why."""
    lines = ["## Errors", "", *_summary(report), "", "## Verdicts", "", *_verdicts(report), "", "## Worst rows", ""]
    for term in _BARS:
        lines += _worst(report, term)
    lines += ["## Not judged", "", *(f"- {item.id}: {item.why}" for item in report.skipped)]
    return "\n".join(lines)

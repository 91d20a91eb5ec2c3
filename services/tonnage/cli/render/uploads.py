"""What became of files, as people read it and as programs do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tonnage.cli.output import UNKNOWN, as_dict, table, word
from tonnage.cli.render.findings import findings
from tonnage.client import messages
from tonnage.client.errors import ClientError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from tonnage.cli.upload.push import Outcome


def uploads(outcomes: Sequence[Outcome]) -> Iterator[RenderableType]:
    """Yield one line a file, then what is missing, what was found, and what was skipped."""
    told = [item for item in outcomes if not item.skipped and not isinstance(item.error, Unavailable)]
    if told:
        columns = ("file", "format", "runs", "levels usable", "sweep", "missing for a plan")
        yield table("", columns, [_row(item) for item in told], whole=(0,))
    answers = [item.answer for item in outcomes if item.answer is not None]
    found = [*(finding for answer in answers for finding in (*answer.findings, *_run_findings(answer)))]
    yield from findings(unlike(found))
    yield from _missing(answers)
    skipped = [item.parcel.file.shown for item in outcomes if item.skipped]
    if skipped:
        yield f"skipped, since no reader recognises them: {', '.join(skipped)}"
    if answers:
        yield f"data version {max(answer.data_version for answer in answers)}"


def _row(item: Outcome) -> tuple[str, ...]:
    name = item.parcel.file.shown
    if item.answer is None:
        return (name, UNKNOWN, "refused", UNKNOWN, UNKNOWN, UNKNOWN)
    runs = item.answer.runs
    usable, levels = sum(run.usable_level_count for run in runs), sum(run.level_count for run in runs)
    missing = sorted({field for run in runs for field in run.missing_for_plan})
    sweeps = sorted({run.sweep_id for run in runs})
    sweep = sweeps[0] if len(sweeps) == 1 else f"{len(sweeps)} sweeps" if sweeps else UNKNOWN
    return (name, item.answer.format, outcomes_of(runs), f"{usable} of {levels}", sweep, ", ".join(missing))


def outcomes_of(runs: Sequence[messages.RunReceipt]) -> str:
    """Return how many runs came to what: "2 stored, 1 already stored"."""
    counted = Counter(word(messages.RunOutcome, run.outcome) for run in runs)
    return ", ".join(f"{count} {name}" for name, count in counted.items()) or "none"


def _run_findings(answer: messages.IngestReportResponse) -> Iterator[messages.Finding]:
    for run in answer.runs:
        yield from run.findings


def unlike(items: Sequence[messages.Finding]) -> list[messages.Finding]:
    """Return one finding of each code and remedy: the first, with how often the like was said."""
    alike: dict[tuple[str, int, str], list[messages.Finding]] = {}
    for item in items:
        alike.setdefault((item.code, item.severity, item.remedy), []).append(item)
    merged = []
    for group in alike.values():
        item = messages.Finding()
        item.CopyFrom(group[0])
        if len(group) > 1:
            item.message += f" (and {len(group) - 1} more of this code)"
        merged.append(item)
    return merged


def _missing(answers: Sequence[messages.IngestReportResponse]) -> Iterator[str]:
    lacking = [run for answer in answers for run in answer.runs if run.missing_for_plan]
    if lacking:
        sets = " ".join(
            f"--set {name}=..." for name in sorted({name for run in lacking for name in run.missing_for_plan})
        )
        yield f"{len(lacking)} runs lack what a plan needs; ingest their files again with {sets} --replace"


def as_document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what programs read: one entry a file, with the server's answer or the error."""
    return {
        "files": [_entry(item) for item in outcomes if not item.skipped],
        "skipped": [item.parcel.file.shown for item in outcomes if item.skipped],
    }


def _entry(item: Outcome) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": item.parcel.file.shown}
    if item.answer is not None:
        return entry | {"answer": as_dict(item.answer)}
    known = item.error if isinstance(item.error, ClientError) else None
    return entry | {
        "error": {
            "code": known.code if known else type(item.error).__name__,
            "reason": known.reason if known else "",
            "message": str(item.error),
            "context": dict(known.context) if known else {},
        }
    }

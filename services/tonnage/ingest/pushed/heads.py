"""What holds for whole runs that came as messages: decoded, named and checked once for all that say the same."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

from tonnage.errors import TonnageError
from tonnage.formats.lint import COUNT_NOT_STATED
from tonnage.ingest import keys
from tonnage.ingest.arrow.heads import Head
from tonnage.ingest.given import Given
from tonnage.ingest.names import normal_run, settled_names
from tonnage.ingest.replicas import with_replicas
from tonnage.rpc.codec.run import decode_run
from tonnage.store.texts import findings_to_text

if TYPE_CHECKING:
    from datetime import datetime

    from tonnage.domain.measurement import Run
    from tonnage.v1 import run_pb2

_LEVELS, _MEASURED, _SWEEP = "\0levels", "\0measured", "\0sweep"
_TEXTS: Final = (
    "tool",
    "tool_version",
    "metric_definitions",
    "sample_set",
    "source",
    "filename",
    "ingested_by",
    "ci_job",
    "arrival_kind",
    "state",
    "state_origin",
)
Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class PushedHead:
    """A run's head, and its canonical text in four pieces, between which levels, date and sweep stand."""

    head: Head
    pieces: tuple[str, ...]

    def record_text(self, levels: str, measured_at: datetime | None, sweep_id: str | None) -> str:
        """Return the text whose digest is the run's id, as ``keys.record_id`` makes it."""
        first, second, third, last = self.pieces
        measured = "null" if measured_at is None else f'"{measured_at.isoformat()}"'
        return f"{first}{levels}{second}{measured}{third}{keys.canonical(sweep_id)}{last}"


def key_of(message: run_pb2.Run) -> Key:
    """Return all that a run says for itself and shares with others."""
    return (
        *(getattr(message, name) for name in _TEXTS),
        message.replicas_under_test if message.HasField("replicas_under_test") else None,
        message.configuration.SerializeToString(deterministic=True),
        message.conditions.SerializeToString(deterministic=True),
    )


def head_of(message: run_pb2.Run) -> PushedHead | None:
    """Return the head of a run; None when it cannot be had, which the reading of the run by itself tells of."""
    try:
        said = replace(decode_run(message), levels=(), measured_at=None, sweep_id=None)
        run = with_replicas(settled_names(normal_run(said)), Given())
    except TonnageError:
        return None
    head = Head(
        run=run,
        kind="text",
        said_digest="",
        fingerprint=run.configuration.fingerprint,
        missing=run.missing_for_plan(),
        findings_text=findings_to_text(run.findings),
        findings_text_uncounted=findings_to_text((COUNT_NOT_STATED, *run.findings)),
    )
    return PushedHead(head, _pieces(said))


def _pieces(said: Run) -> tuple[str, ...]:
    held = asdict(keys.bare(said)) | {"levels": _LEVELS, "measured_at": _MEASURED, "sweep_id": _SWEEP}
    pieces = []
    rest = keys.canonical(held)
    for mark in (_LEVELS, _MEASURED, _SWEEP):
        before, _, rest = rest.partition(keys.canonical(mark))
        pieces.append(before)
    return (*pieces, rest)

"""Sending files, several at once, and keeping what became of each."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.client.errors import BadInput, ClientError, Overloaded, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tonnage.cli.upload.discover import Found
    from tonnage.cli.upload.labels import Labels
    from tonnage.client import IngestAsyncClient, messages
    from tonnage.client.uploads import ReportOptions, ReportSource

IN_FLIGHT: Final = 16
_PATIENCE_S: Final = 60.0
_PAUSE_S: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One file with what is said of it."""

    file: Found
    labels: Labels
    request_id: str = ""

    def options(self, sender: Sender) -> ReportOptions:
        """Return what goes beside the bytes."""
        return {
            "filename": self.file.path.name if self.file.path is not None else "stdin",
            "namespace": self.labels.namespace,
            "format": self.labels.format,
            "given": self.labels.given,
            "column_map": self.labels.column_map,
            "sweep_id": self.labels.sweep,
            "default_sweep_id": self.file.sweep_id,
            "request_id": self.request_id,
            "replace": sender.replace,
            "ingested_by": sender.by,
            "ci_job": sender.ci_job,
        }

    def source(self) -> ReportSource:
        """Return the bytes, or where they are."""
        return self.file.path if self.file.path is not None else sys.stdin.buffer


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """What holds for every file of one command."""

    replace: bool = False
    dry_run: bool = False
    by: str = ""
    ci_job: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one file: an answer, or an error."""

    parcel: Parcel
    answer: messages.IngestReportResponse | None = None
    error: ClientError | OSError | None = None

    @property
    def skipped(self) -> bool:
        """Tell whether nobody recognised a file that was only one of many."""
        return isinstance(self.error, BadInput) and self.error.reason == "UNKNOWN_FORMAT" and not self.parcel.file.alone


async def push(
    client: IngestAsyncClient, parcels: Sequence[Parcel], sender: Sender, advance: Callable[[int], None]
) -> list[Outcome]:
    """Send every file and return what became of each, in the order given.

    ``advance(bytes)`` is told of bytes as they leave. Once nobody answers, the files left are not
    tried. A server that asks for patience gets a minute of it.
    """
    gate = asyncio.Semaphore(IN_FLIGHT)
    gone: list[Unavailable] = []

    async def one(parcel: Parcel) -> Outcome:
        async with gate:
            if gone:
                return Outcome(parcel=parcel, error=gone[0])
            try:
                return Outcome(parcel=parcel, answer=await _patiently(client, parcel, sender, advance))
            except Unavailable as error:
                gone.append(error)
                return Outcome(parcel=parcel, error=error)
            except (ClientError, OSError) as error:
                return Outcome(parcel=parcel, error=error)

    return await asyncio.gather(*(one(parcel) for parcel in parcels))


async def _patiently(
    client: IngestAsyncClient, parcel: Parcel, sender: Sender, advance: Callable[[int], None]
) -> messages.IngestReportResponse:
    deadline_s = asyncio.get_running_loop().time() + _PATIENCE_S
    while True:
        try:
            return await client.ingest_report(
                parcel.source(),
                validate_only=sender.dry_run,
                on_progress=_growth(advance),
                **parcel.options(sender),
            )
        except Overloaded as error:
            if parcel.file.path is None or asyncio.get_running_loop().time() > deadline_s:
                raise
            await asyncio.sleep(error.retry_after_s or _PAUSE_S)


def _growth(advance: Callable[[int], None]) -> Callable[[int, int | None], None]:
    """Turn "so far" into "more"."""
    seen = 0

    def tell(sent_bytes: int, _total_bytes: int | None) -> None:
        nonlocal seen
        advance(sent_bytes - seen)
        seen = sent_bytes

    return tell

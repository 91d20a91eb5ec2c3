"""One input through a reader, the lint, the naming and the store's own tables: points or a named refusal, in time."""

from __future__ import annotations

import hashlib
import io
import math
import resource
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from tonnage.domain.measurement import METRICS, STATISTICS
from tonnage.errors import InvalidInput, TonnageError
from tonnage.ingest.prepare import prepare_report
from tonnage.ingest.requests import ReportRequest
from tonnage.store.base import Append, ReportFacts
from tonnage.store.incoming import Upload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from tonnage.domain.measurement import Level
    from tonnage.ingest.prepare import Prepared
    from tonnage.ingest.spool import Spooled

LONGEST_S: Final = 10.0
MOST_GROWTH_BYTES: Final = 1 << 30


class HungError(BaseException):
    """An input took longer than ``LONGEST_S``; no reader's ``except Exception`` may hold it up."""


@dataclass(frozen=True, slots=True)
class InMemory:
    """An upload that never was on disk; what ``prepare_report`` asks of one."""

    data: bytes

    @property
    def size_bytes(self) -> int:
        """Return the size of the bytes."""
        return len(self.data)

    @property
    def report_id(self) -> str:
        """Return the digest of the bytes."""
        return hashlib.sha256(self.data).hexdigest()

    def open(self) -> BinaryIO:
        """Return the bytes from the start."""
        return io.BytesIO(self.data)


def judged(data: bytes) -> str:
    """Return the name of the reader that gave points, or of the refusal.

    Anything else comes out as it is: a foreign exception, ``HungError``, or ``AssertionError`` for points that cannot
    be or memory that grew by more than ``MOST_GROWTH_BYTES``.
    """
    before_bytes = _peak_bytes()
    with _in_time():
        try:
            prepared = prepare_report(cast("Spooled", InMemory(data)), ReportRequest(filename="input"))
        except TonnageError as error:
            _check_refusal(error)
            return error.reason
        _check_points(prepared)
        Upload.of(_append_of(prepared, len(data)))
    growth_bytes = _peak_bytes() - before_bytes
    assert growth_bytes <= MOST_GROWTH_BYTES, f"memory grew by {growth_bytes} bytes"
    return prepared.format


def _check_refusal(error: TonnageError) -> None:
    assert isinstance(error, InvalidInput), f"{type(error).__name__} is no fault of the file"
    assert error.message.strip(), "the refusal says nothing"
    error.message.encode()


def _append_of(prepared: Prepared, size_bytes: int) -> Append:
    facts = ReportFacts(report_id=prepared.report_id, filename="input", size_bytes=size_bytes, format=prepared.format)
    return Append(namespace="default", runs=prepared.runs, body_digest=prepared.body_digest, report=facts)


def _check_points(prepared: Prepared) -> None:
    levels = [level for run in prepared.runs for level in run.levels]
    assert levels, "neither points nor a refusal"
    for level in levels:
        for name, value in _figures(level):
            assert math.isfinite(value), f"{name} is {value}"
            assert value >= 0, f"{name} is {value}"


def _figures(level: Level) -> Iterator[tuple[str, float]]:
    for name in ("concurrency", "requests_per_s", "output_tokens_per_s", "duration_s", "completed_count"):
        if (value := getattr(level, name)) is not None:
            yield name, value
    for metric in METRICS:
        for statistic in STATISTICS:
            if (found := level.latency(metric).value_ms(statistic)) is not None:
                yield f"{metric}_{statistic}", found


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def _in_time() -> Iterator[None]:
    def late(_signal: int, _frame: FrameType | None) -> None:
        raise HungError(f"no answer within {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

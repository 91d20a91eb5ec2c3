"""Group commit: one thread writes; what arrives within a moment shares one durable transaction."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from tonnage.errors import Overloaded, StoreUnavailable, TonnageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tonnage.store.base import Append, Receipt, StoreWriter

T = TypeVar("T")
LARGEST_GROUP: Final = 128
RETRY_AFTER_MS: Final = 500


@dataclass(slots=True)
class _Upload:
    append: Append
    future: Future[Receipt] = field(default_factory=Future)


@dataclass(slots=True)
class _Task:
    """Anything else the writer is asked, done in its turn; the callable settles its own future."""

    run: Callable[[], None]


@dataclass(frozen=True, slots=True)
class _Stop:
    """Ends the thread once everything before it is done."""


_Job: TypeAlias = _Upload | _Task | _Stop


class Committer:
    """Owns the writer: every call to it happens on one thread, in the order of arrival.

    Uploads within ``window_s`` of the first one are stored by one ``append``; each future is settled
    after that commit is durable. A future cancelled before its commit begins is not stored.
    """

    def __init__(self, writer: StoreWriter, *, window_s: float, max_waiting: int) -> None:
        self._writer = writer
        self._window_s = window_s
        self._jobs: queue.Queue[_Job] = queue.Queue(max_waiting)
        self._thread = threading.Thread(target=self._loop, name="committer", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Tell whether commits are being made."""
        return self._thread.is_alive()

    @property
    def waiting_count(self) -> int:
        """Return how many jobs wait for the writer, about."""
        return self._jobs.qsize()

    def submit(self, append: Append) -> Future[Receipt]:
        """Return the receipt-to-be of an upload; raise ``Overloaded`` when too many wait."""
        job = _Upload(append)
        self._put(job)
        return job.future

    def call(self, work: Callable[[StoreWriter], T]) -> Future[T]:
        """Return the result-to-be of anything asked of the writer; raise ``Overloaded`` when too many wait."""
        future: Future[T] = Future()
        self._put(_Task(lambda: _settle(future, work, self._writer)))
        return future

    def stop(self) -> None:
        """Finish what waits, end the thread, and close the writer."""
        self._jobs.put(_Stop())
        self._thread.join()
        self._writer.close()

    def _put(self, job: _Job) -> None:
        if not self.is_alive:
            raise StoreUnavailable("the writer has stopped; restart the ingest server")
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise Overloaded(
                f"{self._jobs.maxsize} uploads wait for their commit; try again in {RETRY_AFTER_MS} ms",
                limit="uploads waiting for a commit",
                retry_after_ms=RETRY_AFTER_MS,
            ) from None

    def _loop(self) -> None:
        job: _Job | None = None
        while not isinstance(job, _Stop):
            job = self._jobs.get()
            if isinstance(job, _Task):
                job.run()
            elif isinstance(job, _Upload):
                job = self._commit_group(job)

    def _commit_group(self, first: _Upload) -> _Stop | None:
        """Collect, commit, and then do what ended the collecting; return it when it ends the thread."""
        group = [first]
        ended_by: _Job | None = None
        until_s = time.monotonic() + self._window_s
        while ended_by is None and len(group) < LARGEST_GROUP:
            job = self._next(until_s)
            if job is None:
                break
            if isinstance(job, _Upload):
                group.append(job)
            else:
                ended_by = job
        self._commit([job for job in group if job.future.set_running_or_notify_cancel()])
        if isinstance(ended_by, _Task):
            ended_by.run()
        return ended_by if isinstance(ended_by, _Stop) else None

    def _next(self, until_s: float) -> _Job | None:
        try:
            return self._jobs.get(timeout=max(0.0, until_s - time.monotonic()))
        except queue.Empty:
            return None

    def _commit(self, group: list[_Upload]) -> None:
        if not group:
            return
        try:
            results = self._writer.append([job.append for job in group])
        except Exception as error:  # noqa: BLE001 -- whatever failed is what every caller of the group is told
            for job in group:
                job.future.set_exception(error)
            return
        for job, result in zip(group, results, strict=True):
            if isinstance(result, TonnageError):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)


def _settle(future: Future[T], work: Callable[[StoreWriter], T], writer: StoreWriter) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work(writer)
    except Exception as error:  # noqa: BLE001 -- whatever failed is what the caller is told
        future.set_exception(error)
    else:
        future.set_result(result)

"""What every servicer stands on: the replica, the curves made of it, the release, and the one clock."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tonnage import checks
from tonnage.errors import DataVersionNotReached, StoreUnavailable
from tonnage.planning.usecase.book import CurveBook

if TYPE_CHECKING:
    from collections.abc import Callable

    import grpc.aio

    from tonnage.store.base import Snapshot, StoreReader

T = TypeVar("T")

_POLL_S: Final = 0.01
_LONGEST_WAIT_S: Final = 30.0
# What the answer needs to travel before the caller gives up.
_MARGIN_S: Final = 0.05
_WORKERS: Final = 2
_DAY_S: Final = 86_400


def _remaining_s(context: grpc.aio.ServicerContext[Any, Any]) -> float | None:
    """Return the time until the caller gives up, None when it never does."""
    return context.time_remaining()


def utc_today() -> str:
    """Return today's date in UTC, YYYY-MM-DD."""
    return _date_of(int(time.time() // _DAY_S))


@lru_cache(maxsize=1)
def _date_of(day: int) -> str:
    """Return the date so many days after 1970-01-01; asked for at each call, so the last one is kept."""
    return datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat()


class Desk:
    """Hands out snapshots and runs long work beside the event loop."""

    def __init__(self, reader: StoreReader, release: str, today: Callable[[], str] = utc_today) -> None:
        self.reader = reader
        self.release = release
        self.today = today
        self.book = CurveBook()
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="plan")

    @property
    def data_version(self) -> int:
        """Return the newest data version the replica holds."""
        return self.reader.snapshot.data_version

    async def ready(self) -> bool:
        """Tell whether the replica follows the store."""
        return self.reader.healthy()

    async def snapshot(
        self,
        min_data_version: int | None,
        context: grpc.aio.ServicerContext[Any, Any],
        *,
        needs_store: bool = True,
    ) -> Snapshot:
        """Return the newest snapshot, of at least the version asked for.

        Waits until the call's deadline and then raises ``DataVersionNotReached``; raises ``StoreUnavailable`` while
        the store was never reached, unless the answer takes nothing from it. A caller who names a version has seen
        a store, so one that is not reached yet is waited for too.
        """
        checks.count("min_data_version", min_data_version, least=0)
        snapshot = self.reader.snapshot
        if min_data_version is not None and snapshot.data_version < min_data_version:
            snapshot = await self._awaited(min_data_version, context)
        never_reached = snapshot.data_version == 0 and not self.reader.healthy()
        if never_reached and (needs_store or min_data_version):
            raise StoreUnavailable("the store was not reached yet; start the ingest server on the same store")
        if min_data_version is not None and snapshot.data_version < min_data_version:
            raise DataVersionNotReached(
                f"data version {min_data_version} was not reached in time, the replica holds "
                f"{snapshot.data_version}; give the call more time, or check the version",
                asked=min_data_version,
                have=snapshot.data_version,
            )
        return snapshot

    async def _awaited(self, data_version: int, context: grpc.aio.ServicerContext[Any, Any]) -> Snapshot:
        """Return the first snapshot of that version, or the newest one when the caller's time is up."""
        remaining = _remaining_s(context)
        wait_s = _LONGEST_WAIT_S if remaining is None else min(_LONGEST_WAIT_S, remaining - _MARGIN_S)
        until = time.monotonic() + wait_s
        snapshot = self.reader.snapshot
        while snapshot.data_version < data_version and time.monotonic() < until:
            await asyncio.sleep(_POLL_S)
            snapshot = self.reader.snapshot
        return snapshot

    async def run(self, work: Callable[[], T], *, light: bool = False) -> T:
        """Return what ``work`` returns; work that is not light runs in a thread, so that health still answers.

        The thread sees what the call sees.
        """
        if light:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._workers, copy_context().run, work)

    def close(self) -> None:
        """Stop the threads and the replica."""
        self._workers.shutdown(wait=True, cancel_futures=True)
        self.reader.close()

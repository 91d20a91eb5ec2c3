"""Planning's side of the store: a private copy of the lake, refreshed from its insert feed."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final

import duckdb

from tonnage.errors import DataVersionNotReached, SchemaTooNew, StoreUnavailable
from tonnage.store.lake.cache import MAX_CACHED_LEVELS, SweepCache
from tonnage.store.lake.connection import attach, catalog_path, connect
from tonnage.store.lake.facts import FactsCache
from tonnage.store.lake.generation import Generation
from tonnage.store.lake.snapshot import LakeSnapshot
from tonnage.store.migrations import refuse_newer, schema_version
from tonnage.store.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from tonnage.store.url import EmbeddedPlace

_LOG: Final = logging.getLogger(__name__)
_POLL_S: Final = 0.1
_LONGEST_WAIT_S: Final = 1.0
_HEALTHY_FOR_S: Final = 5.0
_EXPIRED: Final = "No snapshot found"


class LakeReader:
    """Follows a lake that another process writes; requests read memory alone.

    Where there is no store yet, it waits for one: snapshots are empty, of data version 0, and
    ``healthy`` says no. Opened in the process that uses it, never before a fork.
    """

    def __init__(
        self, place: EmbeddedPlace, *, poll_s: float = _POLL_S, max_cached_levels: int = MAX_CACHED_LEVELS
    ) -> None:
        """Copy what is there and go on in the background; raise ``SchemaTooNew`` or ``StoreUnavailable``."""
        self._poll_s = poll_s
        self._max_cached_levels = max_cached_levels
        self._connection = connect()
        self._feed = Feed(self._connection, place)
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._reached_s: float | None = None
        self._trouble = ""
        self._show(Generation(self._connection))
        self._step()
        if isinstance(self._failure, SchemaTooNew):
            self._connection.close()
            raise self._failure
        self._thread = threading.Thread(target=self._follow, name="tonnage-replica", daemon=True)
        self._thread.start()

    @property
    def snapshot(self) -> LakeSnapshot:
        """Return the newest snapshot; never blocks."""
        return self._snapshot

    def wait_for(self, data_version: int, timeout_s: float) -> LakeSnapshot:
        """Return a snapshot of at least that version; raise ``DataVersionNotReached``."""
        with self._changed:
            if self._changed.wait_for(lambda: self._snapshot.data_version >= data_version, timeout_s):
                return self._snapshot
        newest = self._snapshot.data_version
        why = f" ({self._failure})" if self._failure is not None else ""
        raise DataVersionNotReached(
            f"data version {data_version} was not reached within {timeout_s:g} s, the newest is {newest}{why}; "
            "try again, or ask for less",
            asked=data_version,
            newest=newest,
        )

    def healthy(self) -> bool:
        """Tell whether the feed was reached in the last seconds."""
        return self._reached_s is not None and time.monotonic() - self._reached_s < _HEALTHY_FOR_S

    def close(self) -> None:
        """Stop refreshing and give the memory back."""
        self._stop.set()
        self._thread.join()
        self._connection.close()

    def _follow(self) -> None:
        wait_s = self._poll_s
        while not self._stop.wait(wait_s):
            reached = self._step()
            wait_s = self._poll_s if reached else min(2 * wait_s, _LONGEST_WAIT_S)

    def _step(self) -> bool:
        """Refresh once, and return whether the feed was reached; trouble is logged when it changes."""
        try:
            self._refresh()
        except (duckdb.Error, OSError, TonnageError) as error:
            if str(error) != str(self._failure):
                _LOG.warning("the store was not reached, answers stay at data version %d: %s", self._version, error)
            self._failure = error
            return False
        if self._failure is not None:
            _LOG.info("the store is reached again, data version %d", self._version)
        self._failure = None
        self._reached_s = time.monotonic()
        return True

    @property
    def _version(self) -> int:
        return self._snapshot.data_version

    def _refresh(self) -> None:
        newest = self._feed.newest_snapshot()
        if newest == self._generation.snapshot_id:
            return
        if self._generation.snapshot_id is None or newest < self._generation.snapshot_id:
            self._rebuild(newest)
            return
        self._feed.check_schema()
        try:
            self._generation.pull(newest)
        except duckdb.Error as error:
            if _EXPIRED not in str(error):
                raise
            _LOG.info("the feed no longer reaches back to this replica, copying anew")
            self._rebuild(newest)
            return
        self._publish()

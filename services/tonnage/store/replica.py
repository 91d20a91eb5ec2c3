"""Planning's side of the store: a private copy of the lake, refreshed from its insert feed."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final

import duckdb

from tonnage.errors import DataVersionNotReached, SchemaTooNew, TonnageError
from tonnage.store.lake.cache import MAX_CACHED_LEVELS, SweepCache
from tonnage.store.lake.facts import FactsCache
from tonnage.store.lake.feed import Feed
from tonnage.store.lake.generation import Generation
from tonnage.store.lake.sites import source_of
from tonnage.store.lake.snapshot import LakeSnapshot

if TYPE_CHECKING:
    from tonnage.store.lake.feed import Position
    from tonnage.store.url import Place

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

    def __init__(self, place: Place, *, poll_s: float = _POLL_S, max_cached_levels: int = MAX_CACHED_LEVELS) -> None:
        """Copy what is there and go on in the background; raise ``SchemaTooNew`` or ``StoreUnavailable``."""
        self._poll_s = poll_s
        self._max_cached_levels = max_cached_levels
        source = source_of(place)
        self._connection = source.connect()
        self._feed = Feed(self._connection, source)
        self._changed = threading.Condition()
        self._refreshing = threading.Lock()
        self._stop = threading.Event()
        self._reached_s: float | None = None
        self._failure: Exception | None = None
        self._show(Generation(self._connection))
        failure = self.refresh()
        if isinstance(failure, SchemaTooNew):
            self._connection.close()
            raise failure
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

    def refresh(self) -> Exception | None:
        """Refresh now, as happens in the background, and return what kept the feed from being reached.

        Trouble is logged when it changes; answers stay at the data version they have.
        """
        with self._refreshing:
            try:
                self._refresh()
            except (duckdb.Error, OSError, TonnageError) as error:
                if str(error) != str(self._failure):
                    _LOG.warning("the store was not reached, answers stay at data version %d: %s", self._version, error)
                self._failure = error
                return error
            if self._failure is not None:
                _LOG.info("the store is reached again, data version %d", self._version)
            self._failure = None
            self._reached_s = time.monotonic()
            return None

    def _follow(self) -> None:
        wait_s = self._poll_s
        while not self._stop.wait(wait_s):
            failure = self.refresh()
            wait_s = self._poll_s if failure is None else min(2 * wait_s, _LONGEST_WAIT_S)

    @property
    def _version(self) -> int:
        return self._snapshot.data_version

    def _refresh(self) -> None:
        newest = self._feed.position()
        current = self._generation.position
        if newest == current:
            return
        if current is None or not newest.follows(current):
            self._rebuild(newest)
            return
        try:
            self._generation.pull(newest)
        except duckdb.Error as error:
            if _EXPIRED not in str(error):
                raise
            _LOG.info("the feed no longer reaches back to this replica, copying anew")
            self._rebuild(newest)
            return
        if self._generation.data_version != self._version:
            self._publish()

    def _rebuild(self, newest: Position) -> None:
        """Copy everything; snapshots of the copy before stay as they are while somebody holds them."""
        generation = Generation(self._connection)
        generation.build(newest)
        self._show(generation)

    def _show(self, generation: Generation) -> None:
        self._generation = generation
        self._sweeps = SweepCache(generation, self._max_cached_levels)
        self._facts = FactsCache(generation)
        self._publish()

    def _publish(self) -> None:
        with self._changed:
            self._snapshot = LakeSnapshot(self._generation, self._sweeps, self._facts)
            self._changed.notify_all()

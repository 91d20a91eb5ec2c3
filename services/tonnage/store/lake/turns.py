"""Whose turn it is to write a shared lake: PostgreSQL's advisory locks, which end with the session that holds them.

The turn makes writers wait instead of undoing each other's work. That nothing is stored twice does not hang on it: a
writer that lost its turn without knowing finds another snapshot than it decided on, and its commit is refused.
"""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import psycopg

from tonnage.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.store.lake.shared_names import Catalog

_LOG: Final = logging.getLogger(__name__)
# Two numbers of our own in PostgreSQL's space of advisory locks.
_TURN: Final = 7_465_001
_UPKEEP: Final = 7_465_002
# Longer than it takes PostgreSQL to notice that a host went away, and less than a client waits.
_PATIENCE: Final = "SET lock_timeout = '20s'"


class Turns:
    """One session of PostgreSQL that asks for turns; safe to use from several threads, which wait for each other."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._session: psycopg.Connection | None = None
        self._mutex = threading.RLock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the turn; raise ``StoreUnavailable`` when PostgreSQL does not give it."""
        with self._mutex:
            session = self._take()
            try:
                yield
            finally:
                self._give_back(session)

    def owns_upkeep(self) -> bool:
        """Tell whether this session is the one that does the housekeeping, or becomes it as nobody is."""
        with self._mutex:
            try:
                session = self._connected()
                row = session.execute(
                    # A session may take a lock it holds again; it is given back as often only when the session ends.
                    "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() "
                    "AND objid = %s AND granted) OR pg_try_advisory_lock(%s)",
                    [_UPKEEP, _UPKEEP],
                ).fetchone()
                session.commit()
            except psycopg.Error as error:
                raise self._unavailable(error) from error
            return row is not None and bool(row[0])

    def close(self) -> None:
        """End the session, and with it every lock."""
        with self._mutex:
            self._drop()

    def _take(self) -> psycopg.Connection:
        try:
            session = self._connected()
            session.execute("SELECT pg_advisory_xact_lock(%s)", [_TURN])
        except psycopg.errors.LockNotAvailable as error:
            self._drop()
            raise StoreUnavailable(
                f"another writer of {self._catalog.name} is busy; try again", catalog=self._catalog.name
            ) from error
        except psycopg.Error as error:
            raise self._unavailable(error) from error
        return session

    def _connected(self) -> psycopg.Connection:
        if self._session is not None and not self._session.closed and self._answers(self._session):
            return self._session
        self._session = psycopg.connect(**self._catalog.keywords())  # type: ignore[arg-type]  # texts and a port
        self._session.execute(_PATIENCE)
        self._session.commit()
        return self._session

    @staticmethod
    def _answers(session: psycopg.Connection) -> bool:
        """Tell whether a session outlived what happened to the network or the server since it was used last."""
        try:
            session.execute("SELECT 1")
        except psycopg.Error:
            session.close()
            return False
        return True

    def _give_back(self, session: psycopg.Connection) -> None:
        try:
            session.commit()
        except psycopg.Error as error:
            # Whatever was done in the turn is decided already, and the lock ended with the session.
            _LOG.warning("the session of the writer's turn was lost: %s", error)
            self._drop()

    def _drop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _unavailable(self, error: psycopg.Error) -> StoreUnavailable:
        self._drop()
        return StoreUnavailable(
            f"the catalog {self._catalog.name} cannot be reached now: {error}; nothing was acknowledged", cause=error
        )

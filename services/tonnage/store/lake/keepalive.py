"""A read transaction that keeps the catalog's write-ahead log in place between commits."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tonnage.store.lake.connection import catalog_path, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from tonnage.store.url import EmbeddedPlace

_LONGEST_HOLD_S: Final = 5.0


class KeepAlive:
    """Holds the log open, so that no reader meets its creation or removal; lets go now and then, so that it shrinks.

    SQLite removes the log when the last connection closes, and whoever reads at that moment
    waits a whole second.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, place: EmbeddedPlace) -> None:
        connection.execute(f"ATTACH {quoted(str(catalog_path(place)))} AS keep (TYPE sqlite, READ_ONLY)")
        self._connection = connection
        self._held: duckdb.DuckDBPyConnection | None = None
        self._since_s = 0.0
        self._hold()

    @contextmanager
    def around_commit(self) -> Iterator[None]:
        """Run one commit, without the hold when it has lasted long enough."""
        if time.monotonic() - self._since_s < _LONGEST_HOLD_S:
            yield
            return
        self.release()
        try:
            yield
        finally:
            self._hold()

    def release(self) -> None:
        """Let go of the log."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def _hold(self) -> None:
        held = self._connection.cursor()
        held.execute("BEGIN")
        held.execute("SELECT 1 FROM keep.ducklake_metadata LIMIT 1").fetchall()
        self._held = held
        self._since_s = time.monotonic()

"""Housekeeping of the lake: what keeps reads fast and the folder small, and changes no answer."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.store.lake.commit import rollback

if TYPE_CHECKING:
    import duckdb

    from tonnage.store.durable import NewFiles

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """How long old things are kept; far above the longest pause of a planner and the longest write."""

    snapshot_age_s: int = 86_400
    file_age_s: int = 86_400
    orphan_every_s: float = 86_400.0
    merged_files_at_once: int = 256


DEFAULT_UPKEEP: Final = Upkeep()


class Maintenance:
    """The steps in their order, run by the writer under its lock."""

    def __init__(self, upkeep: Upkeep = DEFAULT_UPKEEP) -> None:
        self._upkeep = upkeep
        self._orphans_removed_s: float | None = None

    def run(self, connection: duckdb.DuckDBPyConnection, files: NewFiles) -> None:
        """Flush inlined rows, merge small files, expire old snapshots, remove files nothing names.

        Each step is a transaction of its own; files it wrote are durable before the catalog names
        them. Raises ``duckdb.Error`` or ``OSError`` after a rollback.
        """
        for call in self._calls():
            started_s = time.monotonic()
            _run(connection, call, files)
            _LOG.debug("store maintenance: %s took %.3f s", call, time.monotonic() - started_s)

    def _calls(self) -> list[str]:
        snapshots = _before(self._upkeep.snapshot_age_s)
        old_files = _before(self._upkeep.file_age_s)
        calls = [
            "ducklake_flush_inlined_data('lake')",
            f"ducklake_merge_adjacent_files('lake', max_compacted_files => {self._upkeep.merged_files_at_once})",
            f"ducklake_expire_snapshots('lake', older_than => {snapshots})",
            f"ducklake_cleanup_old_files('lake', older_than => {old_files})",
        ]
        now_s = time.monotonic()
        if self._orphans_removed_s is None or now_s - self._orphans_removed_s >= self._upkeep.orphan_every_s:
            self._orphans_removed_s = now_s
            calls.append(f"ducklake_delete_orphaned_files('lake', older_than => {old_files})")
        return calls


def _before(age_s: int) -> str:
    return f"now() - INTERVAL {age_s} SECOND"


def _run(connection: duckdb.DuckDBPyConnection, call: str, files: NewFiles) -> None:
    connection.execute("BEGIN")
    try:
        connection.execute(f"CALL {call}")
        files.sync()
        connection.execute("COMMIT")
    except BaseException:
        rollback(connection)
        raise

"""Housekeeping of the lake: what keeps reads fast and the folder small, and changes no answer."""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.errors import StoreDamaged
from tonnage.store.lake.commit import rollback
from tonnage.store.lake.datafiles import data_files

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from tonnage.store.lake.site import Digests, Files

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

    def __init__(self, data: Path, checksums: Digests, upkeep: Upkeep = DEFAULT_UPKEEP) -> None:
        self._data = data
        self._checksums = checksums
        self._upkeep = upkeep
        self._orphans_removed_s: float | None = None
        # What was left when a merge found nothing to merge; None before that.
        self._settled: set[Path] | None = None

    def run(self, connection: duckdb.DuckDBPyConnection, files: Files) -> None:
        """Flush inlined rows, merge small files, expire old snapshots, remove files nothing names.

        Each step is a transaction of its own; files it wrote are durable before the catalog names
        them. Raises ``duckdb.Error`` or ``OSError`` after a rollback, and ``StoreDamaged`` at the end
        when files were left as they are: merging a damaged one would give its wrong values a new checksum.
        """
        self._step(connection, "ducklake_flush_inlined_data('lake')", files)
        damaged = self._merge(connection, files)
        for call in self._clean_ups():
            self._step(connection, call, files)
        self._checksums.forget_removed()
        if damaged:
            names = ", ".join(self._checksums.name(path) for path in damaged)
            raise StoreDamaged(
                f"not as they were written, and left unmerged: {names}; `tonnage store check` says what to do",
                files=names,
            )

    def _merge(self, connection: duckdb.DuckDBPyConnection, files: Files) -> list[Path]:
        """Merge small files when there may be some, or return those that are damaged."""
        before = self._mergeable(connection)
        if before == self._settled:
            return []
        damaged = self._checksums.damaged(sorted(before))
        if damaged:
            return damaged
        count = self._upkeep.merged_files_at_once
        self._step(connection, f"ducklake_merge_adjacent_files('lake', max_compacted_files => {count})", files)
        self._settled = before if self._mergeable(connection) == before else None
        return []

    def _mergeable(self, connection: duckdb.DuckDBPyConnection) -> set[Path]:
        """Return the files a merge may read: those of tables that have several."""
        found = data_files(connection)
        counts = Counter(file.table for file in found)
        return {self._data / file.path for file in found if counts[file.table] > 1}

    def _clean_ups(self) -> list[str]:
        snapshots = _before(self._upkeep.snapshot_age_s)
        old_files = _before(self._upkeep.file_age_s)
        calls = [
            f"ducklake_expire_snapshots('lake', older_than => {snapshots})",
            f"ducklake_cleanup_old_files('lake', older_than => {old_files})",
        ]
        now_s = time.monotonic()
        if self._orphans_removed_s is None or now_s - self._orphans_removed_s >= self._upkeep.orphan_every_s:
            self._orphans_removed_s = now_s
            calls.append(f"ducklake_delete_orphaned_files('lake', older_than => {old_files})")
        return calls

    def _step(self, connection: duckdb.DuckDBPyConnection, call: str, files: Files) -> None:
        started_s = time.monotonic()
        _run(connection, call, files)
        _LOG.debug("store maintenance: %s took %.3f s", call, time.monotonic() - started_s)


def _before(age_s: int) -> str:
    return f"now() - INTERVAL {age_s} SECOND"


def _run(connection: duckdb.DuckDBPyConnection, call: str, files: Files) -> None:
    connection.execute("BEGIN")
    try:
        connection.execute(f"CALL {call}")
        files.sync()
        connection.execute("COMMIT")
    except BaseException:
        rollback(connection)
        raise

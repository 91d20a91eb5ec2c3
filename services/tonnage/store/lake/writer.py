"""A process that writes a lake: the only one of a folder, one of several of a store on PostgreSQL and S3."""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar

import duckdb

from tonnage.errors import NotStored, StoreUnavailable
from tonnage.store.changes import Changes
from tonnage.store.decide import decide_all, decide_append, decide_plan, decide_retraction, found_plan, prepared
from tonnage.store.incoming import Upload, check_plan, check_retraction, check_texts
from tonnage.store.known import Keys
from tonnage.store.lake.commit import Outrun, commit, newest_snapshot
from tonnage.store.lake.lookup import SeenKeys, look_up, newest_reports, report_ids, whole_runs
from tonnage.store.lake.remembered import Remembered
from tonnage.store.lake.sites import site_of
from tonnage.store.maintenance import DEFAULT_UPKEEP, Maintenance, Upkeep
from tonnage.store.migrations import migrate
from tonnage.store.texts import receipt_from_text
from tonnage.store.uploads import by_report, by_request, stored_report, upload_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tonnage.errors import TonnageError
    from tonnage.store.base import (
        Append,
        AppendTables,
        PlanRecord,
        Receipt,
        Retraction,
        RetractionReceipt,
        StoredReport,
        StoredUpload,
    )
    from tonnage.store.known import Known
    from tonnage.store.url import Place

_LOG: Final = logging.getLogger(__name__)
_WAITS_S: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
_EXPIRED: Final = "No snapshot found"
Answer = TypeVar("Answer")


def _utc_now() -> datetime:
    return datetime.now(UTC)


class LakeWriter:
    """Writes a lake under its lock, which shared stores lend for one commit at a time.

    Safe to use from several threads, which wait for each other.

    Never fork a process that holds one: two copies of SQLite on one catalog damage it.
    """

    def __init__(
        self, place: Place, *, upkeep: Upkeep = DEFAULT_UPKEEP, now: Callable[[], datetime] = _utc_now
    ) -> None:
        """Open or make the store; raise ``StoreLocked``, ``SchemaTooNew`` or ``StoreUnavailable``."""
        self._now = now
        self._mutex = threading.RLock()
        try:
            self._site = site_of(place)
        except OSError as error:
            raise _unavailable("opened", error) from error
        self._reports = self._site.reports
        self._maintenance = Maintenance(self._site.data, self._site.digests, upkeep)
        try:
            with self._site.turn():
                self._open()
        except BaseException:
            self._site.release()
            raise

    def _open(self) -> None:
        self._connection = self._site.connect()
        try:
            self._site.create(self._connection)
            self._site.attach(self._connection, read_only=False)
            self._files = self._site.new_files()
            migrate(self._connection, now=self._now())
            self._site.settle()
            self._keep_alive = self._site.keep_alive(self._connection)
            self._load()
            self._reports.sweep()
        except (duckdb.Error, OSError) as error:
            self._connection.close()
            raise _unavailable("opened", error) from error
        except BaseException:
            self._connection.close()
            raise

    def _load(self) -> None:
        # Asked first: what another writer commits meanwhile is then read twice, not missed.
        self._snapshot_id = newest_snapshot(self._connection)
        newest = self._connection.execute("SELECT coalesce(max(data_version), 0) FROM lake.commits").fetchone()
        self._data_version = 0 if newest is None else int(newest[0])
        self._seen = SeenKeys(self._connection)
        self._remembered = Remembered(self._known, self._newest_keys)
        self._doubtful = False

    def _catch_up(self) -> None:
        """Learn what other writers committed since this one looked last; raises ``duckdb.Error``."""
        newest = newest_snapshot(self._connection)
        if newest == self._snapshot_id:
            return
        first = self._snapshot_id + 1
        try:
            self._seen.follow(self._connection, first, newest)
            found = self._connection.execute(
                f"SELECT coalesce(max(data_version), 0) FROM lake.table_insertions('commits', {first}, {newest})"
            ).fetchone()
        except duckdb.Error as error:
            if _EXPIRED not in str(error):
                raise
            self._load()
            return
        self._data_version = max(self._data_version, 0 if found is None else int(found[0]))
        self._remembered = Remembered(self._known, self._newest_keys)
        self._snapshot_id = newest

    @property
    def data_version(self) -> int:
        """Return the newest committed data version."""
        return self._data_version

    def keep_report(self, namespace: str, report_id: str, data: BinaryIO) -> None:  # noqa: ARG002 -- see open_report
        """Keep the raw bytes of a report durably; again is free.

        Bytes are kept once whatever the namespace; ``open_report`` shows them only where an upload names them.
        """
        try:
            self._reports.keep(report_id, data)
        except OSError as error:
            raise _unavailable("written", error) from error

    def open_report(self, namespace: str, report_id: str) -> BinaryIO:
        """Return the raw bytes of a stored upload of this namespace, checked against the digest while read."""
        if (namespace, report_id) not in self._known(Keys(reports=frozenset({(namespace, report_id)}))).reports:
            raise NotStored(
                f"no raw report {report_id} in namespace {namespace}", report_id=report_id, namespace=namespace
            )
        return self._reports.open(report_id)

    def append(self, appends: Sequence[Append]) -> list[Receipt | TonnageError]:
        """Store several uploads in one durable commit; one that is refused does not stop the others.

        Raises ``StoreUnavailable`` when nothing could be written; sending the same again is safe.
        """
        uploads = prepared(appends)
        keys = Keys.of_uploads([upload for upload in uploads if isinstance(upload, Upload)])
        return self._write(keys, lambda known, changes: decide_all(uploads, known, changes))

    def append_tables(self, tables: AppendTables) -> Receipt:
        """Store many runs that come as tables in one durable commit of their own.

        Raises ``InvalidInput``, ``RequestIdReused``, or ``StoreUnavailable``; nothing is stored then, and sending
        the same again is safe.
        """
        upload = Upload.of_tables(tables)
        return self._write(Keys.of_uploads([upload]), lambda known, changes: decide_append(upload, known, changes))

    def record_plan(self, plan: PlanRecord) -> tuple[PlanRecord, bool]:
        """Keep a plan durably; the same plan again is kept once. Raises ``InvalidInput`` or ``StoreUnavailable``."""
        check_plan(plan)
        keys = Keys(plans=frozenset({(plan.namespace, plan.plan_id)}))
        return self._write(keys, lambda known, changes: decide_plan(plan, known, changes))

    def recorded_plan(self, namespace: str, plan_id: str) -> PlanRecord:
        """Return a kept plan; raise ``NotStored`` or ``StoreUnavailable``."""
        check_texts(namespace=namespace, plan_id=plan_id)
        return found_plan((namespace, plan_id), self._known(Keys(plans=frozenset({(namespace, plan_id)}))))

    def retract(self, retraction: Retraction) -> RetractionReceipt:
        """Append retraction events; raise ``NotStored`` when a run is unknown, and then write nothing."""
        check_retraction(retraction)
        keys = Keys.of_retraction(retraction)
        return self._write(keys, lambda known, changes: decide_retraction(retraction, known, changes))

    def preview_retraction(self, retraction: Retraction) -> RetractionReceipt:
        """Answer as ``retract`` would, refusals included, and write nothing."""
        check_retraction(retraction)
        changes = Changes(data_version=self._data_version, now=self._now())
        return decide_retraction(retraction, self._known(Keys.of_retraction(retraction)), changes)

    def find_upload(
        self, namespace: str, *, report_id: str | None = None, request_id: str | None = None
    ) -> StoredUpload:
        """Return what became of an upload; raise ``NotStored``."""
        check_texts(namespace=namespace, report_id=report_id, request_id=request_id)
        if report_id is not None:
            return by_report(namespace, report_id, self._known(Keys(reports=frozenset({(namespace, report_id)}))))
        if request_id is None:
            raise NotStored("neither a report id nor a request id is given")
        key = (namespace, request_id)
        request = upload_request(key, self._known(Keys(requests=frozenset({key}))))
        runs = frozenset((namespace, run.run_id) for run in receipt_from_text(request.receipt).runs)
        return by_request(request, self._known(Keys(runs=runs)))

    def report_ids(self, namespace: str, *, after: str, limit: int) -> list[str]:
        """Return ids of raw reports behind ``after`` in their order; raise ``StoreUnavailable``."""
        check_texts(namespace=namespace, after=after)
        return self._read(lambda cursor: report_ids(cursor, namespace, after, limit))

    def stored_report(self, namespace: str, report_id: str) -> StoredReport:
        """Return a raw report's facts and runs; raise ``NotStored`` or ``StoreUnavailable``."""
        check_texts(namespace=namespace, report_id=report_id)
        known = self._known(Keys(reports=frozenset({(namespace, report_id)})))
        keys = [run.key for run in known.of_report(namespace, report_id)]
        runs = self._read(lambda cursor: whole_runs(cursor, keys))
        standing = ((run, known.runs[namespace, run.run_id].retirement) for run in runs)
        return stored_report(namespace, report_id, known, standing)

    def maintain(self) -> None:
        """Do the housekeeping that is due; raise ``StoreUnavailable`` when a step fails, which loses nothing.

        Raises ``StoreDamaged``, after the other steps, when files are left unmerged because they are damaged.
        """
        with self._mutex, self._site.upkeep_turn() as is_ours, self._keep_alive.around_commit():
            if not is_ours:
                return
            try:
                self._maintenance.run(self._connection, self._files)
            except (duckdb.Error, OSError) as error:
                raise _unavailable("maintained", error) from error

    def close(self) -> None:
        """Release the lock and the files."""
        with self._mutex:
            self._keep_alive.release()
            self._connection.close()
            self._site.release()

    def _known(self, keys: Keys) -> Known:
        return self._read(lambda cursor: look_up(cursor, keys))

    def _newest_keys(self) -> Keys:
        return Keys(reports=self._read(newest_reports))

    def _read(self, ask: Callable[[duckdb.DuckDBPyConnection], Answer]) -> Answer:
        cursor = self._connection.cursor()
        try:
            return ask(cursor)
        except duckdb.Error as error:
            raise _unavailable("read", error) from error
        finally:
            cursor.close()

    def _write(self, keys: Keys, decide: Callable[[Known, Changes], Answer]) -> Answer:
        with self._mutex:
            for wait_s in _WAITS_S:
                try:
                    return self._write_in_turn(keys, decide)
                except duckdb.Error as error:
                    if not (isinstance(error, Outrun) or self._site.is_passing(error)):
                        raise _unavailable("written", error) from error
                    _LOG.warning("the catalog was busy, trying again in %g s: %s", wait_s, error)
                except OSError as error:
                    raise _unavailable("written", error) from error
                time.sleep(wait_s)
            try:
                return self._write_in_turn(keys, decide)
            except (duckdb.Error, OSError) as error:
                raise _unavailable("written", error) from error

    def _write_in_turn(self, keys: Keys, decide: Callable[[Known, Changes], Answer]) -> Answer:
        with self._site.turn():
            return self._write_once(keys, decide)

    def _write_once(self, keys: Keys, decide: Callable[[Known, Changes], Answer]) -> Answer:
        if self._doubtful:
            self._load()
        elif self._site.is_shared:
            self._catch_up()
        changes = Changes(data_version=self._data_version + 1, now=self._now())
        known = self._remembered.known(self._seen.maybe_stored(keys))
        answer = decide(known, changes)
        if changes.is_empty:
            return answer
        # Until the commit has returned it may have landed or not: the next write then looks.
        self._doubtful = True
        with self._keep_alive.around_commit():
            on_snapshot = self._snapshot_id if self._site.is_shared else None
            commit(self._connection, changes, self._files, on_snapshot=on_snapshot)
        self._doubtful = False
        # A shared lake commits on the snapshot it was asked to or not at all, so this one is the next.
        self._snapshot_id += 1
        self._seen.add(changes)
        self._remembered.keep(known, keys.reports)
        if changes.holds_data:
            self._data_version = changes.data_version
        return answer


def _unavailable(what: str, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(f"the store cannot be {what} now: {error}; nothing was acknowledged", cause=error)

"""A lake in a folder of this machine: SQLite catalog, files, one writer."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from tonnage.errors import StoreUnavailable
from tonnage.store import durable
from tonnage.store.checksums import Checksums
from tonnage.store.lake.connection import EXTENSIONS, attach, catalog_path, connect, create_catalog, data_path
from tonnage.store.lake.keepalive import KeepAlive
from tonnage.store.lake.lock import WriterLock
from tonnage.store.reports import ReportFiles

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import duckdb

    from tonnage.store.url import EmbeddedPlace

_BUSY: Final = "database is locked"


class FolderSource:
    """A folder a reader follows."""

    def __init__(self, place: EmbeddedPlace) -> None:
        self.place = place
        self.name = str(place.folder)

    @property
    def extensions(self) -> tuple[str, ...]:
        """Return DuckDB's extensions it needs."""
        return EXTENSIONS

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Do nothing: a folder takes no secret."""

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Return a private DuckDB that can attach it; raise ``StoreUnavailable`` without the extensions."""
        return connect()

    def identity(self) -> tuple[int, int]:
        """Return device and inode of the catalog; raise ``StoreUnavailable`` where there is none."""
        try:
            found = catalog_path(self.place).stat()
        except FileNotFoundError as error:
            raise StoreUnavailable(f"there is no store in {self.place.folder} yet; start ingest on it") from error
        return found.st_dev, found.st_ino

    def attach(self, connection: duckdb.DuckDBPyConnection, *, read_only: bool, name: str = "lake") -> None:
        """Attach it under a name; raises ``duckdb.Error``."""
        attach(connection, self.place, read_only=read_only, name=name)


class FolderSite(FolderSource):
    """A folder whose lock this process holds until it lets go."""

    is_shared = False

    def __init__(self, place: EmbeddedPlace) -> None:
        """Make the folder and take its lock; raise ``StoreLocked`` or ``OSError``."""
        super().__init__(place)
        self.data = data_path(place)
        durable.make_folder(self.data)
        durable.make_folder(place.folder / "reports")
        self._lock = WriterLock(place.folder / "writer.lock")
        self.reports = ReportFiles(place.folder / "reports")
        self.digests = Checksums(place.folder)

    def create(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the catalog where there is none; raises ``duckdb.Error``."""
        create_catalog(connection, self.place)

    def new_files(self) -> durable.NewFiles:
        """Return the watch over data files, beginning now."""
        return durable.NewFiles(self.data, self.digests.add)

    def settle(self) -> None:
        """Sync catalog and folder; raises ``OSError``."""
        durable.sync(catalog_path(self.place))
        durable.sync(self.place.folder)

    def keep_alive(self, connection: duckdb.DuckDBPyConnection) -> KeepAlive:
        """Hold the catalog's log open between commits."""
        return KeepAlive(connection, self.place)

    def turn(self) -> AbstractContextManager[None]:
        """Do nothing: the lock is held all the time."""
        return nullcontext()

    def upkeep_turn(self) -> AbstractContextManager[bool]:
        """Say yes: there is no other writer."""
        return nullcontext(enter_result=True)

    def is_passing(self, error: duckdb.Error) -> bool:
        """Tell whether a reader was in the way."""
        return _BUSY in str(error)

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()

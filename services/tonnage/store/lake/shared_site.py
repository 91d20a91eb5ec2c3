"""A lake several hosts share: PostgreSQL catalog, S3 objects, any number of writers that take turns."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tonnage.store.lake.connection import connect, quoted
from tonnage.store.lake.shared_names import Bucket, Catalog
from tonnage.store.lake.turns import Turns
from tonnage.store.report_objects import ReportObjects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    import duckdb

    from tonnage.store.url import ScaleOutPlace

_EXTENSIONS: Final = ("ducklake", "postgres_scanner", "httpfs")
# A commit is written on the snapshot it was decided on or not at all. DuckLake would else write it on a newer
# one, which may hold the same runs: it has no keys.
_SETTINGS: Final = ("SET ducklake_max_retry_count = 0", "SET http_timeout = 15")
_OUTRUN: Final = ("ducklake_snapshot_pkey", "could not serialize access", "Transaction conflict")


class SharedSource:
    """A catalog and a bucket a reader follows."""

    def __init__(self, place: ScaleOutPlace) -> None:
        self.catalog = Catalog.of(place)
        self.bucket = Bucket.of(place)
        self.name = self.catalog.name

    @property
    def extensions(self) -> tuple[str, ...]:
        """Return DuckDB's extensions it needs."""
        return _EXTENSIONS

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Give a connection the secrets, and have it commit on the snapshot it reads or not at all."""
        for statement in (*_SETTINGS, self.catalog.secret_sql(), self.bucket.secret_sql()):
            connection.execute(statement)

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Return a private DuckDB that can attach it; raise ``StoreUnavailable`` without the extensions."""
        connection = connect(_EXTENSIONS)
        self.prepare(connection)
        return connection

    def identity(self) -> tuple[int, int]:
        """Return the same for ever: a catalog that was restored is told by its snapshots, which are older."""
        return (0, 0)

    def attach(self, connection: duckdb.DuckDBPyConnection, *, read_only: bool, name: str = "lake") -> None:
        """Attach it under a name; raises ``duckdb.Error``, also where there is none."""
        self._attach(connection, name, ", READ_ONLY, CREATE_IF_NOT_EXISTS false" if read_only else "")

    def _attach(self, connection: duckdb.DuckDBPyConnection, name: str, mode: str) -> None:
        connection.execute(
            f"ATTACH {quoted(f'ducklake:postgres:{self.catalog.parameters()}')} AS {name} "
            f"(DATA_PATH {quoted(self.bucket.data_url)}, OVERRIDE_DATA_PATH true, "
            f"META_SECRET {quoted(self.catalog.secret)}{mode})"
        )


class SharedSite(SharedSource):
    """A catalog and a bucket this process writes when it is its turn."""

    is_shared = True

    def __init__(self, place: ScaleOutPlace) -> None:
        super().__init__(place)
        self.data = Path(self.bucket.data_url)
        self.digests = _NoDigests()
        self.reports = ReportObjects(self.bucket)
        self._turns = Turns(self.catalog)

    def create(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the catalog where there is none; raises ``duckdb.Error``."""
        self._attach(connection, "made", "")
        connection.execute("DETACH made")

    def new_files(self) -> _Stored:
        """Return a watch that has nothing to do."""
        return _Stored()

    def settle(self) -> None:
        """Do nothing: PostgreSQL has committed."""

    def keep_alive(self, connection: duckdb.DuckDBPyConnection) -> _NoHold:  # noqa: ARG002 -- nothing is held
        """Hold nothing: readers of PostgreSQL do not wait."""
        return _NoHold()

    def turn(self) -> AbstractContextManager[None]:
        """Keep every other writer out meanwhile; raise ``StoreUnavailable`` when that takes too long."""
        return self._turns.turn()

    @contextmanager
    def upkeep_turn(self) -> Iterator[bool]:
        """Keep every other writer out for housekeeping, or yield False where another writer does it."""
        if not self._turns.owns_upkeep():
            yield False
            return
        with self._turns.turn():
            yield True

    def is_passing(self, error: duckdb.Error) -> bool:
        """Tell whether another writer was in the way."""
        return any(sign in str(error) for sign in _OUTRUN)

    def release(self) -> None:
        """Close the connections."""
        self._turns.close()


class _Stored:
    """An S3 server answers a PUT once it is durable."""

    def sync(self) -> int:
        """Do nothing."""
        return 0


class _NoHold:
    def around_commit(self) -> AbstractContextManager[None]:
        """Run one commit."""
        return nullcontext()

    def release(self) -> None:
        """Hold nothing."""


class _NoDigests:
    """The S3 server guards the bytes of its objects."""

    def damaged(self, paths: Iterable[Path]) -> list[Path]:  # noqa: ARG002 -- none is known
        """Return none."""
        return []

    def forget_removed(self) -> None:
        """Do nothing."""

    def name(self, path: Path) -> str:
        """Return the path."""
        return path.as_posix()

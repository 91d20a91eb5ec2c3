"""What a lake's reader and writer need of the place it is in, whichever kind that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import BinaryIO

    import duckdb


class Files(Protocol):
    """Data files a transaction wrote."""

    def sync(self) -> int:
        """Make those that are new since the last call durable, and return how many; raises ``OSError``."""


class Digests(Protocol):
    """Digests of data files, where they are kept."""

    def damaged(self, paths: Iterable[Path]) -> list[Path]:
        """Return the files that are not as they were written; raises ``OSError``."""

    def forget_removed(self) -> None:
        """Drop what is known of files that are gone; raises ``OSError``."""

    def name(self, path: Path) -> str:
        """Return how a file is called."""


class Reports(Protocol):
    """Raw reports by digest."""

    def keep(self, report_id: str, data: BinaryIO) -> None:
        """Keep bytes durably; raise ``InvalidInput`` when they have another digest, or ``OSError``."""

    def open(self, report_id: str) -> BinaryIO:
        """Return the bytes; raise ``NotStored``, and ``StoreDamaged`` while reading when they do not match."""

    def sweep(self) -> int:
        """Remove what writers that were killed left half written, and return how many."""


class Hold(Protocol):
    """What a writer holds between commits so that readers do not wait."""

    def around_commit(self) -> AbstractContextManager[None]:
        """Run one commit."""

    def release(self) -> None:
        """Let go for good."""


class Source(Protocol):
    """Where a reader finds a lake."""

    @property
    def name(self) -> str:
        """Return how messages call it; holds no secret."""

    @property
    def extensions(self) -> tuple[str, ...]:
        """Return DuckDB's extensions it needs."""

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Give a connection that has the extensions what else it needs."""

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Return a private DuckDB that can attach it; raise ``StoreUnavailable`` without the extensions."""

    def identity(self) -> tuple[int, int]:
        """Return what tells this catalog from another in its place; raise ``StoreUnavailable`` where there is none."""

    def attach(self, connection: duckdb.DuckDBPyConnection, *, read_only: bool, name: str = "lake") -> None:
        """Attach it under a name; raises ``duckdb.Error``."""


class Site(Source, Protocol):
    """Where a writer keeps a lake."""

    is_shared: bool

    @property
    def data(self) -> Path:
        """Return what stands before the paths of data files."""

    @property
    def digests(self) -> Digests:
        """Return the digests of data files."""

    @property
    def reports(self) -> Reports:
        """Return the raw reports."""

    def create(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the catalog where there is none; raises ``duckdb.Error``."""

    def new_files(self) -> Files:
        """Return the watch over data files, beginning now."""

    def settle(self) -> None:
        """Make what was created durable; raises ``OSError``."""

    def keep_alive(self, connection: duckdb.DuckDBPyConnection) -> Hold:
        """Return what is held between commits."""

    def turn(self) -> AbstractContextManager[None]:
        """Keep every other writer out meanwhile; raise ``StoreUnavailable`` when that takes too long."""

    def upkeep_turn(self) -> AbstractContextManager[bool]:
        """Keep every other writer out for housekeeping, or yield False where another writer does it."""

    def is_passing(self, error: duckdb.Error) -> bool:
        """Tell whether a commit that failed so may be tried again at once."""

    def release(self) -> None:
        """Let go of lock and connections."""

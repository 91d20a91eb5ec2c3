"""Opening DuckDB with the extensions the lake needs, and attaching the lake."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from tonnage.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.store.url import EmbeddedPlace

EXTENSIONS: Final = ("ducklake", "sqlite_scanner")
_BUSY_TIMEOUT_MS: Final = 5000
# Bytes 18 and 19 of a SQLite file say 2 when it keeps a write-ahead log.
_WAL_MARK: Final = b"\x02\x02"


def connect(extensions: Iterable[str] = EXTENSIONS) -> duckdb.DuckDBPyConnection:
    """Return a private in-memory DuckDB that can attach a lake; raise ``StoreUnavailable`` without the extensions."""
    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    for name in extensions:
        connection.execute(f"LOAD {quoted(str(_extension(name)))}")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def _extension(name: str) -> Path:
    found = importlib.util.find_spec(f"duckdb_extension_{name}")
    folders = (found.submodule_search_locations or []) if found is not None else []
    for folder in folders:
        path = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if path.is_file():
            return path
    package = f"duckdb-extension-{name.replace('_', '-')}=={duckdb.__version__}"
    raise StoreUnavailable(
        f"DuckDB's extension {name} is not installed; install the package {package}", package=package
    )


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def catalog_path(place: EmbeddedPlace) -> Path:
    """Return the catalog's file."""
    return place.folder / "catalog.sqlite"


def data_path(place: EmbeddedPlace) -> Path:
    """Return the folder of the Parquet files."""
    return place.folder / "data"


def attach(connection: duckdb.DuckDBPyConnection, place: EmbeddedPlace, *, read_only: bool, name: str = "lake") -> None:
    """Attach an existing store under a name; raises ``duckdb.Error``.

    The data path is given each time, so that a folder that was moved or restored elsewhere opens.
    """
    mode = ", READ_ONLY" if read_only else ""
    connection.execute(
        f"ATTACH {_catalog_url(place)} AS {name} ({_data_option(place)}, OVERRIDE_DATA_PATH true, "
        f"META_BUSY_TIMEOUT {_BUSY_TIMEOUT_MS}{mode})"
    )


def create_catalog(connection: duckdb.DuckDBPyConnection, place: EmbeddedPlace) -> None:
    """Make the catalog where there is none, and have it keep a write-ahead log; raises ``duckdb.Error``.

    Called once under the writer's lock. The journal mode lasts in the file; asked for in every
    attach it would be set in every transaction, and wait for every reader.
    """
    if _keeps_wal(catalog_path(place)):
        return
    connection.execute(
        f"ATTACH {_catalog_url(place)} AS made ({_data_option(place)}, "
        f"META_JOURNAL_MODE 'WAL', META_BUSY_TIMEOUT {_BUSY_TIMEOUT_MS})"
    )
    connection.execute("DETACH made")


def _keeps_wal(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(20)[18:20] == _WAL_MARK
    except FileNotFoundError:
        return False


def _catalog_url(place: EmbeddedPlace) -> str:
    return quoted(f"ducklake:sqlite:{catalog_path(place)}")


def _data_option(place: EmbeddedPlace) -> str:
    return f"DATA_PATH {quoted(f'{data_path(place)}/')}"

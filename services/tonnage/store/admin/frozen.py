"""A store as it stands at one moment: a copy of the catalog, and the data files it names, which nobody changes.

Whoever works on it holds no lock and no transaction of the store, so ingest goes on and its log
stays short. Housekeeping keeps files for a day after the catalog stopped naming them: that long a
copy is good.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from tonnage.errors import StoreDamaged, StoreUnavailable
from tonnage.store.admin import copy_catalog
from tonnage.store.lake.connection import catalog_path, connect, data_path, quoted
from tonnage.store.migrations import refuse_newer, schema_version
from tonnage.store.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.store.url import EmbeddedPlace

_RESTORE: Final = "restore a backup into an empty folder"


@dataclass(frozen=True, slots=True)
class Frozen:
    """A store at one moment, attached read-only as ``lake``; ``catalog`` is the copy of its catalog."""

    place: EmbeddedPlace
    connection: duckdb.DuckDBPyConnection
    catalog: Path
    schema_version: int
    tables: frozenset[str]

    def rows(self, sql: str, parameters: list[object] | None = None) -> list[tuple[object, ...]]:
        """Return the rows of a query; the lake's tables are ``lake.<name>``."""
        return self.connection.execute(sql, parameters or []).fetchall()

    def number(self, sql: str) -> int:
        """Return the one whole number of a query."""
        (found,) = self.rows(sql)
        return int(str(found[0]))

    @property
    def data_version(self) -> int:
        """Return the newest data version."""
        return self.number("SELECT coalesce(max(data_version), 0) FROM lake.commits") if "commits" in self.tables else 0


@contextmanager
def frozen(place: EmbeddedPlace) -> Iterator[Frozen]:
    """Copy the catalog as of now and open it.

    Raises ``StoreUnavailable`` when there is no store or it cannot be reached, ``SchemaTooNew``, or
    ``StoreDamaged`` when the catalog is, or when what the body asks cannot be read.
    """
    source = catalog_path(place)
    if not source.is_file():
        raise StoreUnavailable(
            f"there is no store in {place.folder}; name another folder, or start ingest on it", folder=place.folder
        )
    with _scratch() as scratch:
        catalog = scratch / "catalog.sqlite"
        problems = _run_on_catalog("copy", source, str(catalog))
        if problems:
            shown = "; ".join(problems[:3])
            raise StoreDamaged(f"the catalog {source} is damaged ({shown}); {_RESTORE}", path=source)
        with opened(place, catalog, scratch) as store:
            yield store


@contextmanager
def opened(place: EmbeddedPlace, catalog: Path, scratch: Path) -> Iterator[Frozen]:
    """Open a catalog nobody else has open on the data files of ``place``; raises as ``frozen`` does."""
    with closing(connect()) as connection:
        try:
            connection.execute(f"SET temp_directory = {quoted(str(scratch / 'spill'))}")
            connection.execute(
                f"ATTACH {quoted(f'ducklake:sqlite:{catalog}')} AS lake "
                f"(DATA_PATH {quoted(f'{data_path(place)}/')}, OVERRIDE_DATA_PATH true, READ_ONLY)"
            )
            version = schema_version(connection)
            refuse_newer(version, SCHEMA_VERSION)
            found = connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake'").fetchall()
            yield Frozen(place, connection, catalog, version, frozenset(name for (name,) in found))
        except duckdb.OutOfMemoryException as error:
            raise StoreUnavailable(f"not enough memory or scratch space: {error}; free some, try again") from error
        except duckdb.Error as error:
            raise StoreDamaged(
                f"the store in {place.folder} cannot be read ({error}); `tonnage store check` names what is damaged",
                folder=place.folder,
            ) from error


@contextmanager
def copied_catalog(source: Path) -> Iterator[tuple[Path, Path]]:
    """Copy a catalog that is no longer written, of a backup; yield the copy and a folder for scratch."""
    with _scratch() as scratch:
        catalog = scratch / "catalog.sqlite"
        shutil.copyfile(source, catalog)
        yield catalog, scratch


def relocate(catalog: Path, data: Path) -> None:
    """Tell a catalog nobody has open where its data files are, so that plain DuckDB finds them."""
    _run_on_catalog("relocate", catalog, f"{data}/")


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tonnage-store-") as folder:
        yield Path(folder)


def _run_on_catalog(work: str, catalog: Path, argument: str) -> list[str]:
    command = [sys.executable, "-I", copy_catalog.__file__, work, str(catalog), argument]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- our own program
    if done.returncode == copy_catalog.EXIT_DAMAGED:
        raise StoreDamaged(f"the catalog {catalog} is damaged ({done.stderr.strip()}); {_RESTORE}", path=catalog)
    if done.returncode != 0:
        raise StoreUnavailable(f"the catalog {catalog} cannot be read: {done.stderr.strip()}", path=catalog)
    problems: list[str] = json.loads(done.stdout)["problems"]
    return problems

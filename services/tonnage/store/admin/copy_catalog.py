"""Works on a SQLite catalog as a program of its own; the standard library is all it needs.

Two copies of SQLite in one process, Python's and DuckDB's, drop each other's locks on a file, so
this is never imported where a store may be open: ``frozen.py`` starts it.

    copy_catalog.py copy SOURCE DESTINATION      as of one moment; writers go on meanwhile
    copy_catalog.py relocate CATALOG DATA_PATH   tell a catalog that nobody has open where its data is

Prints one JSON object: {"problems": [text, …]}; an empty list is good.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

EXIT_DAMAGED = 1
EXIT_NOT_REACHED = 3
_WAIT_S = 30.0


def copied(source: str, destination: str) -> list[str]:
    """Copy the catalog in one read transaction, and return what SQLite finds wrong with the copy.

    A catalog that is at rest is read without a trace: SQLite would make files for its log, owned by
    whoever reads, and a writer that is somebody else could not open them.
    """
    log, state = Path(f"{source}-wal"), _state(source)
    at_rest = not log.exists()
    if at_rest:
        _copy(f"{_uri(source)}&immutable=1", destination)
    if not at_rest or log.exists() or _state(source) != state:
        _copy(_uri(source), destination)
    with closing(sqlite3.connect(destination)) as here:
        found = [str(text) for (text,) in here.execute("PRAGMA integrity_check")]
    return [text for text in found if text != "ok"]


def _copy(uri: str, destination: str) -> None:
    Path(destination).unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(uri, uri=True, timeout=_WAIT_S)) as there,
        closing(sqlite3.connect(destination)) as here,
    ):
        there.backup(here)


def _state(path: str) -> tuple[int, int, int]:
    found = Path(path).stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _uri(path: str) -> str:
    return f"file:{quote(str(Path(path).resolve()))}?mode=ro"


def relocated(catalog: str, data_path: str) -> list[str]:
    """Write the data path, as DuckLake keeps it."""
    with closing(sqlite3.connect(catalog)) as here, here:
        here.execute("UPDATE ducklake_metadata SET value = ? WHERE key = 'data_path'", [data_path])
    return []


def main(arguments: list[str]) -> int:
    """Do one of the two; errors are one line on stderr."""
    work = {"copy": copied, "relocate": relocated}[arguments[0]]
    try:
        problems = work(*arguments[1:])
    except sqlite3.OperationalError as error:
        return _told(error, EXIT_NOT_REACHED)
    except sqlite3.DatabaseError as error:
        return _told(error, EXIT_DAMAGED)
    sys.stdout.write(json.dumps({"problems": problems}))
    return 0


def _told(error: Exception, status: int) -> int:
    sys.stderr.write(f"{error}\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

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
    """Copy the catalog in one read transaction, and return what SQLite finds wrong with the copy."""
    with closing(_opened_to_read(source)) as there, closing(sqlite3.connect(destination)) as here:
        there.backup(here)
        found = [str(text) for (text,) in here.execute("PRAGMA integrity_check")]
    return [text for text in found if text != "ok"]


def relocated(catalog: str, data_path: str) -> list[str]:
    """Write the data path, as DuckLake keeps it."""
    with closing(sqlite3.connect(catalog)) as here, here:
        here.execute("UPDATE ducklake_metadata SET value = ? WHERE key = 'data_path'", [data_path])
    return []


def _opened_to_read(path: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(Path(path).resolve()))}?mode=ro", uri=True, timeout=_WAIT_S)


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

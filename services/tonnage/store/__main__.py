"""``python -m tonnage.store info|check|backup|restore|migrate|export``: looking after a store; no server is asked.

Ends with 0, with 1 when the answer is no (damage was found), 2 on bad input, 3 when the store
cannot be reached or is locked; 70 is a fault of the program.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import unicodedata
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tonnage.errors import InvalidInput, StoreDamaged, TonnageError
from tonnage.store import embedded_place
from tonnage.store.admin import words
from tonnage.store.admin.backup import backup
from tonnage.store.admin.check import check
from tonnage.store.admin.export import KINDS, export
from tonnage.store.admin.info import info
from tonnage.store.admin.migrate import bring_up
from tonnage.store.admin.move import move
from tonnage.store.admin.restore import restore
from tonnage.store.url import parse_store_url, shown_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tonnage.store.admin.manifest import Manifest
    from tonnage.store.url import EmbeddedPlace

EXIT_OK: Final = 0
EXIT_NO: Final = 1
EXIT_BAD_INPUT: Final = 2
EXIT_NOT_REACHED: Final = 3
EXIT_FAULT: Final = 70
EXIT_INTERRUPTED: Final = 130
VARIABLE: Final = "TONNAGE_STORE"
# What a user can mend by naming another path.
_WRONG_PATH: Final = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL}
)

Answer = tuple[int, dict[str, Any], "Iterable[str]"]
"""Exit status, JSON, and the lines people read."""


def _info(place: EmbeddedPlace, _: argparse.Namespace) -> Answer:
    found = info(place)
    return EXIT_OK, asdict(found), words.of_info(found)


def _check(place: EmbeddedPlace, _: argparse.Namespace) -> Answer:
    found = check(place)
    said = {"is_sound": found.is_sound, **asdict(found)}
    return EXIT_OK if found.is_sound else EXIT_NO, said, words.of_check(found)


def _backup(place: EmbeddedPlace, given: argparse.Namespace) -> Answer:
    found = backup(place, given.destination)
    return EXIT_OK, _of_manifest(found, "destination", given.destination), words.of_backup(found, given.destination)


def _restore(place: EmbeddedPlace, given: argparse.Namespace) -> Answer:
    found = restore(given.source, place)
    return EXIT_OK, _of_manifest(found, "source", given.source), words.of_restore(found, place.folder)


def _of_manifest(found: Manifest, name: str, folder: Path) -> dict[str, Any]:
    """Return a manifest with its files counted: they may be many."""
    said = {key: value for key, value in asdict(found).items() if key != "files"}
    return {name: str(folder), **said, "file_count": len(found.files), "size_bytes": found.size_bytes}


def _migrate(place: EmbeddedPlace, _: argparse.Namespace) -> Answer:
    found = bring_up(place)
    return EXIT_OK, asdict(found), words.of_migration(found)


def _move(given: argparse.Namespace) -> Answer:
    found = move(parse_store_url(given.store), parse_store_url(given.to))
    return EXIT_OK, {"to": shown_url(given.to), **asdict(found)}, words.of_move(found, shown_url(given.to))


def _export(place: EmbeddedPlace, given: argparse.Namespace) -> Answer:
    found = export(
        place,
        given.destination,
        kind=given.format,
        namespace=given.namespace,
        include_retired=given.include_retired,
    )
    return EXIT_OK, {**asdict(found), "destination": str(given.destination)}, words.of_export(found, given.destination)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tonnage.store",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    kinds = parser.add_subparsers(dest="work", required=True)

    def add(name: str, work: Callable[[EmbeddedPlace, argparse.Namespace], Answer], said: str) -> Any:  # noqa: ANN401 -- argparse's own
        made = kinds.add_parser(name, help=said, description=said, allow_abbrev=False)
        made.set_defaults(answer=work)
        made.add_argument("--store", default=os.environ.get(VARIABLE), help=f"lake:///path/to/folder [{VARIABLE}]")
        made.add_argument("--json", action="store_true", help="print one JSON document")
        return made

    add("info", _info, "what a store holds and takes")
    add("check", _check, "whether every file and row is as it was written; ingest may run")
    add("backup", _backup, "copy the store as of now to an empty folder; ingest may run").add_argument(
        "destination", type=Path
    )
    add("restore", _restore, "make a store from a backup, where there is none").add_argument("source", type=Path)
    migrated = add(
        "migrate",
        _migrate,
        "bring a store of an earlier release up to this one, or copy it to another place; ingest must not run",
    )
    migrated.add_argument("--to", help="URL of an empty store of either kind, to copy everything to and compare")
    exported = add("export", _export, "write runs and points as plain files to an empty folder; ingest may run")
    exported.add_argument("destination", type=Path)
    exported.add_argument("--namespace", help="of this one only")
    exported.add_argument("--format", choices=KINDS, default="parquet")
    exported.add_argument("--include-retired", action="store_true", help="retracted and superseded runs too")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one thing to one store, and return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        return _done(given)
    except (TonnageError, OSError) as error:
        return _told(_problem(error), _status(error))
    except KeyboardInterrupt:
        return _told("interrupted; nothing was changed", EXIT_INTERRUPTED)
    except Exception as error:
        # Uncaught it would end with 1, which means damage.
        if os.environ.get("TONNAGE_TRACEBACK"):
            raise
        return _told(
            f"a fault of the program: {type(error).__name__}: {error}; TONNAGE_TRACEBACK=1 shows where", EXIT_FAULT
        )


def _done(given: argparse.Namespace) -> int:
    if given.store is None:
        raise InvalidInput.field("store", None, "is not given", f"set {VARIABLE} or --store lake:///path/to/folder")
    moves = getattr(given, "to", None) is not None
    answer: Answer = _move(given) if moves else given.answer(embedded_place(given.store), given)
    status, said, lines = answer
    text = json.dumps({"store": shown_url(given.store), **said}, indent=2, ensure_ascii=False, allow_nan=False)
    print(text if given.json else "\n".join(_clean(line) for line in lines))  # noqa: T201 -- a command's output
    return status


def _problem(error: TonnageError | OSError) -> str:
    if isinstance(error, TonnageError):
        return error.message
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}; nothing was changed"


def _status(error: TonnageError | OSError) -> int:
    if isinstance(error, StoreDamaged):
        return EXIT_NO
    if isinstance(error, InvalidInput) or getattr(error, "errno", None) in _WRONG_PATH:
        return EXIT_BAD_INPUT
    return EXIT_NOT_REACHED


def _told(problem: str, status: int) -> int:
    print(f"error: {_clean(problem)}", file=sys.stderr)  # noqa: T201 -- a command's output
    return status


def _clean(text: str) -> str:
    """Return a line without what could steer a terminal; names in a store may hold anything."""
    return "".join("�" if unicodedata.category(char)[0] == "C" else char for char in text)


if __name__ == "__main__":
    sys.exit(main())

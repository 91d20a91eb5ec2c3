"""Which files a command line means, and which of them are one sweep."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tonnage.client.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

STDIN: Final = "-"
LABEL_FILES: Final = ("tonnage.yaml", "tonnage.yml")
# Sibling folders that differ in their load alone, as some tools write them, are one sweep.
_LEVEL: Final = re.compile(
    r"(?:^|(?P<stem>.+?)[-_.])(?:concurrency|conc|qps|rps|rate|request[-_]?rate|users|clients|load|level|stage)[-_=]?\d+(?:\.\d+)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One file to send.

    ``path`` is None for standard input. ``alone``: the user named this one file and no other, so
    that a file nobody recognises is an error and not one of many to skip. ``root`` is the folder
    the user named, above which no labels are looked for.
    """

    path: Path | None
    shown: str
    alone: bool = False
    root: Path | None = None
    sweep_id: str = ""


def discover(paths: Sequence[str]) -> list[Found]:
    """Return the files meant, each once, in order of name within what was named.

    Raises ``BadInput`` for a path where nothing is, and when nothing at all is found.
    """
    found: dict[Path | None, Found] = {}
    for text in paths:
        for item in _named(text):
            found.setdefault(item.path.resolve() if item.path is not None else None, item)
    files = list(found.values())
    if not files:
        raise BadInput.field("PATH", f"no files in {', '.join(paths)}; name a file or a folder that holds some")
    if len(files) == 1 and files[0].root is None:
        return [Found(path=files[0].path, shown=files[0].shown, alone=True)]
    return files


def _named(text: str) -> Iterator[Found]:
    path = Path(text)
    if text == STDIN:
        yield Found(path=None, shown="standard input")
    elif path.is_dir():
        yield from (_within(item, path) for item in _walk(path))
    elif path.exists():
        yield Found(path=path, shown=text, sweep_id=sweep_of(path.resolve().parent))
    elif glob.has_magic(text):
        yield from _matched(text)
    else:
        raise BadInput.field("PATH", f"{text} does not exist; name a file, a folder or a pattern")


def _matched(pattern: str) -> Iterator[Found]:
    names = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 -- Path.glob takes no absolute pattern
    files = [Path(name) for name in names if Path(name).is_file() and Path(name).name not in LABEL_FILES]
    if not files:
        raise BadInput.field("PATH", f"no file matches {pattern}; quote the pattern, or name a folder")
    yield from (_within(item, item.parent) for item in files)


def _within(path: Path, root: Path) -> Found:
    return Found(path=path, shown=str(path), root=root, sweep_id=sweep_of(path.resolve().parent))


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder in order of name; hidden ones and our own label files are none."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place) / name
            if not name.startswith(".") and name not in LABEL_FILES and path.is_file():
                yield path


def sweep_of(folder: Path) -> str:
    """Return the sweep id of a folder's files: its name.

    A folder that names one load level, as ``concurrency_4`` or ``chat-rate-2``, is one level of the
    sweep its siblings form: the id is what stands before the level, or the parent's name.
    """
    found = _LEVEL.fullmatch(folder.name)
    if found is None:
        return folder.name
    return found["stem"] or sweep_of(folder.parent)


def folders_of(item: Found) -> Iterable[Path]:
    """Yield the folders whose labels hold for a file, the nearest last."""
    if item.path is None:
        return []
    here = item.path.parent
    if item.root is None or item.root == here:
        return [here]
    above = [folder for folder in here.parents if folder == item.root or item.root in folder.parents]
    return [*reversed(above), here]

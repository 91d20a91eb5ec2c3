"""Column maps of tables nobody knows: given as pairs or as a file, and saved for the next time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

from tonnage.cli import documents, values
from tonnage.cli.upload.labels import texts_of
from tonnage.client.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

READ_FLAG: Final = "--map"
SAVE_FLAG: Final = "--save-map"
_KEY: Final = "map"


def column_map(texts: Iterable[str]) -> dict[str, str]:
    """Return OURS=THEIRS texts over the maps of files named among them; two files that disagree are refused."""
    texts = list(texts)
    pairs = values.pairs(READ_FLAG, (text for text in texts if "=" in text))
    found: dict[str, str] = {}
    for path in (text for text in texts if "=" not in text):
        for ours, theirs in _of_file(path).items():
            if found.setdefault(ours, theirs) != theirs:
                raise BadInput.field(READ_FLAG, f"{ours} is in two files with two values; give one file")
    return {**found, **pairs}


def _of_file(path: str) -> dict[str, str]:
    """Return the map of a file: the lines below ``map:`` alone, as it is saved, or bare lines."""
    if not Path(path).is_file():
        raise BadInput.field(READ_FLAG, f"{path!r} is neither OURS=THEIRS nor a file of such a map; write one of them")
    document = documents.read_mapping(READ_FLAG, path)
    inner = document.get(_KEY, document)
    if inner is not document and len(document) > 1:
        raise BadInput.field(READ_FLAG, f"{path} holds more than its map; keep {_KEY}: alone")
    found = texts_of(path, _KEY, inner)
    if not found:
        raise BadInput.field(READ_FLAG, f"{path} maps no column; write ours: theirs lines below {_KEY}:")
    return found


@dataclass(frozen=True, slots=True)
class MapFile:
    """Where the map of a command goes once a file was read by it, and what it will hold."""

    path: Path
    text: str

    @classmethod
    def of(cls, path: str, maps: Iterable[Mapping[str, str]]) -> MapFile | None:
        """Return the file to write, or None when none is wanted.

        Raises ``BadInput`` where there is no one map to save, or the file holds something else.
        """
        if not path:
            return None
        distinct = {tuple(sorted(item.items())) for item in maps}
        if len(distinct) > 1:
            raise BadInput.field(SAVE_FLAG, "the files have unlike maps; save the map of one folder at a time")
        (pairs,) = distinct or {()}
        if not pairs:
            raise BadInput.field(SAVE_FLAG, "no column is mapped; give --map OURS=THEIRS")
        text = yaml.safe_dump({_KEY: dict(pairs)}, allow_unicode=True)
        if Path(path).exists() and documents.read_text(SAVE_FLAG, path) != text:
            raise BadInput.field(SAVE_FLAG, f"{path} is there and holds something else; name another file")
        return cls(Path(path), text)

    def write(self) -> None:
        """Write the file. Raises ``BadInput`` where that cannot be."""
        try:
            self.path.write_text(self.text, encoding="utf-8")
        except OSError as error:
            raise BadInput.field(SAVE_FLAG, f"{self.path} cannot be written: {error}; name another file") from error

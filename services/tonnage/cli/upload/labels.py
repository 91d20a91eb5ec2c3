"""What is said beside the files: ``tonnage.yaml`` in their folder, and flags, which win."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tonnage.cli import documents
from tonnage.cli.upload.discover import LABEL_FILES, folders_of
from tonnage.client.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tonnage.cli.upload.discover import Found

_KEYS: Final = ("set", "map", "sweep", "namespace", "format")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What holds for a file; keys and values are the server's to judge."""

    given: Mapping[str, str] = field(default_factory=dict)
    column_map: Mapping[str, str] = field(default_factory=dict)
    sweep: str = ""
    namespace: str = ""
    format: str = ""

    def under(self, nearer: Labels) -> Labels:
        """Return these labels with nearer ones put over them, key by key."""
        return Labels(
            given={**self.given, **nearer.given},
            column_map={**self.column_map, **nearer.column_map},
            sweep=nearer.sweep or self.sweep,
            namespace=nearer.namespace or self.namespace,
            format=nearer.format or self.format,
        )


class LabelBook:
    """Reads each folder's label file once."""

    def __init__(self, flags: Labels) -> None:
        self._flags = flags
        self._read: dict[Path, Labels] = {}

    def of(self, item: Found) -> Labels:
        """Return what holds for a file. Raises ``BadInput`` on a label file that cannot be used."""
        found = Labels()
        for folder in folders_of(item):
            found = found.under(self._folder(folder))
        return found.under(self._flags)

    def _folder(self, folder: Path) -> Labels:
        if folder not in self._read:
            present = [folder / name for name in LABEL_FILES if (folder / name).is_file()]
            if len(present) > 1:
                raise BadInput.field(str(folder), f"holds both {' and '.join(LABEL_FILES)}; keep one")
            self._read[folder] = read(present[0]) if present else Labels()
        return self._read[folder]


def read(path: Path) -> Labels:
    """Return the labels of one file."""
    where = str(path)
    document = documents.read_mapping(where, where)
    unknown = sorted(set(map(str, document)) - set(_KEYS))
    if unknown:
        raise BadInput.field(where, f"{unknown[0]} is no key of it; use {', '.join(_KEYS)}")
    return Labels(
        given=texts_of(where, "set", document.get("set")),
        column_map=texts_of(where, "map", document.get("map")),
        **{key: _text(where, key, document.get(key)) for key in ("sweep", "namespace", "format")},
    )


def texts_of(where: str, key: str, value: object) -> dict[str, str]:
    """Return a mapping of scalars as texts; nothing is empty."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadInput.field(f"{where}: {key}", "is no mapping; write key: value lines below it")
    return {str(name): _text(where, f"{key}.{name}", item) for name, item in value.items()}


def _text(where: str, key: str, value: Any) -> str:  # noqa: ANN401 -- a document's value is anything
    """Return a scalar as the text a user would type; nothing is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    raise BadInput.field(f"{where}: {key}", "holds more than one value; write one text or number")

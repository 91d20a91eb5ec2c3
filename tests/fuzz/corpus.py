"""What the fuzzer starts from: real files cut small, and the bare keys of every reader's layouts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import yaml

from tonnage.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_KEPT_ELEMENTS: Final = 3
_KEPT_BYTES: Final = 6_000
_LARGEST_READ: Final = 4_000_000
_SKELETON_VALUE: Final = 3.5


@dataclass(frozen=True, slots=True)
class Seed:
    """One starting point: its bytes, and its value where it is a document."""

    name: str
    data: bytes
    document: object | None = None


def seeds(folders: Sequence[Path]) -> list[Seed]:
    """Return the files below some folders, cut small, then one seed for each layout a reader states."""
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return [*(seed for path in files for seed in _of_file(path)), *_skeletons()]


def _of_file(path: Path) -> Iterator[Seed]:
    data = path.read_bytes()[:_LARGEST_READ]
    document = _document(data)
    if document is not None:
        small = _cut(document)
        yield Seed(path.name, json.dumps(small).encode(), small)
        return
    first = _document(data.split(b"\n", 1)[0])
    if first is not None:
        small = _cut(first)
        yield Seed(path.name, json.dumps(small).encode() + b"\n", small)
    yield Seed(path.name, data[:_KEPT_BYTES])
    if len(data) > _KEPT_BYTES:
        yield Seed(path.name + " (end)", data[-_KEPT_BYTES:])


def _document(data: bytes) -> object | None:
    try:
        value: object = json.loads(data)
    except ValueError:
        value = _yaml(data)
    return value if isinstance(value, (dict, list)) else None


def _yaml(data: bytes) -> object | None:
    if len(data) > 2 * _KEPT_BYTES * _KEPT_ELEMENTS:
        return None
    try:
        value: object = yaml.safe_load(data)
        json.dumps(value)
    except (yaml.YAMLError, ValueError, TypeError):
        return None
    return value


def _cut(value: object) -> object:
    """Return a value with every list cut after its first elements and every text after its first letters."""
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value[:_KEPT_ELEMENTS]]
    return value[:200] if isinstance(value, str) else value


def _skeletons() -> Iterator[Seed]:
    for reader in FORMATS:
        for keys in reader.expects:
            bare = dict.fromkeys(keys, _SKELETON_VALUE)
            yield Seed(f"{reader.name} keys", json.dumps(bare).encode(), bare)
            nested: object = {key: {"mean": 1.0, "p99": 2.0} for key in keys}
            yield Seed(f"{reader.name} blocks", json.dumps(nested).encode(), nested)
            row = ",".join(keys) + "\n" + ",".join("1.5" for _ in keys) + "\n"
            yield Seed(f"{reader.name} table", row.encode())

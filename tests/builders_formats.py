"""Builders for tests of readers."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from tonnage.domain.measurement import Level, Run
from tonnage.formats import open_source, read, recognise

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.formats.base import Source


def opened(path: Path, **wanted: object) -> Source:
    """Return a file as readers see it."""
    return open_source(
        lambda: path.open("rb"),
        filename=path.name,
        size_bytes=path.stat().st_size,
        **wanted,  # type: ignore[arg-type]
    )


def of_bytes(data: bytes, filename: str = "results.json", **wanted: object) -> Source:
    """Return bytes as readers see them."""
    return open_source(lambda: io.BytesIO(data), filename=filename, size_bytes=len(data), **wanted)  # type: ignore[arg-type]


def of_text(text: str, **wanted: object) -> Source:
    """Return a text as readers see it."""
    return of_bytes(text.encode(), **wanted)  # type: ignore[arg-type]


def runs_of(text: str) -> list[Run]:
    """Return the runs of a text as its reader yields them, before the lint."""
    source = of_text(text)
    reader = recognise(source)
    runs = [item for item in reader.read(source) if isinstance(item, Run)]
    if not runs:
        read(source, reader)
    return runs


def only_level(text: str) -> Level:
    """Return the one level of a text as its reader yields it."""
    (level,) = [level for run in runs_of(text) for level in run.levels]
    return level

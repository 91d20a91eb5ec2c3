"""What is wrong with a file of a store, and what is only worth knowing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Something that must be mended; ``path`` stands below the store's folder, empty for rows."""

    code: str
    path: str
    problem: str
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something harmless; ``paths`` are the first few of ``count``."""

    code: str
    count: int
    what: str
    paths: tuple[str, ...] = ()

"""Names close to one nobody knows, for the message; never an answer by themselves."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def near_names(wanted: str, known: Iterable[str], *, most: int = 5) -> list[str]:
    """Return up to ``most`` known names that look like ``wanted``, best first."""
    by_key = {name.lower(): name for name in known}
    short = wanted.lower().rsplit("/", 1)[-1]
    keys = {key.rsplit("/", 1)[-1]: key for key in by_key}
    close = difflib.get_close_matches(short, keys, n=most, cutoff=0.5)
    return [by_key[keys[key]] for key in close]

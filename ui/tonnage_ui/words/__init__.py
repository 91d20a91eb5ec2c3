"""The texts of the pages in every language they speak; a missing text is an error, never a blank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LANGUAGES: Final = {"en": "English", "zh": "中文"}


@dataclass(frozen=True, slots=True)
class Words:
    """The texts of one language, called by key: ``words("plan.title")``."""

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """Return a text with its values filled in; raise ``KeyError`` for a key nobody wrote."""
        text = self.texts[key]
        return text.format(**values) if values else text

    def has(self, key: str) -> bool:
        """Tell whether a text was written for a key that comes from a reply."""
        return key in self.texts

    def known(self, group: str, word: str) -> str:
        """Return the text of a word a server sent, or the word itself where this release has none."""
        return self.texts.get(f"{group}.{word}", word)


@cache
def words_of(language: str) -> Words:
    """Return the texts of a language; raise ``KeyError`` for one we do not speak."""
    if language not in LANGUAGES:
        raise KeyError(language)
    raw = (Path(__file__).parent / f"{language}.yaml").read_text(encoding="utf-8")
    return Words(language, dict(_flat(yaml.safe_load(raw))))


def _flat(tree: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)

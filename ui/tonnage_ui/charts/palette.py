"""Colours by meaning, after Okabe and Ito: apart for colour-blind readers, readable on light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one background."""

    inside: str
    outside: str
    limit: str
    capacity: str
    crossing: str
    muted: str
    text: str
    surface: str
    terms: tuple[str, ...]


_LIGHT: Final = Palette(
    inside="#0072b2",
    outside="#d55e00",
    limit="#b34700",
    capacity="#00735a",
    crossing="#8a4577",
    muted="#5b6670",
    text="#0b1219",
    surface="#ffffff",
    terms=("#0072b2", "#d9a400", "#d55e00", "#009e73", "#56b4e9", "#a3adb7"),
)
_DARK: Final = Palette(
    inside="#56b4e9",
    outside="#f0853a",
    limit="#ff9b57",
    capacity="#3fd0a6",
    crossing="#e3a8cd",
    muted="#9aa7b3",
    text="#e6ebf0",
    surface="#12171d",
    terms=("#3d9bd6", "#e6b93c", "#f0853a", "#2fb58e", "#8fc7ee", "#6d7985"),
)


def palette(theme: str | None) -> Palette:
    """Return the colours for a background; light where the browser has not said."""
    return _DARK if theme == "dark" else _LIGHT

"""Input widgets whose values live in the page's address: empty means not stated."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from tonnage_ui.widgets import link

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tonnage_ui.words import Words

Option = TypeVar("Option", str, int)


def text(key: str, words: Words, *, placeholder: str | None = None, named: str | None = None) -> str:
    """Show a text field; the words of ``named`` stand above it."""
    link.restore(key, link.text)
    label, explained = _said(named or key, words)
    return st.text_input(label, key=key, help=explained, placeholder=placeholder, persist_state="session") or ""


def number(key: str, words: Words, *, label: str | None = None, named: str | None = None) -> float | None:
    """Show a number field that starts empty; ``label`` or the words of ``named`` stand above it."""
    link.restore(key, link.number)
    said, explained = _said(named or key, words) if label is None else (label, None)
    return st.number_input(said, value=None, format="%g", key=key, help=explained, persist_state="session")


def whole(key: str, words: Words) -> int | None:
    """Show a whole-number field that starts empty."""
    link.restore(key, link.whole)
    label, explained = _said(key, words)
    return st.number_input(label, value=None, step=1, key=key, help=explained, persist_state="session")


def counter(key: str, words: Words, *, least: int, most: int) -> int:
    """Show a whole number between two bounds that starts at the lower one."""
    link.restore(key, _within(least, most), least)
    label, explained = _said(key, words)
    return st.number_input(
        label, min_value=least, max_value=most, step=1, key=key, help=explained, persist_state="session"
    )


def pick(key: str, words: Words, options: Sequence[str], *, placeholder: str | None = None) -> str:
    """Show a list of known values that also takes another one; empty means not stated."""
    link.restore(key, link.text)
    label, explained = _said(key, words)
    value = st.selectbox(
        label,
        options,
        index=None,
        key=key,
        help=explained,
        placeholder=placeholder or words("form.any"),
        accept_new_options=True,
        persist_state="session",
    )
    return value or ""


def one_of(
    key: str,
    words: Words,
    options: Sequence[Option],
    name: Callable[[Option], str],
    *,
    placeholder: str | None = None,
    named: str | None = None,
) -> Option | None:
    """Show a list to choose from; without a placeholder the first option is chosen at the start."""
    link.restore(key, option_reader(options), None if placeholder else options[0])
    label, explained = _said(named or key, words)
    _follow_options(key, options, None if placeholder else options[0])
    return st.selectbox(
        label,
        options,
        index=None if placeholder else 0,
        format_func=name,
        key=key,
        help=explained,
        placeholder=placeholder,
        persist_state="session",
    )


def _follow_options(key: str, options: Sequence[Option], default: Option | None) -> None:
    """Take the default where nothing that can be chosen is, and where only an earlier default was."""
    earlier = st.session_state.get(f"{key}_default")
    chosen = st.session_state.get(key)
    if chosen not in options or (chosen == earlier and earlier != default):
        st.session_state[key] = default
    st.session_state[f"{key}_default"] = default


def some_of(
    key: str,
    words: Words,
    options: Sequence[str],
    name: Callable[[str], str],
    *,
    most: int | None = None,
    named: str | None = None,
) -> list[str]:
    """Show a list to choose several from."""
    link.restore(key, _options(options))
    label, explained = _said(named or key, words)
    return st.multiselect(
        label,
        options,
        format_func=name,
        key=key,
        help=explained,
        placeholder=words(f"placeholder.{named or key}"),
        max_selections=most,
        persist_state="session",
    )


def choice(key: str, words: Words, options: Sequence[str], name: Callable[[str], str], *, required: bool = True) -> str:
    """Show a few options side by side; when required, the first one is chosen at the start."""
    link.restore(key, option_reader(options), options[0] if required else None)
    label, explained = _said(key, words)
    value = st.segmented_control(
        label,
        options,
        required=required,
        format_func=name,
        key=key,
        help=explained,
        persist_state="session",
    )
    return str(value or "")


def toggle(key: str, words: Words) -> bool:
    """Show a switch that starts off."""
    link.restore(key, link.switch, default=False)
    label, explained = _said(key, words)
    return st.toggle(label, key=key, help=explained, persist_state="session")


def date(key: str, words: Words) -> None:
    """Show a date that starts empty."""
    link.restore(key, link.date)
    label, explained = _said(key, words)
    st.date_input(label, value=None, format="YYYY-MM-DD", key=key, help=explained, persist_state="session")


def _said(key: str, words: Words) -> tuple[str, str | None]:
    return words(f"field.{key}"), words(f"help.{key}") if words.has(f"help.{key}") else None


def option_reader(options: Sequence[Option]) -> Callable[[list[str]], Option]:
    """Return what reads one of some options from an address."""
    by_text = {str(option): option for option in options}

    def read(texts: list[str]) -> Option:
        if texts[0] not in by_text:
            raise ValueError(texts[0])
        return by_text[texts[0]]

    return read


def _options(options: Sequence[str]) -> Callable[[list[str]], list[str]]:
    def read(texts: list[str]) -> list[str]:
        unknown = [item for item in texts if item not in options]
        if unknown:
            raise ValueError(unknown[0])
        return texts

    return read


def _within(least: int, most: int) -> Callable[[list[str]], int]:
    def read(texts: list[str]) -> int:
        value = int(texts[0])
        if not least <= value <= most:
            raise ValueError(texts[0])
        return value

    return read

"""Input widgets whose values live in the URL: empty means not stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tonnage_ui.words import Words


def text(key: str, words: Words, *, placeholder: str | None = None) -> str:
    """Show a text field bound to the URL."""
    value = st.text_input(
        words(f"field.{key}"), key=key, help=_help(key, words), placeholder=placeholder, bind="query-params"
    )
    return value or ""


def number(key: str, words: Words, *, step: float | None = None, placeholder: str | None = None) -> float | None:
    """Show a number field that starts empty, bound to the URL."""
    return st.number_input(
        words(f"field.{key}"),
        value=None,
        step=step,
        format="%g",
        key=key,
        help=_help(key, words),
        placeholder=placeholder,
        bind="query-params",
    )


def whole(key: str, words: Words, *, placeholder: str | None = None) -> int | None:
    """Show a whole-number field that starts empty, bound to the URL."""
    return st.number_input(
        words(f"field.{key}"),
        value=None,
        step=1,
        key=key,
        help=_help(key, words),
        placeholder=placeholder,
        bind="query-params",
    )


def pick(key: str, words: Words, options: Sequence[str], *, placeholder: str | None = None) -> str:
    """Show a list of known values that also takes another one; empty means not stated."""
    value = st.selectbox(
        words(f"field.{key}"),
        options,
        index=None,
        key=key,
        help=_help(key, words),
        placeholder=placeholder or words("form.any"),
        accept_new_options=True,
        bind="query-params",
    )
    return value or ""


def choice(key: str, words: Words, options: Sequence[str], name: Callable[[str], str]) -> str:
    """Show a few options side by side, the first one chosen at the start."""
    value = st.segmented_control(
        words(f"field.{key}"),
        options,
        default=options[0],
        required=True,
        format_func=name,
        key=key,
        help=_help(key, words),
        bind="query-params",
    )
    return str(value)


def date(key: str, words: Words) -> None:
    """Show a date that starts empty, bound to the URL."""
    st.date_input(
        words(f"field.{key}"), value=None, format="YYYY-MM-DD", key=key, help=_help(key, words), bind="query-params"
    )


def _help(key: str, words: Words) -> str | None:
    return words(f"help.{key}") if words.has(f"help.{key}") else None

"""The page's address holds every input: raw values, the same in every language.

A page is *entered* when a session opens it or comes to it from another page: then the address fills
the widgets. At the end of each run the widgets that were shown write the address.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PAGE: Final = "link_page"
_PENDING: Final = "link_pending"
_SHOWN: Final = "link_shown"
_REFUSED: Final = "link_refused"


def enter(page: str) -> None:
    """Start a run of a page; take over the address when the page is entered."""
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state[_PENDING] = {key: st.query_params.get_all(key) for key in st.query_params}
        st.session_state[_REFUSED] = []
    st.session_state[_SHOWN] = {}


def restore(key: str, read: Callable[[list[str]], object], default: object = None) -> None:
    """Fill a widget from the address before it is shown, once; else from its default.

    ``read`` turns the texts of the address into the widget's value and raises ``ValueError`` for
    what it cannot be; that is kept and shown, not dropped.
    """
    st.session_state[_SHOWN][key] = default
    texts = _pending().pop(key, None)
    if texts is not None:
        try:
            st.session_state[key] = read(texts)
        except ValueError:
            st.session_state[_REFUSED].append(f"{key}={','.join(texts)}")
    if default is not None:
        st.session_state.setdefault(key, default)


def keep(key: str, value: str) -> None:
    """Put something into the address that no widget shows."""
    st.session_state[_SHOWN][key] = None
    st.session_state[key] = value


def given(key: str) -> str:
    """Return a text of the address that no widget shows, or an empty text."""
    texts = _pending().pop(key, None)
    return texts[0] if texts else ""


def refused() -> list[str]:
    """Return the parts of the address that were not understood."""
    return list(st.session_state.get(_REFUSED, []))


def leave() -> None:
    """Write the address from what was shown; a value at its default is left out."""
    shown: Mapping[str, object] = st.session_state[_SHOWN]
    address = {
        key: texts
        for key, default in shown.items()
        if (value := st.session_state.get(key)) != default and (texts := _texts(value))
    }
    if address != {key: st.query_params.get_all(key) for key in st.query_params}:
        st.query_params.from_dict(address)


def text(texts: list[str]) -> str:
    """Read a text."""
    return texts[0]


def number(texts: list[str]) -> float:
    """Read a number."""
    return float(texts[0])


def whole(texts: list[str]) -> int:
    """Read a whole number."""
    return int(texts[0])


def switch(texts: list[str]) -> bool:
    """Read a switch."""
    if texts[0] not in {"true", "false"}:
        raise ValueError(texts[0])
    return texts[0] == "true"


def date(texts: list[str]) -> dt.date:
    """Read a date, YYYY-MM-DD."""
    return dt.date.fromisoformat(texts[0])


def _pending() -> dict[str, list[str]]:
    pending: dict[str, list[str]] = st.session_state.setdefault(_PENDING, {})
    return pending


def _texts(value: object) -> list[str]:
    if value is None or value == "":
        return []
    if isinstance(value, list | tuple):
        return [str(item) for item in value]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, float) and value.is_integer():
        return [str(int(value))]
    return [str(value)]

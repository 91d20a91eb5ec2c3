"""Numbers in large letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage_ui.presenters.plan import Figure, Headline

_ICONS: Final = {
    "success": ":material/check_circle:",
    "warning": ":material/warning:",
    "error": ":material/cancel:",
    "info": ":material/help:",
}
_COLOURS: Final = {"success": "green", "warning": "orange", "error": "red", "info": "blue"}


def show_headline(headline: Headline, *, key: str) -> None:
    """Show the verdict and its sentence."""
    with st.container(key=key):
        colour = _COLOURS[headline.tone]
        st.markdown(f"## :{colour}[{_ICONS[headline.tone]} {headline.title}]")
        if headline.summary:
            st.text(headline.summary)


def show_figures(figures: Sequence[Figure], *, key: str) -> None:
    """Show figures side by side; they stack on a phone."""
    with st.container(key=key):
        for column, figure in zip(st.columns(len(figures)), figures, strict=True):
            column.metric(figure.label, figure.value, help=figure.help, border=True, height="stretch")

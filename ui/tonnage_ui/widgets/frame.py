"""What stands beside every page: the language and the servers that answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import streamlit as st

from tonnage_ui import session
from tonnage_ui.widgets import fields, link
from tonnage_ui.words import LANGUAGES

if TYPE_CHECKING:
    from tonnage_ui.words import Words

_STYLE: Final = (
    ".stMainBlockContainer{padding-top:2.5rem}"
    "[data-testid=stMetricValue]{font-size:clamp(1.4rem,2.1vw,2.25rem)}"
    "[data-testid=stMetricLabel] p{white-space:normal}"
    "@media(max-width:640px){[data-testid=stColumn]:has([data-testid=stMetric]){min-width:calc(50% - 1rem)}}"
)
# On a dark page the primary colour is bright, and Streamlit writes white on it.
_ON_BRIGHT: Final = (
    "[data-testid=stBaseButton-primary],[data-testid=stBaseButton-primary] *,"
    "[data-testid=stMultiSelect] span:has(>span[title]) *{color:#0b1219}"
)
_LOGO: Final = str(Path(__file__).parents[1] / "assets" / "logo.svg")


def show_frame() -> None:
    """Show the sidebar under the list of pages."""
    with st.sidebar:
        read = fields.option_reader(list(LANGUAGES))
        link.restore(session.LANGUAGE_KEY, read, session.browser_language())
        st.segmented_control(
            "Language / 语言",
            list(LANGUAGES),
            required=True,
            format_func=LANGUAGES.__getitem__,
            key=session.LANGUAGE_KEY,
            persist_state="session",
        )
        words = session.words()
        st.caption(words("frame.planning", target=session.planning().target))
        st.caption(words("frame.ingest", target=session.ingest().target))


def show_style() -> None:
    """Show the name, take the wide blank strip off the top of a page, keep large figures from being cut."""
    st.logo(_LOGO, size="large")
    on_dark = _ON_BRIGHT if st.context.theme.type == "dark" else ""
    st.html(f"<style>{_STYLE}{on_dark}</style>")


def show_refused(words: Words) -> None:
    """Say which parts of the page's address were not understood."""
    parts = link.refused()
    if parts:
        st.warning(words("stale.refused", parts=", ".join(parts)), icon=":material/link_off:")

"""What stands beside every page: the language and the servers that answer."""

from __future__ import annotations

import streamlit as st
from tonnage_ui import session
from tonnage_ui.words import LANGUAGES


def show_frame() -> None:
    """Show the sidebar under the list of pages."""
    with st.sidebar:
        st.segmented_control(
            "Language / 语言",
            list(LANGUAGES),
            default=session.language(),
            required=True,
            format_func=LANGUAGES.__getitem__,
            key=session.LANGUAGE_KEY,
            bind="query-params",
        )
        words = session.words()
        st.caption(words("frame.planning", target=session.planning().target))
        st.caption(words("frame.ingest", target=session.ingest().target))

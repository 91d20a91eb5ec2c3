"""States other than an answer: an outage, an empty store, a result that is no longer what the form asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from tonnage_ui.presenters.fault import Fault
    from tonnage_ui.words import Words


def show_fault(fault: Fault, words: Words, *, key: str) -> None:
    """Show what went wrong and what to do; an outage gets a button that asks again."""
    with st.container(key=key):
        st.error(f"**{fault.title}**", icon=":material/error:")
        for label, problem in fault.fields:
            st.markdown(f"- **{label}**: {problem}")
        if not fault.fields:
            st.text(fault.message)
        st.markdown(fault.advice)
        if fault.request_id:
            st.caption(words("fault.request_id", request_id=fault.request_id))
        if fault.is_outage:
            st.button(words("fault.try_again"), key=f"{key}_again", icon=":material/refresh:")


def show_empty_store(words: Words) -> None:
    """Lead from an empty store to a first upload."""
    with st.container(border=True, key="empty_store"):
        st.subheader(words("empty.title"))
        st.markdown(words("empty.text"))
        st.page_link("app_pages/upload.py", label=words("empty.upload"), icon=":material/upload_file:")
        st.code("tonnage ingest RESULTS_FOLDER", language="shell")


def show_stale(message: str) -> None:
    """Say that the result below belongs to other inputs or older data."""
    with st.container(key="stale"):
        st.warning(message, icon=":material/history:")

"""What asks the same again: the request as JSON, the command line, grpcurl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tonnage_ui.messages import to_json
from tonnage_ui.presenters.reproduce import Call, grpcurl

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tonnage_ui.words import Words


def show_reproduce(request: Message, reply: Message, call: Call, words: Words, *, key: str) -> None:
    """Hand out everything that reproduces an answer."""
    with st.expander(words("reproduce.title"), icon=":material/terminal:", key=f"{key}_reproduce"):
        st.caption(words("reproduce.link"))
        tabs = st.tabs([words("reproduce.command"), "JSON", "grpcurl"], key=f"{key}_reproduce_tabs")
        with tabs[0]:
            st.code(call.command, language="shell", wrap_lines=True)
        with tabs[1]:
            st.code(to_json(request), language="json")
        with tabs[2]:
            st.code(grpcurl(call.method, request, call.target), language="shell", wrap_lines=True)
        with st.container(horizontal=True):
            st.download_button(
                words("reproduce.download_request"),
                to_json(request),
                f"{key}-request.json",
                "application/json",
                key=f"{key}_download_request",
                on_click="ignore",
            )
            st.download_button(
                words("reproduce.download_answer"),
                to_json(reply),
                f"{key}-answer.json",
                "application/json",
                key=f"{key}_download_answer",
                on_click="ignore",
            )

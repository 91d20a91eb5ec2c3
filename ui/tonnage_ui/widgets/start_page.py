"""The start page: the store's state, and the ways on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tonnage_ui import session
from tonnage_ui.presenters.fault import fault
from tonnage_ui.presenters.store import store_figures
from tonnage_ui.widgets.figures import show_figures
from tonnage_ui.widgets.states import show_empty_store, show_fault

if TYPE_CHECKING:
    from tonnage_ui.session import Stored
    from tonnage_ui.words import Words


def show_store(stored: Stored, words: Words) -> None:
    """Show what is stored, that nothing is, or that nobody answers."""
    if stored.error is not None:
        show_fault(fault(stored.error, session.planning().target, words), words, key="home_fault")
    elif stored.is_empty:
        show_empty_store(words)
    else:
        show_figures(
            store_figures(stored.configurations, stored.total_count, stored.data_version, words), key="home_store"
        )


def show_ways(words: Words) -> None:
    """Show each page with what it answers."""
    ways = (
        ("plan", ":material/calculate:"),
        ("vram", ":material/memory:"),
        ("benchmarks", ":material/show_chart:"),
        ("fleet", ":material/groups:"),
        ("explore", ":material/travel_explore:"),
        ("freshness", ":material/event_repeat:"),
        ("upload", ":material/upload_file:"),
    )
    for row in (ways[:3], ways[3:6], ways[6:]):
        for column, (name, icon) in zip(st.columns(3), row, strict=False):
            with column.container(border=True, key=f"way_{name}"):
                st.page_link(f"app_pages/{name}.py", label=f"**{words(f'page.{name}')}**", icon=icon)
                st.markdown(words(f"home.{name}"))

"""Benchmarks: what was measured, and its curves."""

import streamlit as st

from tonnage_ui import session
from tonnage_ui.widgets import benchmarks_page, start_page

words = session.words()
st.title(words("benchmarks.title"))
st.caption(words("benchmarks.lead"))
stored = session.stored()
if stored.error is not None or stored.is_empty:
    start_page.show_store(stored, words)
else:
    benchmarks_page.show_configurations(stored, words)
    chosen = benchmarks_page.pick(stored, words)
    if chosen is not None:
        benchmarks_page.show_explorer(chosen, stored, words)
        benchmarks_page.show_runs(chosen, words)

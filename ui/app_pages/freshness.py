"""Freshness: what was measured long ago, or not in every state."""

import streamlit as st

from tonnage_ui import session
from tonnage_ui.widgets import freshness_page

words = session.words()
st.title(words("freshness.title"))
st.caption(words("freshness.lead"))
stored = session.stored()
freshness_page.show_question(stored, words)
freshness_page.show_answer(words)

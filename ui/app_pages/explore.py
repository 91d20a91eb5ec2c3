"""Explore: how the answer moves when something is varied."""

import streamlit as st

from tonnage_ui import session
from tonnage_ui.widgets import explore_page
from tonnage_ui.widgets.plan_form import show_form

words = session.words()
st.title(words("explore.title"))
st.caption(words("explore.lead"))
left, right = st.columns([4, 7], gap="large")
with left:
    explore_page.show_axes(words)
    asked = st.button(words("explore.button"), type="primary", key="explore_button", width="stretch")
    show_form(words, session.stored())
with right:
    explore_page.show_answer(words, asked=asked)

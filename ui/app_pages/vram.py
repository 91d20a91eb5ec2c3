"""VRAM fit: does the model fit, and how many requests at once."""

import streamlit as st

from tonnage_ui import session
from tonnage_ui.widgets import vram_page
from tonnage_ui.widgets.vram_form import show_form

words = session.words()
st.title(words("vram.title"))
st.caption(words("vram.lead"))
left, right = st.columns([4, 7], gap="large")
with left:
    config_json = show_form(words)
with right:
    vram_page.show_answer(config_json, words)

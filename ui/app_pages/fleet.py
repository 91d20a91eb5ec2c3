"""Fleet: several tenants on the same accelerators."""

import streamlit as st

from tonnage_ui import session
from tonnage_ui.widgets import fleet_page

words = session.words()
st.title(words("fleet.title"))
st.caption(words("fleet.lead"))
stored = session.stored()
left, right = st.columns([4, 7], gap="large")
with left:
    fleet_page.show_form(stored, words)
with right:
    fleet_page.show_answer(words)

"""Start: what is stored, and where to go from here."""

import streamlit as st

from tonnage_ui import session
from tonnage_ui.widgets import start_page

words = session.words()
st.title(words("home.title"))
st.markdown(words("home.lead"))
start_page.show_store(session.stored(), words)
start_page.show_ways(words)

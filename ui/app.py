"""The front end: navigation, language, and where the servers are."""

import streamlit as st
from tonnage_ui import session
from tonnage_ui.widgets.frame import show_frame

st.set_page_config(page_title="Tonnage", page_icon=":material/scale:", layout="wide")
words = session.words()
page = st.navigation(
    [
        st.Page("pages/start.py", title=words("page.start"), icon=":material/home:", default=True),
        st.Page("pages/plan.py", title=words("page.plan"), icon=":material/calculate:"),
        st.Page("pages/vram.py", title=words("page.vram"), icon=":material/memory:"),
        st.Page("pages/benchmarks.py", title=words("page.benchmarks"), icon=":material/show_chart:"),
        st.Page("pages/upload.py", title=words("page.upload"), icon=":material/upload_file:"),
    ]
)
show_frame()
page.run()

"""The front end: navigation, language, and where the servers are."""

import streamlit as st

from tonnage_ui import session
from tonnage_ui.widgets import frame, link

st.set_page_config(page_title="Tonnage", page_icon=":material/scale:", layout="wide")
words = session.words()
# Not in a folder called "pages": Streamlit would run those by itself when a new server is first asked for a link.
page = st.navigation(
    [
        st.Page("app_pages/start.py", title=words("page.start"), icon=":material/home:", default=True),
        st.Page("app_pages/plan.py", title=words("page.plan"), icon=":material/calculate:"),
        st.Page("app_pages/vram.py", title=words("page.vram"), icon=":material/memory:"),
        st.Page("app_pages/benchmarks.py", title=words("page.benchmarks"), icon=":material/show_chart:"),
        st.Page("app_pages/fleet.py", title=words("page.fleet"), icon=":material/groups:"),
        st.Page("app_pages/explore.py", title=words("page.explore"), icon=":material/travel_explore:"),
        st.Page("app_pages/freshness.py", title=words("page.freshness"), icon=":material/event_repeat:"),
        st.Page("app_pages/upload.py", title=words("page.upload"), icon=":material/upload_file:"),
    ]
)
link.enter(page.url_path)
frame.show_style()
frame.show_frame()
page.run()
frame.show_refused(words)
link.leave()

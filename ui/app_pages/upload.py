"""Upload: from a load tool's file to stored runs."""

import streamlit as st

from tonnage_ui import session
from tonnage_ui.widgets import upload_page

words = session.words()
st.title(words("upload.title"))
st.caption(words("upload.lead"))
files = upload_page.pick_files(words)
if files:
    upload_page.show_labels(words)
    uploads = upload_page.uploads_of(files, words)
    upload_page.show_previews(uploads, words)
    upload_page.show_ingest(uploads, words)
upload_page.show_formats(words)

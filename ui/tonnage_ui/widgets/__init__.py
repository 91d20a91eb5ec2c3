"""Streamlit pieces the pages lay out."""

"""Replies turned into rows, labels and pictures; knows no Streamlit."""

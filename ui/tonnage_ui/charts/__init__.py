"""ECharts option dictionaries; knows no Streamlit and computes nothing a service should."""

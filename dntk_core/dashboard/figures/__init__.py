"""Results → plotly figures: pure functions, one file per page, no Streamlit, no colours of the theme."""

"""Results → plotly figures: pure functions, one file per page, no Streamlit, no colours of the theme."""

# Plotly uses pandas as soon as it is being loaded, also half loaded by a job in another thread: here it is loaded whole.
import pandas as pd  # noqa: F401

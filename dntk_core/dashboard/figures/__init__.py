"""Results → plotly figures: pure functions, one file per page, no Streamlit, no colours of the theme."""

# Plotly uses pandas as soon as a job in another thread begins to load it: loaded here, it is never half there.
import pandas as pd  # noqa: F401

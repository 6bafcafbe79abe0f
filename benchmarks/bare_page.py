"""A bare page that alternates between two ready-made sets of figures: what Streamlit and Plotly cost alone."""

import json
import os
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st


@st.cache_resource(max_entries=1)
def figures(which: str) -> list[list[go.Figure]]:
    """Both sets, as the benchmark saved them; `which` tells them from those saved before."""
    sets = json.loads(Path(os.environ["DNTK_BENCH_FIGURES"]).read_text())
    return [[go.Figure(figure, skip_invalid=True) for figure in figures] for figures in sets]


st.set_page_config(layout="wide")
position = st.sidebar.slider("Position", 0, 1000, 500)
for place, figure in enumerate(figures(st.query_params["set"])[position % 2]):
    st.plotly_chart(figure, key=f"figure_{place}")

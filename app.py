"""Home: the run, its progress, what it cost and saved."""

import streamlit as st

from dntk_core.dashboard.page import page

with page("Home") as here:
    st.write(here.run.key, here.view)

"""Home: the run, its progress, what it cost and saved."""

import streamlit as st

from dntk_core.base.errors import Vanished
from dntk_core.base.spec import RunSpec
from dntk_core.dashboard import computations, literal
from dntk_core.dashboard.home import cached_runs, new_run, summary
from dntk_core.dashboard.navigation import links
from dntk_core.dashboard.page import enter, frame, open_key, refuse
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.sections import ledger
from dntk_core.dashboard.sidebar import publish

with frame("Distilled neural tangent kernels") as navigation:
    link, spec, classes = {"run": open_key()}, RunSpec.default(), 0
    if computations.available(open_key()):
        here = enter()
        link, spec, classes = here.link, here.run.spec, len(here.run.class_names)
        publish(link)
        st.markdown(f"#### {literal.markdown(spec.summary)}")
        try:
            summary(here.run)
            for panel in ledger.panels(here):
                show(panel)
        except Vanished as error:
            st.error(str(error))
    else:
        refuse()
    links(navigation, link)
    computations.follow()
    with st.expander("Compute another run"):
        new_run(spec, classes)
    st.markdown("#### Runs in the cache")
    cached_runs(link)

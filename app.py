"""Home: what this is, one picture, where to begin; then what the run cost and saved, a new run, the cache."""

import streamlit as st
from starlette.middleware import Middleware

from dntk_core.base.errors import Vanished
from dntk_core.base.spec import RunSpec
from dntk_core.dashboard.asking.noting import fold
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import on_click
from dntk_core.dashboard.choices.sidebar import publish
from dntk_core.dashboard.computing import ahead, computations
from dntk_core.dashboard.drawing import frames, library
from dntk_core.dashboard.drawing.navigation import links
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.home import WHAT, cached_runs, new_run, steps, summary
from dntk_core.dashboard.page import enter, frame, name_run, open_key, refuse
from dntk_core.dashboard.sections import ledger, overview
from dntk_core.dashboard.server.ending import ends_when_told
from dntk_core.dashboard.server.gate import Gate


def home() -> None:
    """Draw the page."""
    with frame("Distilled neural tangent kernels") as navigation:
        st.markdown(WHAT)
        link, spec, classes = {"run": open_key()}, RunSpec.default(), 0
        there = computations.available(open_key())
        if there and ahead.ready(open_key()):
            here = enter()
            fold(here.run.key, "Home")
            link, spec, classes = here.link, here.run.spec, len(here.run.class_names)
            publish(link)
            name_run(here.run)
            try:
                picture, beside = st.columns([3, 2], gap="large")
                with picture:
                    for panel in overview.panels(here):
                        show(panel, on_click=on_click(lambda point: overview.pick_at(here, "overview", point)))
                with beside:
                    steps(link)
                opened(here)
                summary(here.run)
                for panel in ledger.panels(here):
                    show(panel, on_click=on_click(lambda point: ledger.pick_at(here, "ledger", point)))
            except Vanished as error:
                st.error(str(error))
        elif not there:
            refuse()
        links(navigation, link)
        computations.follow()
        with st.expander("Compute another run", key="new_run", on_change="rerun") as form:
            if form.open:
                new_run(spec, classes)
        st.markdown("#### Runs in the cache")
        cached_runs(link)


if __name__ == "__main__":
    home()
else:
    # What `streamlit run` serves: every request passes the gate before Streamlit sees it.
    routes = [frames.route(), library.route()]
    app = st.App(__file__, routes=routes, middleware=[Middleware(Gate)], lifespan=ends_when_told)

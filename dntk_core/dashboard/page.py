"""What every page shares: its frame, the open run, the sliders, errors as one sentence."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.dashboard import cached, computations, literal
from dntk_core.dashboard.choosing import ridge_button
from dntk_core.dashboard.controls import Limits
from dntk_core.dashboard.navigation import links
from dntk_core.dashboard.server import guard
from dntk_core.dashboard.sidebar import publish, sidebar, switch_run
from dntk_core.dashboard.view import View, link
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run

log = logging.getLogger(__name__)

_ICON = str(Path(__file__).with_name("icon.svg"))
_STYLE = """<style>
.stMainBlockContainer { padding: 1.6rem 2.2rem 2rem; }
.stSidebar [data-testid="stSidebarHeader"] { height: 1rem; margin: 0; }
.stSidebar .stElementContainer:has([data-testid="stPageLink"]) { margin: 0; }
.stSidebar [data-testid="stPageLink"] a { padding: 0 0.5rem; min-height: 1.5rem; line-height: 1.5rem; }
@media (max-width: 640px) { .stMainBlockContainer { padding: 2.6rem 0.8rem 2rem; } }
</style>"""


@dataclass(frozen=True)
class Page:
    """The open run, the object that answers its slider moves, what the sliders say, and the link to all this.

    A page with a choice of its own adds it to `link`; what stands there at its end goes into the address.
    """

    run: Run
    live: Live
    view: View
    link: dict[str, str]


@contextmanager
def page(title: str, uses: tuple[str, ...] = ()) -> Iterator[Page]:
    """Frame a page whose figures depend on the controls it `uses`; whatever fails is shown as one sentence."""
    with frame(title) as navigation:
        if not computations.available(open_key()):
            wait(navigation)
            st.stop()
        here = enter(uses)
        # Links from the last run stay on screen until they are drawn anew: after the figures, which matter more.
        first = st.session_state.get("page") != title
        st.session_state["page"] = title
        if first:
            links(navigation, here.link)
        try:
            yield here
        finally:
            if not first:
                links(navigation, here.link)
            publish(here.link)


def enter(uses: tuple[str, ...] = ()) -> Page:
    """Open the run and draw the sliders."""
    key = open_key()
    run = cached.run(key)
    live = cached.live(key)
    view = sidebar(limits(run), uses, {"ridge": lambda: ridge_button(live, key)})
    return Page(run, live, view, {"run": key, **link(view)})


def limits(run: Run) -> Limits:
    """What the sliders may say for a run."""
    return Limits(len(run.targets), run.class_names)


def wait(navigation) -> None:
    """Stand in for a page whose run is not ready: how its computation goes, or what else to do."""
    links(navigation, {"run": open_key()})
    if not refuse():
        computations.follow((open_key(),))


def refuse() -> bool:
    """Say what to do if the open run is neither there nor being computed."""
    key = open_key()
    if computations.jobs().get(key):
        return False
    st.warning(f"Run {literal.markdown(key[:20])} is not in this cache. Compute it on Home, or open the embedded run.")
    st.button("Open the embedded run", on_click=switch_run, args=(RunSpec.default().key,), type="primary")
    return True


@contextmanager
def frame(title: str) -> Iterator:
    """The guard, title, style and error handling; yields the place for the links to other pages."""
    st.set_page_config(page_title=f"{title} · DNTK", page_icon=_ICON, layout="wide")
    st.html(_STYLE)
    guard()
    navigation = st.sidebar.container(gap=None)
    st.header(title, anchor=False)
    try:
        yield navigation
    except DNTKError as error:
        st.error(literal.markdown(str(error)))
        st.stop()
    except Exception:
        # Streamlit's own stop and rerun signals are no Exception and pass.
        log.exception("page %s failed", title)
        st.error("This page could not be drawn. The server's log has the details; reload to try again.")
        st.stop()


def open_key() -> str:
    """The key of the run that is open: the link's, else the session's, else the embedded default's."""
    asked = st.query_params.get("run")
    if asked:
        st.session_state["run"] = asked
    return st.session_state.setdefault("run", RunSpec.default().key)

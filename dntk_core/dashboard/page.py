"""What every page shares: its frame, the open run, the sliders, errors as one sentence."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import streamlit as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.base.threads import one_blas_thread
from dntk_core.dashboard import cached
from dntk_core.dashboard.asking.noting import fold
from dntk_core.dashboard.choices.choosing import ridge_button
from dntk_core.dashboard.choices.controls import Limits
from dntk_core.dashboard.choices.picks import Pick, picked
from dntk_core.dashboard.choices.sidebar import publish, sidebar, switch_run
from dntk_core.dashboard.choices.stops import SCALES, Scale
from dntk_core.dashboard.choices.view import View, link, restore
from dntk_core.dashboard.computing import ahead, computations
from dntk_core.dashboard.drawing import frames, literal
from dntk_core.dashboard.drawing.navigation import links
from dntk_core.dashboard.drawing.panel import Panel, sent
from dntk_core.dashboard.server.settings import guard
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run

log = logging.getLogger(__name__)

_ICON = str(Path(__file__).with_name("icon.svg"))
_STYLE = """<style>
.stMainBlockContainer { padding: 1.6rem 2.2rem 2rem; }
.stSidebar [data-testid="stSidebarHeader"] { height: 1rem; margin: 0; }
.st-key-scrub { display: none; }
.dntk-ticks :has(> [data-testid="stSliderTickBar"])::after {
  content: ""; position: absolute; left: 0; right: 0; top: calc(50% + 4px); height: 4px; opacity: 0.4;
  pointer-events: none; background:
    repeating-linear-gradient(to right, currentColor 0 1px, transparent 1px calc((100% - 1px) / var(--steps)));
}
[class*="st-key-panel_"] { position: relative; }
[class*="st-key-panel_"] > :first-child { position: absolute; top: 0; right: 0; width: auto; z-index: 1; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 2.6rem 0.8rem 50vh; }
  /* The sliders come up from below and leave the figure in sight; links to other pages follow them. */
  .stSidebar[data-collapsed="false"] {
    position: fixed !important; z-index: 999990; top: auto !important; bottom: 0; left: 0;
    height: 44vh !important; width: 100vw !important; min-width: 100vw;
    border-top: 1px solid var(--st-border-color, #8A94A0); box-shadow: 0 -4px 16px rgba(0, 0, 0, 0.15);
  }
  [data-testid="stLayoutWrapper"]:has(> .st-key-navigation) { order: 9; }
  [data-testid="stButtonGroup"] > div { flex-wrap: wrap; height: auto; }
  /* It floats over what stands above a table; downloads have buttons of their own. */
  [data-testid="stElementToolbar"] { display: none; }
}
</style>"""


@dataclass(frozen=True)
class Page:
    """The open run, the object that answers its slider moves, what the sliders say, the link to all this, and what
    was clicked last.

    A page with a choice of its own adds it to `link`; what stands there at its end goes into the address.
    """

    run: Run
    live: Live
    view: View
    link: dict[str, str]
    picked: Pick | None = None


Found = TypeVar("Found", bound=Sequence[Panel])

# The controls that matter to a page: always the same, or by the run.
Uses = tuple[str, ...] | Callable[[Run], tuple[str, ...]]


@contextmanager
def page(title: str, uses: Uses = (), scales: Mapping[str, Scale] = SCALES) -> Iterator[Page]:
    """Frame a page whose figures depend on the controls it `uses`; whatever fails is shown as one sentence.

    scales: where sliders stop, if elsewhere than SCALES says
    """
    frames.mine().give_way()
    with frame(title) as navigation:
        if not computations.available(open_key()):
            wait(navigation)
            st.stop()
        if not ahead.ready(open_key()):
            links(navigation, {"run": open_key()})
            name_run(cached.run(open_key()))
            ahead.follow(open_key())
            st.stop()
        here = enter(uses, scales)
        name_run(here.run)
        fold(here.run.key, title)
        links(navigation, here.link)
        before = frames.mine().answer
        try:
            # It may draw the page anew: within reach of what is published.
            ahead.follow(here.run.key)
            yield here
        finally:
            publish(here.link)
        # A page that follows no slider, or not any more.
        if frames.mine().answer is before:
            frames.mine().answer = None


def enter(uses: Uses = (), scales: Mapping[str, Scale] = SCALES) -> Page:
    """Open the run and draw the sliders."""
    key = open_key()
    run = cached.run(key)
    if edited := run.edited_code:
        sentence = f"{', '.join(edited)} changed since this run was computed: it shows the network as it was."
        st.warning(literal.markdown(sentence), icon=":material/history:")
    live = cached.live(key)

    def stops(name: str, view: View) -> tuple[Sequence[float], str] | None:
        scale = {**SCALES, **scales}.get(name)
        found = scale and scale.stops(live, view)
        return (found, scale.says(live, view)) if scale and found else None

    view = sidebar(
        limits(run), uses(run) if callable(uses) else uses, {"ridge": lambda: ridge_button(live, key)}, stops
    )
    address = {"run": key, **link(view)}
    return Page(run, live, view, address, picked(address))


def follow(here: Page, panels: Callable[[Page], Found]) -> Found:
    """The panels of a page; while a slider moves, the browser asks for them at its new values (`drawing/frames.py`).

    panels: of the page as it would be there, in its view and its link
    """

    def answer(parameters: Mapping[str, str]) -> dict[str, bytes]:
        address = {**here.link, **parameters}
        view, refused = restore(address, limits(here.run))
        if refused:
            raise DNTKError(refused[0])
        return {panel.key: sent(panel) for panel in panels(replace(here, view=view, link=address))}

    frames.mine().answer = answer
    return panels(here)


def name_run(run: Run) -> None:
    """Say which run is open."""
    st.caption(f"Run: {literal.markdown(run.spec.summary)}")


def limits(run: Run) -> Limits:
    """What the sliders may say for a run."""
    chosen = run.exact_classes if run.spec.sketch.used else None
    return Limits(len(run.targets), run.class_names, chosen)


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
    navigation = st.sidebar.container(gap=None, key="navigation")
    st.header(title, anchor=False)
    try:
        with frames.awaited.by(frames.mine()), one_blas_thread:
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

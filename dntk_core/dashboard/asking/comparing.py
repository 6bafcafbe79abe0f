"""Compare: two runs, or two settings of one run."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dntk_core.dashboard import cached
from dntk_core.dashboard.asking import likeness
from dntk_core.dashboard.asking.errors import choose_errors
from dntk_core.dashboard.asking.noting import titled
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.mixing import current_distillation, current_mixing
from dntk_core.dashboard.choices.picks import pick, picked_side
from dntk_core.dashboard.choices.pins import differences, pin, pinned
from dntk_core.dashboard.choices.sidebar import apply
from dntk_core.dashboard.choices.tabs import tab
from dntk_core.dashboard.choices.view import link, restore
from dntk_core.dashboard.computing.probing import offer_probe, unprobed
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.metrics import METRICS, of, written
from dntk_core.dashboard.drawing.panel import Panel, show
from dntk_core.dashboard.figures.sides import share_axes
from dntk_core.dashboard.page import Page, limits
from dntk_core.dashboard.sections import PICKS, SLIDERS
from dntk_core.run.likeness import why_not
from dntk_core.run.notes import read_notes
from dntk_core.run.pipeline import runs

# Pixels of half a page at 1440.
HALF = 520
# The sliders that figures need beside those of the distilled set, whose scores are always shown.
MORE = {
    "Spectra": ("kernel", "epsilon"),
    "Containment": ("kernel", "epsilon", "rank"),
    "Gap coverage": ("kernel", "epsilon"),
    "Curves": ("rank",),
    "Error budget": ("kernel", "epsilon"),
    "Training": ("kernel", "epsilon"),
}


def choose_other(here: Page) -> Page | None:
    """Let a person choose the run to compare with; it is shown under the same view, as far as it allows."""
    found = [info for info in runs() if info.finished and info.key != here.run.key]
    names = {info.key: titled(info.spec.summary, read_notes(info.key)) for info in found}
    if not names:
        st.info("There is only one run in the cache. Compute another on Home, with another k or other inputs, say.")
        return None
    key = tab(here, "other", names, label="Compare with", draw=st.selectbox)
    run = cached.run(key)
    view, _ = restore(here.link, limits(run))
    return Page(run, cached.live(key), view, here.link)


def choose_sides(here: Page) -> tuple[Page, Page] | None:
    """What stands on either side: two runs under the same sliders, or two settings of one run."""
    found = limits(here.run)
    view = pinned(here.link, found)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        label = "Pin these settings as A" if view is None else "Pin anew"
        st.button(
            label, on_click=pin, args=(here.view,), icon=":material/push_pin:", help="Then tune B by the sliders."
        )
        if view is not None:
            st.button("Compare runs", on_click=pin, args=(None,))
            st.caption(f"From A to B: {literal.markdown(differences(view, here.view, found))}.", width="stretch")
            return Page(here.run, here.live, view, here.link), here
    other = choose_other(here)
    return other and (here, other)


def one_run(one: Page, other: Page) -> bool:
    """Whether two settings of one run are compared, A pinned and B by the sliders."""
    return one.run.key == other.run.key


def names(one: Page, other: Page) -> tuple[str, str]:
    """What each side is called."""
    if one_run(one, other):
        return "A, pinned", "B, by the sliders"
    return f"A: {one.run.spec.summary}", f"B: {other.run.spec.summary}"


def score_table(one: Page, other: Page) -> pd.DataFrame:
    """The scores of both distilled sets, their difference, and those of the full kernels."""
    sides = (one, other)
    found = [current_distillation(each.live, each.view).scores(each.live) for each in sides]
    sizes = [current_mixing(each.live, each.view).size for each in sides]
    inputs = [str(len(each.run.targets)) for each in sides]
    rows = [("Gradients s", *map(str, sizes), f"{sizes[1] - sizes[0]:+d}", *inputs)]
    for name, metric in METRICS.items():
        values = [of(distilled, name) for distilled, _ in found]
        counts = [len(each.live.problem.labels) for each in sides]
        texts = [written(metric, value, t) for value, t in zip(values, counts, strict=True)]
        change = values[1] - values[0]
        points = f"{100 * change:+.1f} points" if metric.share else f"{change:+.3g}"
        rows.append((metric.title, *texts, points, *(f"{of(full, name):{metric.format}}" for _, full in found)))
    return pd.DataFrame(rows, columns=["", "A", "B", "B − A", "A, full kernel", "B, full kernel"])


def show_likeness(one: Page, other: Page) -> None:
    """How alike the kernels of two runs are, or why that cannot be said."""
    if one_run(one, other):
        return
    if reason := why_not(one.run, other.run):
        st.info(literal.markdown(f"These two kernels cannot be compared entry by entry: {reason}."))
        return
    missing = unprobed(one.run, other.run)
    with st.spinner("Comparing kernels", show_time=True):
        panels = likeness.panels(one, other)
    for panel in panels:
        show(panel, on_click=partial(_look_at, one, panel.key))
    offer_probe(missing)
    st.code(f"python -m dntk_core compare-runs {one.run.key} {other.run.key}", language="bash")


def asking(here: Page, sides: tuple[Page, Page]) -> tuple[Page, Page]:
    """Both sides with what was clicked on the one where that was; elsewhere picked, it is the open run's, as it is."""
    own = "B" if one_run(*sides) else "A"
    of = picked_side(here.link, own)

    def side(name: str, each: Page) -> Page:
        # What is opened links to other pages: of its own run.
        there = {**here.link, "run": each.run.key, **link(each.view)}
        return replace(each, picked=here.picked if name == of else None, link=there)

    return side("A", sides[0]), side("B", sides[1])


def open_picked(sides: tuple[Page, Page]) -> None:
    """Open what was clicked, under the name of its side."""
    for side, each in zip("AB", sides, strict=True):
        opened(each, side)


def ask_errors(sides: tuple[Page, Page]) -> None:
    """Let a person open the inputs behind a score of either side."""
    for place, side, each in zip(st.columns(2, gap="medium"), "AB", sides, strict=True):
        with place:
            choose_errors(each.picked, of=side)


def clicked(sides: tuple[Page, Page], section: str, panel: Panel) -> Callable[[dict], None]:
    """What a click on a figure does: open on its side what it stands for, and set the sliders, unless it is pinned."""
    key, side = panel.key[:-2], panel.key[-1].upper()
    page = sides["AB".index(side)]

    def act(point: dict) -> None:
        if not (one_run(*sides) and side == "A"):
            apply(**SLIDERS[section](page, key, point))
        if found := PICKS[section](page, key, point):
            pick(found, side)

    return act


def _under(here: Page, one: Page, other: Page) -> tuple[Page, Page]:
    """Both sides at what the sliders say on `here`; what is pinned stays."""
    if one_run(one, other):
        return one, replace(other, view=here.view)
    return replace(one, view=here.view), replace(other, view=restore(link(here.view), limits(other.run))[0])


def paired(here: Page, panels: Callable[[Page], Sequence[Panel]], sides: tuple[Page, Page]) -> list[Panel]:
    """The panels of both sides by turns, each two with the same axes, at what the sliders say on `here`."""
    found = []
    for pair in zip(*map(panels, _under(here, *sides)), strict=False):
        share_axes(*(panel.figure for panel in pair))
        for side, panel in zip("AB", pair, strict=True):
            found.append(replace(panel, key=f"{panel.key}_{side.lower()}", title=f"{side} · {panel.title}"))
    return found


def _look_at(one: Page, panel: str, point: dict) -> None:
    """Look at the kernel that was clicked, and open what a point of it stands for."""
    kernel, found = likeness.asked_at(one, panel, point)
    apply(kernel=kernel)
    if found:
        pick(found, "A")


def show_pair(left: Panel, right: Panel, on_click: Callable[[Panel], Callable[[dict], None]]) -> None:
    """Two panels side by side, or above each other where they are too wide for that."""
    layouts: list[Any] = [panel.figure.layout for panel in (left, right)]
    wide = max(layout.meta["minWidth"] for layout in layouts) > HALF
    places = (st.container(), st.container()) if wide else st.columns(2, gap="medium")
    for place, panel in zip(places, (left, right), strict=True):
        with place:
            show(panel, on_click=on_click(panel))

"""What Grid search is asked: which numbers of clusters, and an objective that one setting answers."""

import streamlit as st

from dntk_core.dashboard.choices.kept import keep, recall
from dntk_core.dashboard.drawing.metrics import METRICS, is_share, words
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import grid

# The scores asked for first, by whether they are shares, and the number of gradients.
SHARE, ERROR, MOST = 0.98, 0.1, 20


def ask_clusters(here: Page) -> tuple[int, ...]:
    """Let a person choose the numbers of clusters to search; none means the first ones."""
    allowed, first = grid.allowed(here), list(grid.first_clusters(here))

    def read(text: str) -> list[int]:
        found = sorted({int(part) for part in text.split(" ")})
        if not set(found) <= set(allowed):
            raise ValueError(text)
        return found

    key = recall("clusters", read, first)
    st.session_state[key] = [H for H in st.session_state[key] if H in allowed] or first
    chosen = st.multiselect("Clusters H to search", allowed, key=key, max_selections=8, persist_state="session")
    keep(here.link, "clusters", " ".join(map(str, sorted(chosen))))
    return tuple(sorted(chosen))


def ask_objective(here: Page, metric: str) -> grid.Objective:
    """Let a person ask for the fewest gradients that reach a score, or for the best score of so many."""
    kinds = {"fewest": "Fewest gradients", "best": f"Best {words(METRICS[metric])}"}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        key = recall("objective", lambda text: text if text in kinds else "fewest", "fewest")
        kind = st.segmented_control(
            "Objective",
            list(kinds),
            format_func=lambda name: kinds[name],
            key=key,
            required=True,
            persist_state="session",
        )
        keep(here.link, "objective", kind or "fewest")
        if kind == "best":
            key = recall("most", int, MOST)
            most = st.number_input("with s at most", 1, None, key=key, persist_state="session")
            keep(here.link, "most", str(most))
            return grid.Objective(metric, most=int(most))
        share = is_share(METRICS[metric])
        name, first, unit = (f"least_{metric}", SHARE, 100.0) if share else (f"least_{metric}", ERROR, 1.0)
        key = recall(name, float, first * unit)
        label = f"with {words(METRICS[metric])} at {'least, in percent' if METRICS[metric].higher else 'most'}"
        step = 0.5 if share else 0.01
        wanted = st.number_input(label, 0.0, 100.0 if share else None, step=step, key=key, persist_state="session")
        keep(here.link, name, f"{wanted:g}")
        return grid.Objective(metric, wanted=float(wanted) / unit)

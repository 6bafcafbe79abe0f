"""Grid search: Algorithm 1 at every combination of H, τ_v and τ_g."""

import numpy as np

from dntk_core.dashboard.figures import grid as figures
from dntk_core.dashboard.metrics import FIRST, METRICS, of, words, written
from dntk_core.dashboard.mixing import READOUT
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel
from dntk_core.readout.grid import Grid

TITLE = "Grid search"
CLUSTERS = (5, 10, 15, 20)
TAU_V = tuple(np.linspace(0.5, 0.95, 10).round(3).tolist())
TAU_G = tuple(np.linspace(0.5, 1.0, 11).round(3).tolist())
HEATMAPS = (
    r"""
For each $H$, Algorithm 1 at every $(\tau_v,\tau_g)$, scored on the test inputs at the ridge, readout and gap
rule in the sidebar. A setting is **Pareto-optimal**, and boxed, if no other setting of any $H$ has at most its
$s$ and at least its score, and is better in one of them. The cross marks the sliders, if they stand on the grid.
"""
    + READOUT
)
COUNTS = r"""
$s=\sum_hr_h+|\mathcal G|-\mathrm{removed}$: local rows, gap rows, minus those that orthogonalisation drops. Within each
$\tau_v$, $\tau_g$ rises from left to right.
"""
FRONTIER = r"""
Every setting of the grid by its number of gradients $s$ and its score. The line joins the Pareto-optimal ones.
"""


def panels(here: Page, metric: str = FIRST) -> tuple[Panel, Panel, Panel]:
    """Heatmaps, frontier and counts."""
    view = here.view
    grid = search(here)
    stand = (view.H, view.tau_v, view.tau_g)
    best = grid.pareto(metric)
    return (
        Panel(
            "grid",
            figures.heatmaps(grid, metric, stand),
            f"{METRICS[metric].title} over thresholds",
            f"Each cell is a setting; the {int(best.sum())} boxed ones are beaten by none of the {best.size}. "
            "Click a cell to set the sliders.",
            HEATMAPS,
        ),
        Panel(
            "frontier",
            figures.frontier(grid, metric, stand),
            "Pareto frontier",
            "The line joins the settings that nothing smaller matches. Click a point to set the sliders.",
            FRONTIER,
        ),
        Panel(
            "counts",
            figures.counts(grid, metric),
            "Local and gap gradients",
            "How many gradients each setting makes, and of which kind; Pareto-optimal settings in full colour.",
            COUNTS,
        ),
    )


def clusters(here: Page) -> tuple[int, ...]:
    """The numbers of clusters to search: those of the paper that this run allows."""
    return tuple(h for h in CLUSTERS if h <= len(here.run.targets) // 2) or (1,)


def search(here: Page) -> Grid:
    """The grid at one ridge, rule and readout; moving H, τ_v or τ_g only moves the cross in it."""
    view = here.view
    return here.live.grid(clusters(here), TAU_V, TAU_G, view.ridge, view.rule, by=view.readout)


def best_settings(here: Page, metric: str) -> dict[str, dict]:
    """The Pareto-optimal settings in words and as sliders' values, smallest first; of equals, one."""
    grid = search(here)
    values, settings, seen, t = of(grid, metric), {}, set(), len(here.live.problem.labels)
    for cell in sorted(map(tuple, np.argwhere(grid.pareto(metric))), key=lambda cell: grid.s[cell]):
        if (grid.s[cell], values[cell]) in seen:
            continue
        seen.add((grid.s[cell], values[cell]))
        H, tau_v, tau_g = int(grid.H[cell[0]]), float(grid.tau_v[cell[1]]), float(grid.tau_g[cell[2]])
        score = f"{words(METRICS[metric])} {written(METRICS[metric], float(values[cell]), t)}"
        label = f"s = {grid.s[cell]}, {score}: H {H}, variance {tau_v:g}, gap {tau_g:g}"
        settings[label] = {"H": H, "tau_v": tau_v, "tau_g": tau_g}
    return settings


def setting(point: dict) -> dict | None:
    """The sliders' values at a clicked point; None where it is no setting."""
    data = point.get("customdata")
    if not data:
        return None
    return {"H": int(data[0]), "tau_v": float(data[1]), "tau_g": float(data[2])}


def calls(here: Page) -> tuple[str, ...]:
    """The call that gives these numbers."""
    view = here.view
    axes = ", ".join(str(list(axis)) for axis in (clusters(here), TAU_V, TAU_G))
    return (f'live.grid({axes}, ridge={view.ridge}, rule="{view.rule}", by="{view.readout}")',)

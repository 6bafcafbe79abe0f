"""Grid search: Algorithm 1 at every combination of H, τ_v and τ_g."""

from collections.abc import Sequence
from dataclasses import dataclass

from dntk_core.dashboard.choices.controls import CONTROLS
from dntk_core.dashboard.choices.mixing import READOUT
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing.metrics import FIRST, METRICS, of, words, written
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import grid as figures
from dntk_core.dashboard.page import Page, limits
from dntk_core.readout.grid import Grid

TITLE = "Grid search"
CLUSTERS = (5, 10, 15, 20)
# Dense where it matters: both thresholds act by what they leave, 1 - τ.
TAU_V = (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98)
TAU_G = (0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 1.0)
HEATMAPS = (
    r"""
For each $H$, Algorithm 1 at every $(\tau_v,\tau_g)$, scored on the test inputs at the ridge, readout, gap
rule and energy in the sidebar. A setting is **Pareto-optimal**, and boxed, if no other setting of any $H$ has at most
its $s$ and at least its score, and is better in one of them; of those alike in both, one is boxed. The cross marks the
sliders, if their $H$ is searched; the green box answers the objective.
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


Cell = tuple[int, int, int]


@dataclass(frozen=True)
class Objective:
    """What is asked of the grid: the fewest gradients that reach a score, or the best score of so many."""

    metric: str
    wanted: float | None = None
    most: int | None = None

    def answer(self, grid: Grid) -> Cell | None:
        """The setting that does it; None if none does."""
        if self.most is not None:
            return grid.best(self.metric, self.most)
        return None if self.wanted is None else grid.smallest(self.metric, self.wanted)


def panels(
    here: Page, metric: str = FIRST, clusters: Sequence[int] = (), objective: Objective | None = None
) -> tuple[Panel, Panel, Panel]:
    """Heatmaps, frontier and counts."""
    view, live = here.view, here.live
    grid = search(here, clusters)
    answer = objective and objective.answer(grid)
    mixing = live.local_global(view.H, view.tau_v, view.tau_g, view.rule, view.energy)
    reached = mixing.size, float(of(live.scores(mixing, view.ridge, view.readout), metric))
    return (
        Panel(
            "grid",
            figures.heatmaps(grid, metric, (view.H, view.tau_v, view.tau_g), answer),
            f"{METRICS[metric].title} over thresholds",
            f"Each cell is a setting; the {len(grid.frontier(metric))} boxed ones are beaten by none of the "
            f"{grid.s.size}.",
            HEATMAPS,
            "Click a cell for its setting, its scores and the inputs it loses.",
        ),
        Panel(
            "frontier",
            figures.frontier(grid, metric, reached, answer),
            "Pareto frontier",
            "The line joins the settings that nothing smaller matches.",
            FRONTIER,
            "Click a point to open its setting.",
        ),
        Panel(
            "counts",
            figures.counts(grid, metric),
            "Local and gap gradients",
            "How many gradients each setting makes, and of which kind; Pareto-optimal settings in full colour.",
            COUNTS,
        ),
    )


def allowed(here: Page) -> list[int]:
    """The numbers of clusters that a run allows."""
    found = limits(here.run)
    return [H for H in range(1, found.inputs + 1) if CONTROLS["H"].allows(H, found)]


def first_clusters(here: Page) -> tuple[int, ...]:
    """The numbers of clusters searched first: those of the paper that this run allows."""
    return tuple(h for h in CLUSTERS if h in allowed(here)) or (1,)


def search(here: Page, clusters: Sequence[int] = ()) -> Grid:
    """The grid at one ridge, rule, readout and energy; moving H, τ_v or τ_g only moves the cross in it."""
    view, H = here.view, clusters or first_clusters(here)
    return here.live.grid(H, TAU_V, TAU_G, view.ridge, view.rule, by=view.readout, energy=view.energy)


def best_settings(here: Page, metric: str, clusters: Sequence[int] = ()) -> dict[str, dict]:
    """The Pareto-optimal settings in words and as sliders' values, smallest first; of equals, one."""
    grid = search(here, clusters)
    return {in_words(here, grid, metric, cell): sliders(grid, cell) for cell in grid.frontier(metric)}


def in_words(here: Page, grid: Grid, metric: str, cell: Cell) -> str:
    """A setting with its size and score."""
    t, setting = len(here.live.problem.labels), sliders(grid, cell)
    score = f"{words(METRICS[metric])} {written(METRICS[metric], float(of(grid, metric)[cell]), t)}"
    made = f"s = {grid.s[cell]} ({grid.local[cell]} local + {grid.gap[cell]} gap)"
    return f"{made}, {score}: H = {setting['H']}, τ_v = {setting['tau_v']:g}, τ_g = {setting['tau_g']:g}"


def sliders(grid: Grid, cell: Cell) -> dict:
    """What the sliders say at a cell."""
    a, b, g = cell
    return {"H": int(grid.H[a]), "tau_v": float(grid.tau_v[b]), "tau_g": float(grid.tau_g[g])}


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The setting that a cell, a point or a bar stands for."""
    data = point.get("customdata")
    return Pick("setting", (str(int(data[0])), *(f"{tau:g}" for tau in data[1:3]))) if data else None


def calls(here: Page, clusters: Sequence[int] = ()) -> tuple[str, ...]:
    """The call that gives these numbers."""
    view = here.view
    axes = ", ".join(str(list(axis)) for axis in (clusters or first_clusters(here), TAU_V, TAU_G))
    how = f'ridge={view.ridge}, rule="{view.rule}", by="{view.readout}", energy="{view.energy}"'
    return (f"live.grid({axes}, {how})",)

"""Curves: scores and conditioning over size, rank and ridge; all methods side by side."""

from dataclasses import asdict

import numpy as np
import pandas as pd

from dntk_core.base.progress import Report, ignore
from dntk_core.dashboard.asking.errors import of_set
from dntk_core.dashboard.choices.controls import RIDGES
from dntk_core.dashboard.choices.mixing import READOUT, current_mixing, other_readout
from dntk_core.dashboard.choices.mixing import USES as USED
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing import reads
from dntk_core.dashboard.drawing.metrics import FIRST, METRICS, words, written
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.drawing.recipe import mixing_call
from dntk_core.dashboard.figures import curves as figures
from dntk_core.dashboard.page import Page
from dntk_core.distill import METHODS
from dntk_core.readout.comparison import MethodCurve
from dntk_core.readout.ridge import READOUTS

TITLE = "Curves"
VIEWS = {"size": "Size", "rank": "Rank", "ridge": "Ridge", "methods": "All methods"}
# The sliders that matter to each.
USES = {
    "size": USED,
    "rank": ("rank", "ridge"),
    "ridge": USED,
    "methods": ("method", "ridge", "readout"),
}
SEEDS, SIZES, RANKS = range(3), 24, 80
# A readout on s gradients solves an s × s system per class.
LARGEST = 4000
SCORES = r"""
**Accuracy** is against labels, **fidelity** the share of test inputs where kernel and network choose alike, **MSE** is
over logits. The band is the 95% interval of a share of so many test inputs (Wilson's). **Condition number** and
**smallest eigenvalue** are those of the matrix solved, $\lambda$ included, averaged over classes. The dashed line marks
where the sliders stand.
"""
DEFINITIONS = {
    "size": "The first $s$ gradients of the chosen method, in both readouts; the one chosen in the sidebar is solid.\n"
    + READOUT
    + SCORES,
    "rank": r"""
The best rank-$r$ approximation of every class kernel, $\alpha^c=U^{(r)}(\Sigma^{(r)}+\lambda I)^{-1}U^{(r)\top}y_c$.
"""
    + SCORES,
    "ridge": r"""
The ridge is given in units of the mean kernel diagonal, $\lambda=\mathrm{ridge}\cdot\mathrm{tr}(\bar K)/m$.
**Leave-one-out** is the full kernel's error on each kernel input when it is fitted to all others, in closed form: with
$G=(K^c+\lambda I)^{-1}$ the residual is $(Gy_c)_i/G_{ii}$. It needs no test data; the diamond is its least error, which
"Choose ridge" in the sidebar takes.
"""
    + SCORES,
}
CLICK = {
    "size": "Click a point to set Algorithm 1 to make about so many, and for the test inputs behind its score.",
    "rank": "Click a point to set the rank, and for the test inputs behind its score.",
    "ridge": "Click a point to set the ridge, and for the test inputs behind its score.",
}
METHODS_DEFINITION = (
    r"""
Each method makes at most $s$ rows $A$; all are solved with the same ridge and readout and scored on the same test
inputs. With $V$ an orthonormal basis of the distilled gradients and $\Phi$ centred, **variance covered** is
$\|\Phi VV^\top\|_F^2/\|\Phi\|_F^2$ and **reconstruction error** $\|\Phi-\Phi VV^\top\|_F^2/m$.
Bands are one standard deviation over three seeds; for the chosen method, the 95% interval of its share of test inputs.
Its dashed line is the other readout. Ridge-optimal looks at the network's outputs, all others only at gradients.
Local-global is set for each $s$ by the energy it captures: hover, or the table below, names the setting. With the
paper's own $H\in\{5,10,15,20\}$ it needs five gradients.
"""
    + READOUT
)


def panels(here: Page) -> tuple[Panel, ...]:
    """All views of the page."""
    return tuple(panel(here, over) for over in VIEWS)


def panel(here: Page, over: str, report: Report = ignore) -> Panel:
    """The curves over "size", "rank" or "ridge", or "methods" side by side."""
    if over == "methods":
        return methods_panel(here, report)
    live, view = here.live, here.view
    network = float(np.mean(live.problem.logits.argmax(axis=1) == live.problem.labels))
    mixing = current_mixing(live, view)
    m, t = len(here.run.targets), len(live.problem.labels)
    settings, left_out = (), None
    if over == "size":
        sizes, mark = sizes_of(view.method, m), mixing.size
        results = {
            READOUTS[by].title: live.size_curve(view.method, sizes, view.ridge, by=by)
            for by in (view.readout, other_readout(view))
        }
        settings = _settings(here, sizes)
    elif over == "rank":
        results, mark = {"rank-r kernels": live.rank_curve(spread(m, RANKS), view.ridge)}, view.rank
    else:
        results = {f"{view.method}, s = {mixing.size}": live.ridge_curve(mixing, RIDGES, view.readout)}
        results |= {f"all {m}": live.ridge_curve(None, RIDGES)}
        mark, left_out = view.ridge, live.leave_one_out(RIDGES)
    figure = figures.curve(results, over, mark, network, t, settings, left_out)
    first = next(iter(results.values()))
    read = (reads.over_ridge if over == "ridge" else reads.over_count)(first, figures.AXES[over], mark)
    return Panel(f"curve_{over}", figure, f"Over {figures.AXES[over]}", read, DEFINITIONS[over], CLICK[over])


def sliders_at(here: Page, panel: str, point: dict) -> dict:
    """What the sliders say at a point: its rank or ridge; for a size, Algorithm 1 set to make about so many."""
    over, x = panel.removeprefix("curve_"), float(point["x"])
    if over == "rank":
        return {"rank": round(x)}
    if over == "ridge":
        return {"ridge": nearest_ridge(x)}
    found = here.live.distil("local-global", max(1, _size_at(here, over, point)), here.view.ridge).setting
    chosen = {"method": point["series"]} if point.get("series") in METHODS else {}
    return chosen | (asdict(found) if found else {})


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The test inputs behind a score: of the set that made it, of all gradients, or of kernels of one rank."""
    over, view, series = panel.removeprefix("curve_"), here.view, str(point["series"])
    name, _, label = series.partition(", ")
    # Of what is no score, conditioning or coverage, the inputs where kernel and network disagree.
    metric = next((key for key, each in METRICS.items() if words(each) == name), FIRST)
    if name == figures.NETWORK:
        return Pick("errors", ("accuracy", "network"))
    if over == "methods":
        method = series.removesuffix(f", {figures.OTHER}")
        metric = dict(enumerate(METRICS)).get(_panel(point), FIRST)
        by = view.readout if method == series else other_readout(view)
        return of_set(metric, method, _size_at(here, over, point), by) if method in METHODS else None
    if over == "size":
        by = next((by for by, each in READOUTS.items() if label == each.title), view.readout)
        return of_set(metric, view.method, _size_at(here, over, point), by)
    if over == "rank":
        return Pick("errors", (metric, f"rank:{round(point['x'])}"))
    return Pick("errors", (metric, "full" if label.startswith("all ") else "distilled"))


def _panel(point: dict) -> int:
    """In which of a figure's panels a point lies, from 0."""
    return int(point["axis"][1:] or 1) - 1


def _size_at(here: Page, over: str, point: dict) -> int:
    """How many gradients a point stands for; the last panel of all methods counts by compression, m / s."""
    compressed = over == "methods" and _panel(point) == len(METRICS) + len(figures.SUBSPACE)
    return round(len(here.run.targets) / point["x"] if compressed else point["x"])


def nearest_ridge(value: float) -> float:
    """The ridge that the slider has next to a value."""
    return min(RIDGES, key=lambda ridge: abs(np.log(ridge / value)))


def _settings(here: Page, sizes: list[int]) -> tuple[str, ...]:
    """How Algorithm 1 was set at every size of the chosen method's curve; nothing for other methods."""
    if METHODS[here.view.method].nested:
        return ()
    made = here.live.of_sizes(here.view.method, sizes, here.view.ridge)
    found = tuple(made[size].description for size in sorted(made))
    return found if any(found) else ()


def methods_panel(here: Page, report: Report) -> Panel:
    """All methods over s and compression."""
    view = here.view
    curves = compared(here, view.readout, report=report)
    (other,) = compared(here, other_readout(view), (view.method,))
    return Panel(
        "methods",
        figures.comparison(curves, len(here.run.targets), view.method, other),
        "All methods",
        reads.of_methods(curves, view.method),
        METHODS_DEFINITION,
    )


def compared(
    here: Page, by: str, methods: tuple[str, ...] = tuple(METHODS), report: Report = ignore
) -> tuple[MethodCurve, ...]:
    """Methods over all sizes in one readout."""
    sizes = method_sizes(len(here.run.targets))
    return here.live.compare(sizes, here.view.ridge, SEEDS, methods, report, by)


def numbers(here: Page, metric: str, by: str, report: Report = ignore) -> pd.DataFrame:
    """A score of every method in one readout: a row each, a column per size."""
    t = len(here.live.problem.labels)
    rows = [
        {"method": curve.method} | {f"s = {s}": _cell(curve, i, metric, t) for i, s in enumerate(curve.sizes)}
        for curve in compared(here, by, report=report)
    ]
    return pd.DataFrame(rows)


def settings_table(here: Page) -> pd.DataFrame:
    """How Algorithm 1 was set wherever it made a row of the comparison."""
    rows = [
        {"method": curve.method, "s": int(s), "setting": setting}
        for curve in compared(here, here.view.readout)
        for s, setting in zip(curve.sizes, curve.settings, strict=True)
        if setting
    ]
    return pd.DataFrame(rows)


def _cell(curve: MethodCurve, i: int, metric: str, t: int) -> str:
    value = curve.mean(metric)[i]
    # One unit is enough: the whole table is to fit.
    return "–" if np.isnan(value) else written(METRICS[metric], value, t).replace("%)", ")")


def spread(m: int, count: int, first: int = 1) -> list[int]:
    """At most `count` sizes or ranks from `first` to m, evenly spread on a log axis."""
    return np.unique(np.geomspace(min(first, m), m, count).round().astype(int)).tolist()


def method_sizes(m: int) -> list[int]:
    """The sizes at which methods are compared; two is the least that local-global makes."""
    return [s for s in (2, 3, 5, 10, 20, 50, 100, 200) if s <= m // 2] or [m]


def sizes_of(method: str, m: int) -> list[int]:
    """Where a method is scored: one without a nested order is distilled anew for each size, so at few."""
    return spread(min(m, LARGEST), SIZES) if METHODS[method].nested else method_sizes(m)


def calls(here: Page, over: str) -> tuple[str, ...]:
    """The call that gives the numbers of a view."""
    view, m = here.view, len(here.run.targets)
    if over == "methods":
        return tuple(
            f'live.compare({method_sizes(m)}, ridge={view.ridge}, seeds={SEEDS}, by="{by}")' for by in READOUTS
        )
    if over == "rank":
        return (f"live.rank_curve({spread(m, RANKS)}, ridge={view.ridge})",)
    if over == "ridge":
        return (
            f'live.ridge_curve({mixing_call(here)}, {list(RIDGES)}, by="{view.readout}")',
            f"live.ridge_curve(None, {list(RIDGES)})",
            f"live.leave_one_out({list(RIDGES)})",
        )
    sizes = sizes_of(view.method, m)
    return tuple(f'live.size_curve("{view.method}", {sizes}, ridge={view.ridge}, by="{by}")' for by in READOUTS)


def command(here: Page, over: str) -> str:
    """The command for the comparison of methods; the other views have none of their own."""
    if over != "methods":
        return ""
    sizes = " ".join(map(str, method_sizes(len(here.run.targets))))
    run = f"python -m dntk_core compare --run {here.run.key} --ridge {here.view.ridge} --readout {here.view.readout}"
    return f"{run} --sizes {sizes} --seeds {len(SEEDS)}"

"""Curves: scores and conditioning over size, rank and ridge; all methods side by side."""

import numpy as np

from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.dashboard import cached
from dntk_core.dashboard.controls import RIDGES
from dntk_core.dashboard.figures import curves as figures
from dntk_core.dashboard.mixing import current_mixing
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel
from dntk_core.dashboard.recipe import mixing_call
from dntk_core.distill import METHODS
from dntk_core.readout.comparison import MethodCurve
from dntk_core.readout.curves import Curve
from dntk_core.run.live import Live

TITLE = "Curves"
VIEWS = {"size": "Size", "rank": "Rank", "ridge": "Ridge", "methods": "All methods"}
SEEDS, SIZES, RANKS = range(3), 24, 80
# A readout on s gradients solves an s × s system per class.
LARGEST = 4000
SCORES = r"""
**Accuracy** is against labels, **fidelity** the share of test inputs where kernel and network choose alike, **MSE** is
over logits. **Condition number** and **smallest eigenvalue** are those of the matrix solved, $\lambda$ included,
averaged over classes. The dashed line marks where the sliders stand.
"""
DEFINITIONS = {
    "size": "The readout on the first $s$ gradients of the chosen method: $AK^cA^\\top+\\lambda I$ with $s$ rows.\n"
    + SCORES,
    "rank": r"""
The best rank-$r$ approximation of every class kernel, $\alpha^c=U^{(r)}(\Sigma^{(r)}+\lambda I)^{-1}U^{(r)\top}y_c$.
"""
    + SCORES,
    "ridge": r"""
The ridge is given in units of the mean kernel diagonal, $\lambda=\mathrm{ridge}\cdot\mathrm{tr}(\bar K)/m$.
"""
    + SCORES,
}
METHODS_DEFINITION = r"""
Each method makes at most $s$ rows $A$; all are solved with the same ridge and scored on the same test inputs. With $V$
an orthonormal basis of the distilled gradients and $\Phi$ centred, **variance covered** is
$\|\Phi VV^\top\|_F^2/\|\Phi\|_F^2$ and **reconstruction error** $\|\Phi-\Phi VV^\top\|_F^2/m$.
Bands are one standard deviation over three seeds. Ridge-optimal looks at the network's outputs, all others only at
gradients.
"""
READS = {
    "size": "How soon a few gradients of the chosen method do the work of all, and what more of them do to the solve.",
    "rank": "How many directions of each class kernel the predictions need.",
    "ridge": "Too small a ridge leaves the solve ill-conditioned, too large a one flattens the fit.",
}


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
    m = len(here.run.targets)
    if over == "size":
        results, mark = (
            {view.method: live.size_curve(view.method, sizes_of(view.method, m), view.ridge, by=view.readout)},
            mixing.size,
        )
    elif over == "rank":
        results, mark = {"rank-r kernels": live.rank_curve(spread(m, RANKS), view.ridge)}, view.rank
    else:
        results = {f"all {m}": full_ridge_curve(live)}
        results |= {f"{view.method}, s = {mixing.size}": live.ridge_curve(mixing, RIDGES, view.readout)}
        mark = view.ridge
    title = f"Over {figures.AXES[over]}"
    return Panel(f"curve_{over}", figures.curve(results, over, mark, network), title, READS[over], DEFINITIONS[over])


def methods_panel(here: Page, report: Report) -> Panel:
    """All methods over s and compression."""
    curves = []
    for done, method in enumerate(METHODS):
        report(Progress("compare", done, len(METHODS), method))
        curves.append(method_curve(here.live, method, here.view.ridge))
    report(Progress("compare", len(METHODS), len(METHODS)))
    return Panel(
        "methods",
        figures.comparison(curves, len(here.run.targets), here.view.method),
        "All methods",
        "Who needs fewest gradients for the same score; the method chosen in the sidebar is drawn thick.",
        METHODS_DEFINITION,
    )


def spread(m: int, count: int, first: int = 1) -> list[int]:
    """At most `count` sizes or ranks from `first` to m, evenly spread on a log axis."""
    return np.unique(np.geomspace(min(first, m), m, count).round().astype(int)).tolist()


def method_sizes(m: int) -> list[int]:
    """The sizes at which methods are compared; two is the least that local-global makes."""
    return [s for s in (2, 3, 5, 10, 20, 50, 100, 200) if s <= m // 2] or [m]


def method_curve(live: Live, method: str, ridge: float) -> MethodCurve:
    """One method over all sizes; kept, since the slowest takes seconds."""
    sizes = method_sizes(len(live.problem.targets))
    return cached.derived(
        live, ("method curve", method, ridge), lambda: live.compare(sizes, ridge, SEEDS, (method,))[0]
    )


def full_ridge_curve(live: Live) -> Curve:
    """The full kernel over ridges, which no slider changes."""
    return cached.derived(live, ("full ridge curve",), lambda: live.ridge_curve(None, RIDGES))


def sizes_of(method: str, m: int) -> list[int]:
    """Where a method is scored: one without a nested order is distilled anew for each size, so at few."""
    return spread(min(m, LARGEST), SIZES) if METHODS[method].nested else method_sizes(m)


def calls(here: Page, over: str) -> tuple[str, ...]:
    """The call that gives the numbers of a view."""
    view, m = here.view, len(here.run.targets)
    if over == "methods":
        return (f"live.compare({method_sizes(m)}, ridge={view.ridge}, seeds={SEEDS})",)
    if over == "rank":
        return (f"live.rank_curve({spread(m, RANKS)}, ridge={view.ridge})",)
    if over == "ridge":
        return tuple(f"live.ridge_curve({each}, {list(RIDGES)})" for each in ("None", mixing_call(here)))
    return (f'live.size_curve("{view.method}", {sizes_of(view.method, m)}, ridge={view.ridge})',)


def command(here: Page, over: str) -> str:
    """The command for the comparison of methods; the other views have none of their own."""
    if over != "methods":
        return ""
    sizes = " ".join(map(str, method_sizes(len(here.run.targets))))
    run = f"python -m dntk_core compare --run {here.run.key} --ridge {here.view.ridge}"
    return f"{run} --sizes {sizes} --seeds {len(SEEDS)}"

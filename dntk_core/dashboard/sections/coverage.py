"""Gap coverage: property (B)."""

import numpy as np

from dntk_core.base.numbering import FIRST
from dntk_core.dashboard.asking.null_model import against, cut_short, wanted
from dntk_core.dashboard.choices.kernel import chosen_class, kernel_name
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import coverage as figures
from dntk_core.dashboard.figures.canvas import marked
from dntk_core.dashboard.page import Page

TITLE = "Gap coverage"
VIEWS = {"one": "One kernel", "every": "Every class"}
# The sliders that matter to each.
USES = {"one": ("kernel", "H", "epsilon", "energy", "tau_g", "rule"), "every": ("H", "epsilon", "energy", "tau_g")}
MEASURES = r"""
Two measures of what is missing, over $j\le r_g$:

- **Uncovered variance** $\sum_j\sigma_j(1-\|\Pi^{\mathrm{loc}}u_j\|^2)/\sum_j\sigma_j$ weighs directions by their
  variance. Over all directions,
  $\sum_j\sigma_j(1-\|\Pi^{\mathrm{loc}}u_j\|^2)=\sum_h\mathrm{tail}_h\le\varepsilon\,\mathrm{tr}K$, what truncation
  drops in each cluster, so that it can never exceed $\varepsilon/(1-\varepsilon)$, whatever the kernel. This holds
  where $\varepsilon$ cuts the energy of the gradients; a share of the kernel's energy $\sum\lambda^2$ drops more.
- **Mean misalignment** $\frac1{r_g}\sum_j(1-\frac1H\sum_h\|P_hu_j|_h\|^2/\|u_j|_h\|^2)$ counts all directions alike
  and has no such bound. The paper's 12–15% is most likely this, with ranks by the kernel's energy.
"""
DEFINITION = (
    r"""
**Property (B).** Local eigenspaces, truncated at $\varepsilon$ and lifted to all inputs, do not span the global ones:
for some $j\le r_g$, $\;\|\Pi^{\mathrm{loc}}u_j\|^2\le1-\delta$.

- *All clusters together:* $\|\Pi^{\mathrm{loc}}u_j\|^2=\sum_h\|P_h u_j|_h\|^2$; what is missing to 1 is uncovered.
- *Best and mean cluster:* over $h$, $\|P_h u_j|_h\|^2/\|u_j|_h\|^2$, how much of its own part of $u_j$ a cluster holds.
  A cluster in which $u_j$ has next to nothing may hold all of that, so the best one lies above all together: it
  says that one cluster has its part, not that the direction is covered.
- *Random clusters:* the inputs are dealt anew, five times, to clusters of the same sizes; the band runs from the
  least to the most that their mean cluster holds.
- *Gaps:* directions with $c_j<\tau_g$; rule "ratio" takes $c_j$ from the best cluster, "union" from all together.

Algorithm 1 uses $\varepsilon=1-\tau_v$: to see its gaps, set $\varepsilon$ so.
"""
    + MEASURES
)
EVERY = (
    r"""
The curves above, for each class kernel $K^c$ with its own clusters. Of more than 20 classes, the 20 least covered are
shown.
"""
    + MEASURES
)


def panels(here: Page) -> tuple[Panel, Panel]:
    """The chosen kernel in large, every class in small."""
    return chosen(here), every(here)


def chosen(here: Page, null: bool | None = None) -> Panel:
    """The chosen kernel; `null`: beside random clusters."""
    live, view, c = here.live, here.view, chosen_class(here.view)
    result = live.coverage(view.H, view.epsilon, c, view.energy)
    random = live.random_coverages(view.H, view.epsilon, c, view.energy) if wanted(here, null) else ()
    judged = result.maximum if view.rule == "ratio" else result.union
    shaded = against(result.uncovered, [each.uncovered for each in random])
    missed = against(result.misaligned, [each.misaligned for each in random])
    read = (
        f"Uncovered variance of the {kernel_name(here)} kernel: {result.uncovered:.1%}{shaded}{_bound(view)} "
        "Mean misalignment, all directions counted alike: "
        f"{result.misaligned:.1%}{missed} {int((judged < view.tau_g).sum())} of {len(judged)} directions fall below "
        f"the gap threshold.{cut_short(len(judged), result.bounds)}"
    )
    figure = figures.coverage(result, view.tau_g, view.rule, random)
    j = here.picked.place("direction", len(judged)) if here.picked else None
    if j is not None:
        figure = marked(figure, {"x0": j + 0.6, "x1": j + 1.4, "y0": 0, "y1": 1.04})
    return Panel("coverage", figure, "Coverage gap", read, DEFINITION)


def _bound(view: View) -> str:
    """What ε alone makes of the uncovered variance, where it does."""
    if view.energy != "gradients":
        return ""
    return f" ε alone keeps it below {view.epsilon / (1 - view.epsilon):.1%}."


def every(here: Page, null: bool | None = None) -> Panel:
    """Every class kernel, in small; `null`: beside random clusters."""
    live, view, names = here.live, here.view, here.run.class_names
    results = {name: live.coverage(view.H, view.epsilon, c, view.energy) for c, name in enumerate(names)}
    read = "The same curves for each class kernel: where the shade is deep, clusters alone would lose that class"
    if wanted(here, null):
        random = [live.random_coverages(view.H, view.epsilon, c, view.energy) for c in range(len(names))]
        draws = np.mean([[each.misaligned for each in drawn] for drawn in random], axis=0)
        mean = float(np.mean([each.misaligned for each in results.values()]))
        read += f". Mean misalignment, averaged over classes: {mean:.1%}{against(mean, draws.tolist())}"
    else:
        read += "."
    return Panel("coverage_classes", figures.coverage_multiples(results, view.tau_g), "Every class", read, EVERY)


def class_at(here: Page, point: dict) -> int:
    """The class whose small figure was clicked."""
    live, view, names = here.live, here.view, here.run.class_names
    results = {name: live.coverage(view.H, view.epsilon, c, view.energy) for c, name in enumerate(names)}
    shown = figures.least_covered(results)
    return names.index(shown[min(int(point["axis"][1:] or 1) - 1, len(shown) - 1)])


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The direction that a point stands for."""
    return Pick.of("direction", round(point["x"]) - FIRST)


def sliders_at(here: Page, panel: str, point: dict) -> dict:
    """The kernel of a small figure's class."""
    return {"kernel": class_at(here, point)} if panel == "coverage_classes" else {}


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give these numbers."""
    view = here.view
    settings = f"H={view.H}, epsilon={view.epsilon}, energy={view.energy!r}"
    each = f"[live.coverage({settings}, c=c) for c in range({len(here.run.class_names)})]"
    one = f"{settings}, c={chosen_class(view)}"
    return f"live.coverage({one})", f"live.random_coverages({one})", each

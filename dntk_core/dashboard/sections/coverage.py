"""Gap coverage: property (B)."""

from dntk_core.dashboard.figures import coverage as figures
from dntk_core.dashboard.kernel import chosen_class, kernel_name
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel

TITLE = "Gap coverage"
DEFINITION = r"""
**Property (B).** Local eigenspaces, truncated at $\varepsilon$ and lifted to all inputs, do not span the global ones:
for some $j\le r_g$, $\;\|\Pi^{\mathrm{loc}}u_j\|^2\le1-\delta$.

- *All clusters together:* $\|\Pi^{\mathrm{loc}}u_j\|^2=\sum_h\|P_h u_j|_h\|^2$; what is missing to 1 is uncovered.
- *Best and mean cluster:* over $h$, $\|P_h u_j|_h\|^2/\|u_j|_h\|^2$, how much of its own part of $u_j$ a cluster holds.
- *Gaps:* directions with $c_j<\tau_g$; rule "ratio" takes $c_j$ from the best cluster, "union" from all together.

Algorithm 1 uses $\varepsilon=1-\tau_v$: to see its gaps, set $\varepsilon$ so.
"""
EVERY = r"""
The curves above, for each class kernel $K^c$ with its own clusters. The title gives the share of global variance that
no cluster holds, $\sum_j\sigma_j(1-\|\Pi^{\mathrm{loc}}u_j\|^2)/\sum_j\sigma_j$ over $j\le r_g$. Of more than 20
classes, the 20 least covered are shown.
"""


def panels(here: Page) -> tuple[Panel, Panel]:
    """The chosen kernel in large, every class in small."""
    return chosen(here), every(here)


def chosen(here: Page) -> Panel:
    """The chosen kernel."""
    live, view = here.live, here.view
    result = live.coverage(view.H, view.epsilon, chosen_class(view))
    judged = result.maximum if view.rule == "ratio" else result.union
    read = (
        f"Shaded is what no cluster of the {kernel_name(here)} kernel holds: {result.uncovered:.1%} of its variance. "
        f"{int((judged < view.tau_g).sum())} of {len(judged)} directions fall below the gap threshold."
    )
    return Panel("coverage", figures.coverage(result, view.tau_g, view.rule), "Coverage gap", read, DEFINITION)


def every(here: Page) -> Panel:
    """Every class kernel, in small."""
    live, view = here.live, here.view
    results = {name: live.coverage(view.H, view.epsilon, c) for c, name in enumerate(here.run.class_names)}
    return Panel(
        "coverage_classes",
        figures.coverage_multiples(results, view.tau_g),
        "Every class",
        "The same curves for each class kernel: where the shade is deep, clusters alone would lose that class.",
        EVERY,
    )


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give these numbers."""
    view = here.view
    settings = f"H={view.H}, epsilon={view.epsilon}"
    each = f"[live.coverage({settings}, c=c) for c in range({len(here.run.class_names)})]"
    return (f"live.coverage({settings}, c={chosen_class(view)})", each)

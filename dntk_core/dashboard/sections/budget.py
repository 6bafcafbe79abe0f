"""Error budget: the terms of the paper's bounds."""

import numpy as np

from dntk_core.dashboard import cached
from dntk_core.dashboard.controls import RIDGES
from dntk_core.dashboard.figures import budget as figures
from dntk_core.dashboard.kernel import chosen_class, kernel_name
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel
from dntk_core.kernels.spectrum import parameter_redundancy
from dntk_core.readout.bounds import ASSUMPTIONS, ErrorBudget
from dntk_core.run.live import Live

TITLE = "Error budget"
DIMENSIONS = tuple(round(2**power) for power in np.arange(6, 16.5, 0.5))
RIDGE = rf"""
$$\mathbb E[(f-f_K)^2]^{{1/2}}\le\mathcal E_{{\mathrm{{approx}}}}+\mathcal E_{{\mathrm{{bias}}}}(\lambda)
+\mathcal E_{{\mathrm{{var}}}}(m,\lambda)$$

- $\mathcal E_{{\mathrm{{approx}}}}=\sqrt{{(1-R^2)\,\mathrm{{Var}}f}}$: 
  the network is not linear in its gradients.
  *{ASSUMPTIONS["approx"]}*
- $\mathcal E_{{\mathrm{{bias}}}}=\sqrt{{\sum_j(\lambda/(\mu_j+\lambda))^2\mu_j\beta_j^2}}$: the ridge shrinks the fit.
  *{ASSUMPTIONS["bias"]}*
- $\mathcal E_{{\mathrm{{var}}}}=\sqrt{{\sigma^2d(\lambda)/m}}$: $m$ inputs are few. *{ASSUMPTIONS["variance"]}*
"""
MEANINGS = """
| Term | What it is | What makes it small |
|---|---|---|
| **approximation** | the network is not linear in its gradients | a wide network, close to lazy training |
| **bias** | the ridge shrinks the fit | a small ridge, targets along the leading directions |
| **variance** | finitely many kernel inputs | more inputs, a fast spectrum: a small effective dimension |
| **truncation tail** | directions beyond the truncation rank | a fast spectrum, a small ε |
| **projection** | random projection of the gradients | a large k |
"""
DIMENSION = r"""
**Parameter redundancy.** If the projected kernel has truncation rank $r$ at $\delta=\varepsilon$, the parameters are
$(P/r,\varepsilon')$-redundant with

$$\varepsilon'\le\underbrace{\sqrt{\delta\,\lambda_{r+1}/\bar\lambda}}_{\text{truncation tail}}
+\underbrace{\sqrt{(1+d)/k}}_{\text{projection}},\qquad d=\mathrm{tr}(K)^2/\|K\|_F^2.$$

The first term is what rank $r$ leaves out, bounded as in the paper (the dotted line is that error itself); the second
is the expected relative error $\|\tilde K-K\|_F/\|K\|_F$ of a projection to $k$ dimensions. The diamond was measured
against exact kernels on a few inputs.
"""


def panels(here: Page) -> tuple[Panel, Panel]:
    """The budget over ridge, and over the projected dimension."""
    view, run = here.view, here.run
    c, name = chosen_class(view), kernel_name(here)
    over = budgets(here.live)
    at = over[RIDGES.index(view.ridge)]
    terms = {"approximation": at.approx, "bias": at.bias, "variance": at.variance}
    sizes = {term: float(values.mean() if c is None else values[c]) for term, values in terms.items()}
    largest = max(sizes, key=lambda term: sizes[term])
    whole = here.live.spectrum(c)
    redundancy = [parameter_redundancy(whole, run.parameters, k, view.epsilon) for k in DIMENSIONS]
    k = run.features.shape[2]
    own = parameter_redundancy(whole, run.parameters, k, view.epsilon)
    measured = run.projection_error.get("measured_mean_kernel" if c is None else "measured")
    return (
        Panel(
            "budget_ridge",
            figures.over_ridge(over, RIDGES, c, view.ridge),
            "Over the ridge",
            f"The stack should lie above the measured error. At this ridge {largest} is the largest term: "
            f"{sizes[largest]:.2g} of {sum(sizes.values()):.2g}.",
            RIDGE,
        ),
        Panel(
            "budget_dimension",
            figures.over_dimension(redundancy, DIMENSIONS, k, measured),
            "Over the projected dimension",
            f"At this run's k = {k:,}, rank {own.rank} leaves out at most {own.tail:.1%} of the {name} kernel and the "
            f"projection adds {own.jl:.1%}.",
            DIMENSION,
        ),
    )


def budgets(live: Live) -> tuple[ErrorBudget, ...]:
    """The budget at every ridge of the slider."""
    return cached.derived(live, ("budgets",), lambda: tuple(live.error_budget(ridge) for ridge in RIDGES))


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give these numbers."""
    view, c = here.view, chosen_class(here.view)
    return (
        f"live.error_budget({view.ridge})",
        f"parameter_redundancy(live.spectrum({c}), run.parameters, run.features.shape[2], {view.epsilon})",
    )

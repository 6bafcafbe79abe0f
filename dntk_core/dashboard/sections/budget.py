"""Error budget: the terms of the paper's bounds."""

import numpy as np

from dntk_core.dashboard.choices.controls import RIDGES
from dntk_core.dashboard.choices.kernel import chosen_class, kernel_name
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import budget as figures
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections.curves import nearest_ridge
from dntk_core.kernels.spectrum import parameter_redundancy
from dntk_core.readout.bounds import ASSUMPTIONS, Approximation, split_approximation

TITLE = "Error budget"
DIMENSIONS = tuple(round(2**power) for power in np.arange(6, 16.5, 0.5))
# Stars in them are no emphasis.
SAID = {term: literal.markdown(text) for term, text in ASSUMPTIONS.items()}
RIDGE = rf"""
$$\mathbb E[(f-f_K)^2]^{{1/2}}\le E_\mathrm{{approx}}+E_\mathrm{{bias}}(\lambda)+E_\mathrm{{var}}(m,\lambda)$$

- $E_\mathrm{{approx}}=\sqrt{{(1-R^2)\,\mathrm{{Var}}f}}$: what no ridge fit explains. *{SAID["approx"]}*
  It has two parts whose squares add up; their areas share its height in that proportion:
  **non-linearity**, the network is not linear in its gradients, and **projection**, the gradients are projected to $k$
  dimensions. *{SAID["projection"]}*
- $E_\mathrm{{bias}}=\sqrt{{\sum_j(\lambda/(\mu_j+\lambda))^2\mu_j\beta_j^2}}$: the ridge shrinks the fit.
  *{SAID["bias"]}*
- $E_\mathrm{{var}}=\sqrt{{\sigma^2d(\lambda)/m}}$: $m$ inputs are few. *{SAID["variance"]}*

No worst-case bound on the projection's part is shown: the paper's grows with $1/\lambda^2$ and at a ridge of
$10^{{-4}}$ says no more than "below $10^{{11}}$".
"""
MEANINGS = """
| Term | What it is | What makes it small |
|---|---|---|
| **non-linearity** | the network is not linear in its gradients | a wide network, close to lazy training |
| **projection** | random projection of the gradients | a large k |
| **bias** | the ridge shrinks the fit | a small ridge, targets along the leading directions |
| **variance** | finitely many kernel inputs | more inputs, a fast spectrum: a small effective dimension |
| **truncation tail** | directions beyond the truncation rank | a fast spectrum, a small ε |
"""
DIMENSION = r"""
**Parameter redundancy.** If the projected kernel has truncation rank $r$ at $\delta=\varepsilon$, the parameters are
$(P/r,\varepsilon')$-redundant with

$$\varepsilon'\le\sqrt{\delta\,\lambda_{r+1}/\bar\lambda}+\sqrt{(1+d)/k},\qquad d=\mathrm{tr}(K)^2/\|K\|_F^2.$$

The first term, the **truncation tail**, is what rank $r$ leaves out, bounded as in the paper (the dotted line is that
error itself); the second, the **projection**, is the expected relative error
$\|\tilde K-K\|_F/\|K\|_F$ of a projection to $k$ dimensions. The diamond was measured against exact kernels on a few
inputs.
"""


def panels(here: Page, parts: bool = True) -> tuple[Panel, Panel]:
    """The budget over ridge, and over the projected dimension; `parts`: of the approximation, which take seconds."""
    view, run = here.view, here.run
    c, name = chosen_class(view), kernel_name(here)
    over = tuple(here.live.error_budget(ridge) for ridge in RIDGES)
    at = over[RIDGES.index(view.ridge)]
    found = split(here) if parts else None
    terms = {"approximation": at.approx, "bias": at.bias, "variance": at.variance}
    sizes = {term: _of(values, c) for term, values in terms.items()}
    largest = max(sizes, key=lambda term: sizes[term])
    whole = here.live.spectrum(c)
    redundancy = [parameter_redundancy(whole, run.parameters, k, view.epsilon) for k in DIMENSIONS]
    k = run.k
    own = parameter_redundancy(whole, run.parameters, k, view.epsilon)
    measured = run.projection_error.get("measured_mean_kernel" if c is None else "measured")
    return (
        Panel(
            "budget_ridge",
            figures.over_ridge(over, RIDGES, c, view.ridge, found),
            "Over the ridge",
            f"The stack should lie above the measured error. At this ridge {largest} is the largest term: "
            f"{sizes[largest]:.2g} of {sum(sizes.values()):.2g}.{_parts(found, c)}",
            RIDGE,
            "Click a point to set the ridge.",
        ),
        Panel(
            "budget_dimension",
            figures.over_dimension(redundancy, DIMENSIONS, k, measured),
            "Over the projected dimension",
            f"At this run's k = {k:,}, rank {own.rank} leaves out at most {own.tail:.1%} of the {name} kernel and "
            + (
                "nothing is projected."
                if run.spec.projection.exact(run.parameters)
                else f"the projection adds {own.jl:.1%}."
            ),
            DIMENSION,
            "Click a point for a run of that k.",
        ),
    )


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The projected dimension of a point."""
    return Pick("dimension", (str(round(point["x"])),)) if panel == "budget_dimension" else None


def sliders_at(here: Page, panel: str, point: dict) -> dict:
    """The ridge of a point."""
    return {"ridge": nearest_ridge(float(point["x"]))} if panel == "budget_ridge" else {}


def split(here: Page) -> Approximation | None:
    """What the approximation is made of; None for exact kernels, which no projection has changed."""
    run, live = here.run, here.live
    if run.spec.projection.exact(run.parameters):
        return None
    test = run.test_features
    # It is measured at each class's best ridge, whatever the slider says.
    budget = live.error_budget(RIDGES[0])
    return live.remember(("split",), lambda: split_approximation(run.features, test, live.problem, budget))


def _of(values: np.ndarray, c: int | None) -> float:
    return float(values.mean() if c is None else values[c])


def _parts(found: Approximation | None, c: int | None) -> str:
    if found is None:
        return ""
    projection, nonlinear = _of(found.projection**2, c), _of(found.nonlinear**2, c)
    return (
        f" The approximation's squared error is {projection:.2g} from the projection and {nonlinear:.2g} from the "
        "network's own non-linearity."
    )


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give these numbers."""
    view, c = here.view, chosen_class(here.view)
    features = "run.features, run.test_features"
    return (
        f"live.error_budget({view.ridge})",
        f"split_approximation({features}, run.problem, live.error_budget({RIDGES[0]}))",
        f"parameter_redundancy(live.spectrum({c}), run.parameters, run.k, {view.epsilon})",
    )

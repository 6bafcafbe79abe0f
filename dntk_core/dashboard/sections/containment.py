"""Containment: property (A)."""

from collections.abc import Sequence

import numpy as np

from dntk_core.dashboard.asking.null_model import against, cut_short, wanted
from dntk_core.dashboard.choices.kernel import chosen_class, kernel_name
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import containment as figures
from dntk_core.dashboard.figures.canvas import marked
from dntk_core.dashboard.page import Page
from dntk_core.kernels.structure import Containment

TITLE = "Containment"
DEFINITION = r"""
**Property (A).** For cluster $h$ with local kernel $K_h=U_h\Sigma_hU_h^\top$ truncated at rank $r_h$, the share of its
variance inside the first $r$ global eigenvectors, restricted to the cluster and orthonormalised, is

$$\frac{\sum_{j\le r_h}[\Sigma_h]_{jj}\,\|\Pi^{\mathrm{glob}}_h u_h^j\|^2}{\sum_{j\le r_h}[\Sigma_h]_{jj}}.$$

**Not testable:** a cluster of $r$ inputs or fewer lies in any $r$ directions, whatever the clusters are: 100% is then
arithmetic. Grey is where this is so for every cluster; a red stroke below marks where it begins for each.
**Random clusters:** the inputs are dealt anew, five times, to clusters of the same sizes. The orange band runs from the
least to the most that their mean is. Only what lies above it is a finding about the clusters.

**Below:** cell $(h,j)$ is $(u_j|_h)^\top K_h\,(u_j|_h)\,/\,\mathrm{tr}\,K_h$, the variance of cluster $h$ along global
direction $j$. Both stop at the global truncation rank for $\varepsilon$, a share of the chosen energy.
"""


def panels(here: Page, null: bool | None = None) -> tuple[Panel]:
    """Containment curves above the directions that each cluster uses; `null`: beside random clusters."""
    view, c = here.view, chosen_class(here.view)
    result = here.live.containment(view.H, view.epsilon, c, view.energy)
    random = here.live.random_containments(view.H, view.epsilon, c, view.energy) if wanted(here, null) else ()
    at = min(view.rank, result.global_rank)
    read = f"{sentence(result, random, at, kernel_name(here))}{cut_short(result.global_rank, result.bounds)}"
    figure = figures.containment(result, view.rank, random)
    h = here.picked.place("cluster", len(result.sizes)) if here.picked else None
    if h is not None:
        ends = {"x0": 0.5, "x1": result.global_rank + 0.5, "y0": h - 0.5, "y1": h + 0.5}
        figure = marked(figure, ends | {"xref": "x2", "yref": "y2"})
    return (Panel("containment", figure, "Local variance in global directions", read, DEFINITION),)


def cluster_at(point: dict) -> int | None:
    """The cluster, from 0, that a row below the curves stands for."""
    name = point.get("y")
    return int(name.removeprefix("cluster ")) - 1 if isinstance(name, str) and name.startswith("cluster ") else None


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The cluster of a row."""
    h = cluster_at(point)
    return None if h is None else Pick.of("cluster", h)


def sliders_at(here: Page, panel: str, point: dict) -> dict:
    """The rank of a point on the curves."""
    return {"rank": int(point["x"])} if cluster_at(point) is None else {}


def sentence(result: Containment, random: Sequence[Containment], at: int, name: str) -> str:
    """What the clusters hold at a rank, beside random ones, and where that says nothing."""
    small, H = int(np.sum(~result.testable(at))), len(result.sizes)
    if small == H:
        return (
            f"Not testable here: no cluster of the {name} kernel has more than {at} inputs, so that any {at} "
            "directions hold all of it; choose a lower rank or fewer clusters."
        )
    mean, ends = result.mean[at - 1], (result.minimum[at - 1], result.maximum[at - 1])
    sentence = (
        f"At rank {at} the clusters of the {name} kernel hold {mean:.1%} of their variance in shared directions on "
        f"average ({100 * ends[0]:.1f}–{ends[1]:.1%})"
    )
    sentence += against(mean, [each.mean[at - 1] for each in random])
    if small:
        sentence += f" {small} of {H} clusters have at most {at} inputs and hold 100% by arithmetic: not testable here."
    return sentence


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give these numbers."""
    view = here.view
    settings = f"H={view.H}, epsilon={view.epsilon}, c={chosen_class(view)}, energy={view.energy!r}"
    return f"live.containment({settings})", f"live.random_containments({settings})"

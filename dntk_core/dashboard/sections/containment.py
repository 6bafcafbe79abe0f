"""Containment: property (A)."""

from dntk_core.dashboard.figures import containment as figures
from dntk_core.dashboard.kernel import chosen_class, kernel_name
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel

TITLE = "Containment"
DEFINITION = r"""
**Property (A).** For cluster $h$ with local kernel $K_h=U_h\Sigma_hU_h^\top$ truncated at rank $r_h$, the share of its
variance inside the first $r$ global eigenvectors, restricted to the cluster and orthonormalised, is

$$\frac{\sum_{j\le r_h}[\Sigma_h]_{jj}\,\|\Pi^{\mathrm{glob}}_h u_h^j\|^2}{\sum_{j\le r_h}[\Sigma_h]_{jj}}.$$

**Below:** cell $(h,j)$ is $(u_j|_h)^\top K_h\,(u_j|_h)\,/\,\mathrm{tr}\,K_h$, the variance of cluster $h$ along global
direction $j$. Both stop at the global truncation rank for $\varepsilon$.
"""


def panels(here: Page) -> tuple[Panel]:
    """Containment curves above the directions that each cluster uses."""
    view = here.view
    result = here.live.containment(view.H, view.epsilon, chosen_class(view))
    at = min(view.rank, result.global_rank)
    read = (
        f"At rank {at} the clusters of the {kernel_name(here)} kernel hold {result.minimum[at - 1]:.1%} to "
        f"{result.maximum[at - 1]:.1%} of their variance in shared directions; bright cells show which ones."
    )
    figure = figures.containment(result, view.rank)
    return (Panel("containment", figure, "Local variance in global directions", read, DEFINITION),)


def calls(here: Page) -> tuple[str, ...]:
    """The call that gives these numbers."""
    view = here.view
    return (f"live.containment(H={view.H}, epsilon={view.epsilon}, c={chosen_class(view)})",)

"""Spectra: how fast the class kernels decay, what that saves, and what the kernel looks like."""

from dntk_core.dashboard.figures import spectra as figures
from dntk_core.dashboard.kernel import chosen_class, kernel_name, mean_name
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel

TITLE = "Spectra"
DECAY = r"""
The class kernel $K^c=\Phi^c(\Phi^c)^\top$ is symmetric and positive semi-definite, so its singular values are its
eigenvalues $\lambda_1\ge\dots\ge\lambda_m$. The truncation rank is

$$r_{\mathrm{trunc}}(K,\varepsilon)=\min\Big\{r:\sum_{i\le r}\lambda_i\ge(1-\varepsilon)\sum_{i\le m}\lambda_i\Big\}.$$
"""
SUMMARY = r"""
The inputs are $(m/r,\varepsilon)$-data-redundant when $r=r_{\mathrm{trunc}}(K,\varepsilon)$: a set $m/r$ times
smaller keeps a share $1-\varepsilon$ of the variance. The effective dimension at ridge $\lambda$ is

$$d(\lambda)=\sum_j\frac{\lambda_j}{\lambda_j+\lambda},\qquad\lambda=\mathrm{ridge}\cdot\mathrm{tr}(\bar K)/m.$$

Of many inputs not all eigenvalues of $\bar K$ are computed. What needs more of them is given between bounds: the bar
ends at the lower one, the line beside it at the upper one.
"""
PICTURE = r"""
Cosines $K_{ij}/\sqrt{K_{ii}K_{jj}}$ between the gradients of inputs $i$ and $j$, sorted by spectral cluster of this
kernel: negative cosines are clipped to an affinity, its normalised Laplacian is embedded in $H$ dimensions, and k-means
cuts the embedding into $H$ clusters. White lines separate clusters. Above 140 inputs, a cell is the mean of a block.
"""


def panels(here: Page) -> tuple[Panel, Panel, Panel]:
    """Spectra, what is read off them, the kernel sorted by cluster."""
    live, view = here.live, here.view
    c, chosen = chosen_class(view), kernel_name(here)
    names = here.run.class_names
    values = {mean_name(names): live.spectrum()}
    values |= {name: each for name, each in zip(names, live.spectra(), strict=True)}
    return (
        Panel(
            "spectra",
            figures.spectra(values, view.epsilon, chosen),
            "Singular values",
            "Each line is one kernel: the faster it falls, the more redundancy. Diamonds: truncation ranks.",
            DECAY,
        ),
        Panel(
            "redundancy",
            figures.summary(values, view.epsilon, live.lam(view.ridge), chosen),
            "Rank, redundancy, effective dimension",
            "One row per kernel, in the colour of its line above: a short rank bar means much redundancy.",
            SUMMARY,
        ),
        Panel(
            "kernel",
            figures.kernel_picture(live.kernel(c), live.labels(view.H, c)),
            "Kernel, sorted by cluster",
            "Bright blocks on the diagonal are inputs with like gradients.",
            PICTURE,
        ),
    )


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give these numbers."""
    view, c = here.view, chosen_class(here.view)
    measures = f"each.rank({view.epsilon}), each.dimension(live.lam({view.ridge}))"
    return (f"[({measures}) for each in (live.spectrum(), *live.spectra())]", f"live.labels({view.H}, {c})")

"""Spectra: how fast the class kernels decay, what that saves, and what the kernel looks like."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.choices.kernel import chosen_class, kernel_name, mean_name
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import spectra as figures
from dntk_core.dashboard.figures.canvas import marked
from dntk_core.dashboard.page import Page
from dntk_core.kernels.spectrum import Spectrum

TITLE = "Spectra"
# λ in units of the mean kernel diagonal: the variance of an average input.
AVERAGE = 1.0
DECAY = r"""
The class kernel $K^c=\Phi^c(\Phi^c)^\top$ is symmetric and positive semi-definite, so its singular values are its
eigenvalues $\lambda_1\ge\dots\ge\lambda_m$. The truncation rank is

$$r_{\mathrm{trunc}}(K,\varepsilon)=\min\Big\{r:\sum_{i\le r}\lambda_i\ge(1-\varepsilon)\sum_{i\le m}\lambda_i\Big\}.$$

That is a share of the gradients' energy, $\|\Phi\|_F^2=\sum\lambda$. Squared singular values of $K$, as an SVD's
"explained variance" takes them, give a share of the kernel's energy, $\|K\|_F^2=\sum\lambda^2$, and far lower ranks.
"""
SUMMARY = r"""
The inputs are $(m/r,\varepsilon)$-data-redundant when $r=r_{\mathrm{trunc}}(K,\varepsilon)$: a set $m/r$ times
smaller keeps a share $1-\varepsilon$ of the variance. The effective dimension

$$d(\lambda)=\sum_j\frac{\lambda_j}{\lambda_j+\lambda}$$

counts the directions whose variance exceeds $\lambda$. It is taken at $\bar\lambda=\mathrm{tr}(\bar K)/m$, the variance
of an average input: at the small ridges of a readout nearly every direction counts, whatever the kernel.

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
    values = {mean_name(names): live.spectrum().by(view.energy)}
    chosen_spectra = zip(live.problem.kernels.chosen, live.spectra(), strict=True)
    values |= {names[c]: each.by(view.energy) for c, each in chosen_spectra}
    kernel, labels = live.kernel(c), live.labels(view.H, c)
    own = values[chosen]
    return (
        Panel(
            "spectra",
            figures.spectra(values, view.epsilon, chosen),
            "Singular values",
            decay(own, view.epsilon, chosen),
            DECAY,
        ),
        Panel(
            "redundancy",
            figures.summary(values, view.epsilon, live.lam(AVERAGE), chosen),
            "Rank, redundancy, effective dimension",
            redundancy(values, view.epsilon),
            SUMMARY,
        ),
        Panel(
            "kernel",
            _framed(here, figures.kernel_picture(kernel, labels)),
            "Kernel, sorted by cluster",
            clustered(*figures.alike(kernel, labels)),
            PICTURE,
            "Click a block to open its inputs.",
        ),
    )


def decay(spectrum: Spectrum, epsilon: float, name: str) -> str:
    """How many directions hold most of a kernel, and what that means for distillation."""
    rank, m = spectrum.rank(epsilon), spectrum.m
    shared = m / rank.high
    if shared >= 5:
        means = f"about {shared:.0f} inputs share one direction, much redundancy"
    elif shared >= 2:
        means = f"about {shared:.1f} inputs share one direction, some redundancy"
    else:
        means = f"the spectrum is slow, and fewer than {rank:,.0f} gradients will lose some of it"
    variance = "variance" if spectrum.energy == "gradients" else "energy (λ²)"
    return (
        f"{rank:,.0f} of {m:,} directions hold {100 * (1 - epsilon):.3g}% of the {name} kernel's {variance}: {means}."
    )


def redundancy(found: Mapping[str, Spectrum], epsilon: float) -> str:
    """Which kernels are most and least redundant."""
    times = {name: each.m / each.rank(epsilon).high for name, each in list(found.items())[1:]}
    most, least = max(times, key=lambda name: times[name]), min(times, key=lambda name: times[name])
    if times[most] < 1.1 * times[least]:
        return f"All classes are about equally redundant: one direction stands for {times[least]:.1f} inputs."
    return (
        f"Class {most} is the most redundant, {times[most]:.1f} inputs to a direction, class {least} the least with "
        f"{times[least]:.1f}: a short rank bar means much redundancy."
    )


def clustered(within: float, between: float) -> str:
    """Whether gradients fall into groups."""
    if within - between < 0.1:
        means = "the clusters hardly differ, and local eigenvectors have little to gain"
    else:
        means = "gradients fall into groups, which local eigenvectors can use"
    return f"Inputs of one cluster have a cosine of {within:.2f} on average, of two clusters {between:.2f}: {means}."


def kernel_at(here: Page, point: dict) -> str | int | None:
    """The kernel that a line, a mark or a bar stands for, as the sidebar has it."""
    names = [literal.plotly(name) for name in here.run.class_names]
    custom = (point.get("customdata") or [None])[0]
    for name in (point.get("series"), point.get("y"), custom):
        if name in names:
            return names.index(name)
        if name == mean_name(here.run.class_names):
            return "mean"
    return None


def sliders_at(here: Page, panel: str, point: dict) -> dict:
    """The kernel that a line, a mark or a bar stands for, to be looked at."""
    kernel = None if panel == "kernel" else kernel_at(here, point)
    return {} if kernel is None else {"kernel": kernel}


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """What a cell of the kernel stands for: a cluster on the diagonal, else two inputs."""
    if panel != "kernel":
        return None
    labels = here.live.labels(here.view.H, chosen_class(here.view))
    order = np.argsort(labels, kind="stable")
    i, j = (int(order[min(max(round(point[axis]), 0), len(order) - 1)]) for axis in ("y", "x"))
    return Pick.of("cluster", int(labels[i])) if labels[i] == labels[j] else Pick.of("pair", i, j)


def _framed(here: Page, drawn: go.Figure) -> go.Figure:
    """The picture of the kernel with the cluster, or the pair of inputs, that was clicked."""
    labels, found = here.live.labels(here.view.H, chosen_class(here.view)), here.picked
    if found is None:
        return drawn
    order = np.argsort(labels, kind="stable")
    if (h := found.place("cluster", here.view.H)) is not None:
        inside = np.flatnonzero(labels[order] == h)
        start, stop = float(inside[0]) - 0.5, float(inside[-1]) + 0.5
        return marked(drawn, {"x0": start, "x1": stop, "y0": start, "y1": stop})
    ends = [Pick("pair", (part,)).place("pair", len(order)) for part in found.parts[:2] if found.kind == "pair"]
    if len(ends) == 2 and None not in ends:
        y, x = (float(np.flatnonzero(order == end)[0]) for end in ends)
        near = len(order) / 60
        return marked(drawn, {"x0": x - near, "x1": x + near, "y0": y - near, "y1": y + near})
    return drawn


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give these numbers."""
    view, c = here.view, chosen_class(here.view)
    measures = f"each.by({view.energy!r}).rank({view.epsilon}), each.dimension(live.lam({AVERAGE}))"
    return (f"[({measures}) for each in (live.spectrum(), *live.spectra())]", f"live.labels({view.H}, {c})")

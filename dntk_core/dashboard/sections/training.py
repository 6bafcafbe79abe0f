"""Training: when did the kernel settle, and is the network its own tangent?"""

from collections.abc import Sequence

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.dashboard import cached
from dntk_core.dashboard.choices.kernel import chosen_class, kernel_name
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import training as figures
from dntk_core.dashboard.figures.spectra import alike, kernel_picture
from dntk_core.dashboard.page import Page
from dntk_core.run.progression import Progression
from dntk_core.run.series import Series, all_series, default_series, epochs_of, trained_series

TITLE = "Training"
UNIT = "epoch"
OVER = r"""
Of the chosen kernel at every checkpoint: **gradient norm** $\mathrm{tr}K/m$; **effective dimension**
$d(\lambda)=\sum_j\lambda_j/(\lambda_j+\lambda)$ at $\lambda=\mathrm{tr}K/m$ and the **truncation rank** at
$\varepsilon$; **alignment** $\langle HKH,yy^\top\rangle/(\|HKH\|_F\|Hy\|^2)$ of class kernels with labels and with
the network's own outputs (of the mean kernel: the mean over classes); **readouts** of the full kernel at the ridge of
the sidebar, fitted to its own network's outputs or to the final network's; **CKA** to the first, the previous and the
last kernel, $\langle HKH,HLH\rangle/(\|HKH\|_F\|HLH\|_F)$; **velocity**, $1-\mathrm{CKA}$ to the checkpoint before,
per epoch.
"""
PAIRS = r"""
**CKA** of the kernels at two checkpoints: 1 if they are equal up to scale. A projection adds its own noise to both
kernels and would make them look too much alike or too little; each is therefore estimated from two halves of its
projected features, and only products of different halves are taken. **Angles**: the mean principal angle between the
ten leading directions, as a share of a right angle, subtracted from 1: 1 means the same subspace.
"""
TANGENT = r"""
The tangent at a checkpoint $\theta_0$ predicts $f(\theta_0)+\langle\varphi(\theta_0),\theta-\theta_0\rangle$ for the
network at $\theta$, by one forward-mode product, no Jacobian kept. **Error** is
$\|f_{\mathrm{lin}}-f(\theta)\|/\|f(\theta)-f(\theta_0)\|$ over test inputs and logits: 0 for a network that trains
lazily, 1 and more where the tangent predicts nothing. Running statistics of batch norms are no parameters, and no
gradient moves them: the tangent keeps those of $\theta_0$, as the kernel at $\theta_0$ does, and misses all that they
do meanwhile; at initialisation they are not even those of any data. **Error, statistics following** leaves them out:
batch norms take the statistics of the test inputs themselves, in tangent and networks alike, and these follow the
parameters. It says whether training was lazy.
"""
DECAY = r"""
Eigenvalues of the chosen kernel at every checkpoint, on the same inputs; later checkpoints are darker, the one that
the slider shows is in front.
"""
CLICK = "Click a block to open its inputs."
PICTURE = r"""
Cosines $K_{ij}/\sqrt{K_{ii}K_{jj}}$ between gradients at the checkpoint that the slider shows, inputs sorted by the
clusters of the *last* kernel, so that the groups can be seen to form. Above 140 inputs, a cell is the mean of a
block.
"""


def offered(here: Page) -> Series | None:
    """The series that can be computed for the open run; None where its training is not known."""
    spec = here.run.spec
    if spec.key == RunSpec.default().key:
        return default_series()
    given = spec.model.weights or spec.from_python or spec.distilled or spec.model.own or spec.data.own
    if given or spec.model.epochs < 2 or spec.model.at >= 0:
        return None
    try:
        return trained_series(spec, epochs_of(spec))
    except DNTKError:
        # Its files are gone, or no longer what they were.
        return None


def known(here: Page) -> list[Series]:
    """The finished series of the open run's network."""
    network = here.run.spec.stage_key("model")
    own = [each for each in all_series() if network in {spec.stage_key("model") for spec in each.specs}]
    return [each for each in own if cached.progression(each.key) is not None]


def panels(here: Page) -> tuple[Panel, ...]:
    """The figures of the run's newest series at its last checkpoint; none if it has no series."""
    found = known(here)
    opened = cached.progression(found[0].key) if found else None
    return () if opened is None else at_checkpoint(here, opened, len(opened.runs) - 1)


def chosen(here: Page, found: Progression) -> tuple[Panel, ...]:
    """The figures of a series at the checkpoint that the link names."""
    return at_checkpoint(here, found, found.series.labels.index(here.link["checkpoint"]))


def at_checkpoint(here: Page, found: Progression, at: int) -> tuple[Panel, ...]:
    """Numbers over training, matrices, tangents, spectra, the kernel at one checkpoint."""
    return (
        over(here, found, at),
        pairs(here, found, at),
        tangent(found, at),
        decay(here, found, at),
        picture(here, found, at),
    )


def over(here: Page, found: Progression, at: int) -> Panel:
    """Everything that is one number per checkpoint."""
    view, c, x = here.view, chosen_class(here.view), found.times
    similar, fits, aligned = found.cka(c), found.fits(view.ridge), found.alignment(c)
    measures = {
        "Gradient norm": [("gradient norm", x, found.traces(c))],
        "Directions": [
            ("effective dimension", x, found.dimensions(c)),
            (f"rank at ε = {view.epsilon:g}", x, found.ranks(c, view.epsilon)),
        ],
        "Alignment": [("with labels", x, aligned[1]), ("with own outputs", x, aligned[0])],
        "Readouts": [
            ("network", x, fits.network),
            ("kernel", x, fits.accuracy),
            ("fidelity, own", x, fits.own),
            ("to the final", x, fits.final),
        ],
        "CKA": [
            ("to the first", x, similar[0]),
            ("the previous", x[1:], np.diag(similar, 1)),
            ("the last", x, similar[-1]),
        ],
        "Velocity": [("velocity", (x[1:] + x[:-1]) / 2, found.velocity(c))],
    }
    formats = dict.fromkeys(measures, ".3g") | {"Readouts": ".1%"}
    drawn = figures.over_time(measures, formats, float(x[at]), UNIT, log=("Gradient norm", "Velocity"))
    return Panel("training_over", drawn, "Over training", settled(found, c), OVER)


def settled(found: Progression, c: int | None) -> str:
    """When the kernel settled, and whether it turned towards the labels meanwhile."""
    similar, speed, labels = found.cka(c)[-1], found.velocity(c), found.alignment(c)[1]
    after = next(t for t in range(len(similar)) if np.all(similar[t:] >= 0.9))
    turned = "rises" if labels[-1] > labels[0] else "falls"
    slower = "slower" if speed[-1] < speed[0] else "faster"
    ends = f"; at the end it turns {slower} than at the start ({speed[-1]:.3g} against {speed[0]:.3g} per epoch)"
    return (
        f"From {found.series.labels[after]} on the kernel has a CKA of 0.9 or more with the last. Its alignment with "
        f"labels {turned} from {labels[0]:.2f} to {labels[-1]:.2f}{ends if len(speed) > 1 else ''}."
    )


def pairs(here: Page, found: Progression, at: int) -> Panel:
    """Checkpoints against each other."""
    c = chosen_class(here.view)
    angles = 1 - found.across.likeness.angles[-1 if c is None else c].mean(axis=-1) / 90
    drawn = figures.matrices(
        {"CKA": found.cka(c), "Leading directions": angles}, found.series.labels, at, ("checkpoint", "other checkpoint")
    )
    first = found.cka(c)[0, -1]
    read = f"The first and the last kernel ({kernel_name(here)}) have a CKA of {first:.2f}; {found.across.trust}."
    return Panel("training_pairs", drawn, "Checkpoints against each other", read, PAIRS)


def tangent(found: Progression, at: int) -> Panel:
    """Tangents at the first, the last and the chosen checkpoint."""
    labels, T = found.series.labels, len(found.runs)
    across, shown = found.across, dict.fromkeys((0, T - 1, at))
    still = np.array_equal(across.linear_error, across.following_error)
    measures = {"Error": across.linear_error, "Error, statistics following": across.following_error}
    measures = {"Error": across.linear_error} if still else measures
    measures |= {"Chosen alike": across.linear_agreement}
    lines = {title: {f"tangent at {labels[t]}": rows[t] for t in shown} for title, rows in measures.items()}
    drawn = figures.tangents(found.times, lines, ("Chosen alike",), UNIT)
    forward, following = across.linear_error[0, -1], across.following_error[0, -1]
    also = "" if still else f" ({forward:.2f} with the running statistics of {labels[0]})"
    means = "it trained nearly lazily" if following < 0.2 else "it learnt features that this tangent does not know"
    read = (
        f"The tangent at {labels[0]} is off by {following:.2f} of the way to the last network{also}: {means}. From the "
        f"last network one can walk {walk(across.following_error[-1], labels)} before the tangent is off by half."
    )
    return Panel("training_tangent", drawn, "Is the network its own tangent?", read, TANGENT)


def checkpoint_at(found: Progression, point: dict) -> str:
    """The checkpoint that a point stands for: by its line, its row or its time."""
    labels = {literal.plotly(label): label for label in found.series.labels}
    if str(point["series"]) in labels:
        return labels[str(point["series"])]
    if str(point["y"]) in labels:
        return labels[str(point["y"])]
    return found.series.labels[int(np.argmin(np.abs(found.times - float(point["x"]))))]


def walk(errors: np.ndarray, labels: Sequence[str]) -> str:
    """How far back the last tangent, with errors (T,), is off by less than half, checkpoint after checkpoint."""
    reached = len(errors) - 1
    while reached > 0 and errors[reached - 1] < 0.5:
        reached -= 1
    return f"back to {labels[reached]}" if reached < len(errors) - 1 else "to no earlier checkpoint"


def decay(here: Page, found: Progression, at: int) -> Panel:
    """Spectra of all checkpoints."""
    c, epsilon = chosen_class(here.view), here.view.epsilon
    ranks = found.ranks(c, epsilon)
    read = (
        f"At {found.series.labels[at]}, {ranks[at]} directions hold {100 * (1 - epsilon):.3g}% of the kernel "
        f"({kernel_name(here)}), at the end {ranks[-1]}."
    )
    return Panel("training_spectra", figures.spectra(found.values(c), found.series.labels, at), "Spectra", read, DECAY)


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The cluster or the two inputs of a cell of the kernel; elsewhere the checkpoint."""
    found = shown(here)
    if found is None:
        return None
    if panel != "training_kernel":
        return Pick.of("checkpoint", found.series.labels.index(checkpoint_at(found, point)))
    labels = last_clusters(here, found)
    order = np.argsort(labels, kind="stable")
    i, j = (int(order[min(max(round(point[axis]), 0), len(order) - 1)]) for axis in ("y", "x"))
    return Pick.of("formed", int(labels[i])) if labels[i] == labels[j] else Pick.of("forming", i, j)


def shown(here: Page) -> Progression | None:
    """The series that the link names, else the run's newest."""
    keys = [each.key for each in known(here)]
    asked = here.link.get("series")
    return cached.progression(asked if asked in keys else keys[0]) if keys else None


def last_clusters(here: Page, found: Progression) -> np.ndarray:
    """The cluster of every input looked at, by the last kernel."""
    return found.clusters(min(here.view.H, len(found.across.likeness.inputs)), chosen_class(here.view))


def picture(here: Page, found: Progression, at: int) -> Panel:
    """The kernel at one checkpoint."""
    c = chosen_class(here.view)
    kernel, labels = found.kernel(at, c), last_clusters(here, found)
    within, between = alike(kernel, labels)
    read = (
        f"At {found.series.labels[at]} inputs of one cluster have a cosine of {within:.2f} on average, of two "
        f"{between:.2f}."
    )
    return Panel(
        "training_kernel", kernel_picture(kernel, labels), "Kernel, sorted by the last clusters", read, PICTURE, CLICK
    )


def calls(found: Progression) -> tuple[str, ...]:
    """The calls that give these numbers."""
    opened = f"open_series(find_series({found.series.key!r}))[1]"
    return (f"{opened}.likeness.cka", f"{opened}.likeness.alignment", f"{opened}.linear_error")


def command(found: Progression) -> str:
    """The command that prints these numbers."""
    return f"python -m dntk_core series {found.series.key} --json"

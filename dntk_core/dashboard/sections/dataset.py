"""Dataset distillation: the images, their making, what they capture, and both networks over size."""

from dataclasses import replace

import numpy as np

from dntk_core.base.numbering import FIRST as NUMBERED
from dntk_core.base.spec import BASES, DatasetSpec, RunSpec
from dntk_core.cache.artifact import Artifact
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import curves as curve_figures
from dntk_core.dashboard.figures import dataset as figures
from dntk_core.dashboard.figures.judgements import judgements
from dntk_core.dashboard.page import Page
from dntk_core.data.images import as_images
from dntk_core.dataset.sizes import evenly_sized
from dntk_core.dataset.soft_labels import shares
from dntk_core.readout.curves import Curve
from dntk_core.run.pipeline import Run

TITLE = "Dataset distillation"
ROWS = 10
GALLERY = r"""
Each image $\tilde x_{k,j}$ of class $k$ stands for a share $w_{k,j}$ of the class's real images, written below it; the
heaviest come first. Its **soft label** is the network's own output on it, here as
$\mathrm{softmax}(f(\tilde x)/4)$, the form in which a network learns from it; raw logits are stored.
"""
LOSSES = r"""
WMDD minimises per class $\frac1j\sum_j\|f_e(\tilde x_j)-b_j\|^2+\lambda_{BN}\,\mathcal L_{BN}$ by Adam with a cosine
rate. The **feature loss** is the first term, $f_e$ the penultimate activations and $b_j$ the barycenter points; the
**batch-norm loss** is the mean over batch-norm layers of $\|\mu-\hat\mu\|+\|\sigma-\hat\sigma\|$ between the images'
statistics and those of the whole class.
"""
MAP = r"""
The real images of a class are one measure in feature space. Its $W_2$ barycenter with $j$ points and free weights is
k-means: points $b_j$, weights $w_j$ the share of images nearest to each. Shown are the two leading principal directions
of the real features; lines join each point with the image made for it.
"""
JUDGED = r"""
$V(\tilde D)$ is the span of all logit gradients at the chosen images and $\Pi$ its projector. What it misses of the
centred gradients $\Phi$ of real images splits into a tail that every subspace of that rank $r$ misses and a
misalignment,

$$\|\Phi(I-\Pi)\|^2=\sum_{j>r}\sigma_j^2+\big(\mathrm{tr}\,\Phi^\top\Phi\,\Pi^*-\mathrm{tr}\,\Phi^\top\Phi\,\Pi\big),$$

drawn as shares of $\|\Phi\|^2$; the number is $(1-E)/(1-E_{PCA})$. **Class kernels** judge each logit's gradients by
that logit's own span. **Kernel error** is $\|K-\Phi\Pi\Phi^\top\|_F$, its bound $\|\Phi\|\,\|\Phi(I-\Pi)\|$, both
over $\|K\|_F$, all class kernels together. **Loss gradients left out** is $E\|(I-\Pi)g_t\|^2/E\|g_t\|^2$ for the
cross-entropy of every real image. Residuals are measured in $k$ dimensions and scaled by $\frac{P-r}{P}\frac{k}{k-r}$.
"""
BASE = r"""
Kernels at the same distilled images of two networks: one trained on the real images, one trained from scratch on the
distilled images alone, with their soft labels and weights. The first $1, 2, \dots$ images of every class are taken, the
heaviest first. Each kernel is scored against its own network.
"""


def panels(here: Page, first: int = 0, other: Run | None = None, real: Run | None = None) -> tuple[Panel, ...]:
    """All figures of a distilled run, galleries from class `first` on; none for a run on real images.

    other: the same images under the other network; real: a run on real images of the same data
    """
    run, made = here.run, here.run.distillation
    if made is None:
        return ()
    names, method = run.class_names, run.spec.dataset.method
    needed = len(names) * len(made["labels"])
    labels, weights = np.array(made["labels"]), np.array(made["weights"])
    known = np.array(made["real_features"]), np.array(made["real_labels"])
    placed = np.array(made["points"]), np.array(made["features"])
    curves = base_curves(here, other)
    return (
        pictures(made, names, method, run.artifacts["inputs"].note["n"], first, real),
        Panel(
            "dataset_losses",
            figures.losses(made["losses"], names),
            "Synthesis",
            _fall(made["losses"], run.spec.dataset),
            LOSSES,
        ),
        Panel(
            "dataset_map",
            figures.feature_map(*known, *placed, labels, weights, names),
            "Feature space",
            "Distilled images should lie where the real ones of their class are dense; larger ones stand for more.",
            MAP,
            "Click a real image for the one that stands for it.",
        ),
        Panel(
            "dataset_judged",
            judgements(run.judgements, needed),
            "What the gradients of each selection miss",
            _judged(run, needed),
            JUDGED,
        ),
        Panel(
            "dataset_bases",
            curve_figures.curve(curves, "size", len(labels), run.test_accuracy, len(run.test_labels)),
            "Both networks over size" if other is not None else "This network over size",
            _bases(run, other, curves[trained_on(run)]),
            BASE,
        ),
    )


def pictures(
    made: Artifact, names: tuple[str, ...], method: str, n: int, first: int = 0, real: Run | None = None
) -> Panel:
    """The images themselves: there as soon as they are made, whatever else is still being computed."""
    labels, weights = np.array(made["labels"]), np.array(made["weights"])
    shown = range(first, min(first + ROWS, len(names)))
    beside = None if real is None else (real.images, real.train_labels)
    soft = shares(made["soft_labels"])
    sure = float(np.mean(soft.argmax(axis=1) == labels))
    return Panel(
        "dataset_gallery",
        figures.gallery(as_images(made["images"]), labels, weights, soft, names, shown, beside),
        f"{len(labels)} images for {n:,}",
        f"Made by {method}, a row per class, below each image the share of its class that it stands for: one stands "
        f"for {n / len(labels):,.0f} on average, and the network takes {sure:.1%} of them for their own class.",
        GALLERY,
    )


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """What a tile, a line, a mark or a bar of a figure stands for."""
    run, made, data = here.run, here.run.distillation, point.get("customdata")
    names = [literal.plotly(name) for name in run.class_names]
    if panel == "dataset_losses" and point["series"] in names:
        return Pick.of("class", names.index(point["series"]))
    if panel == "dataset_gallery" and data:
        return Pick.of("input", int(data[0]) - NUMBERED)
    if panel == "dataset_map" and data and made is not None:
        place = int(data[1]) - NUMBERED
        return Pick.of("input", stands_for(made, place) if point["series"] == "real image" else place)
    if panel == "dataset_judged":
        names = [literal.plotly(each.name) for each in run.judgements]
        return Pick.of("selection", names.index(point["y"])) if point["y"] in names else None
    if panel == "dataset_bases":
        return Pick.of("heaviest", round(point["x"]) - NUMBERED)
    return None


def stands_for(made: Artifact, real: int) -> int:
    """The distilled image of its class whose barycenter point lies next to a real image."""
    own = np.flatnonzero(np.array(made["labels"]) == made["real_labels"][real])
    return int(own[np.argmin(np.linalg.norm(made["points"][own] - made["real_features"][real], axis=1))])


def room_needed(run: Run) -> RunSpec | None:
    """The run with dimensions enough for all judgements, if this one has too few: k above C·m."""
    needed = len(run.class_names) * len(run.targets)
    if run.k > needed or run.spec.projection.exact(run.parameters):
        return None
    enough = 1 << (2 * needed - 1).bit_length()
    return replace(run.spec, projection=replace(run.spec.projection, k=enough))


def _judged(run: Run, needed: int) -> str:
    sentence = "Shorter is better; grey is missed by every subspace of that size, orange is the selection's own fault."
    times = {each.name: each.classes_held_out.relative for each in run.judgements if each.classes_held_out}
    if times:
        best, own = min(times, key=lambda name: times[name]), run.spec.dataset.method
        sentence += f" On held-out inputs {best} misses least, {times[best]:.2f} times what PCA does"
        sentence += f"; {own} {times[own]:.2f} times." if own in times and own != best else "."
    if room_needed(run) is not None:
        sentence += f" What is empty needs more than {needed:,} dimensions, one for each image and class."
    return sentence


def base_curves(here: Page, other: Run | None) -> dict:
    """Scores over size of the open run and, if there, of the one with the other network."""
    found = {}
    for run in (here.run, other):
        if run is not None and run.distillation is not None:
            weights = np.array(run.distillation["weights"])
            found[trained_on(run)] = evenly_sized(run.problem, run.train_labels, weights, here.view.ridge)
    return dict(sorted(found.items(), reverse=True))


def trained_on(run: Run) -> str:
    """What a run's network has seen."""
    return f"trained on {run.spec.dataset.base} images"


def sibling(spec: RunSpec) -> RunSpec:
    """The same distilled images under the other network."""
    (base,) = set(BASES) - {spec.dataset.base}
    return replace(spec, dataset=replace(spec.dataset, base=base))


def distilled(spec: RunSpec, method: str = "wmdd", per_class: int = 10, iterations: int = 300) -> RunSpec:
    """The run that distils a run's images first."""
    return replace(spec, dataset=DatasetSpec(method, per_class=per_class, iterations=iterations))


def original(spec: RunSpec) -> RunSpec:
    """The run on real images that a distilled one belongs to."""
    return replace(spec, dataset=DatasetSpec())


def _fall(losses: np.ndarray, spec: DatasetSpec) -> str:
    if not len(losses):
        return "Nothing was synthesised."
    total = losses.mean(axis=1) @ np.array([1.0, spec.bn_weight])
    return f"From {spec.start} the loss fell {total[0] / total[-1]:.1f} times, to {total[-1]:.3g}."


def _bases(run: Run, other: Run | None, curve: Curve) -> str:
    sides = [f"{trained_on(each)} {each.test_accuracy:.1%}" for each in (run, other) if each]
    first, last = (f"{int(curve.x[i]):,} distilled images give a fidelity of {curve.fidelity[i]:.1%}" for i in (0, -1))
    return f"{first}, all {last}. Accuracy of the network itself: {', '.join(sorted(sides, reverse=True))}."


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give the numbers of the page."""
    weights = 'run.distillation["weights"]'
    return (
        "judgement_table(run.judgements)",
        f"evenly_sized(run.problem, run.train_labels, {weights}, ridge={here.view.ridge})",
    )

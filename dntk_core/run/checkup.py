"""Whether a run's kernel is fit for its targets, without test data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.run.insight import Insight
from dntk_core.uses.health import Suspicion, Where, alignment, kare, left_out_and_fitted, suspicion, where_targets_lie

# Numbers of gradients that a distilled readout is looked at with.
SIZES = (2, 3, 5, 8, 12, 20, 30, 50, 80, 120)


@dataclass(frozen=True)
class LeftOutSizes:
    """A distilled readout with each target left out, over q sizes.

    sizes, mse, fidelity, accuracy: (q,)
    """

    sizes: np.ndarray
    mse: np.ndarray
    fidelity: np.ndarray
    accuracy: np.ndarray


def usual_sizes(insight: Insight) -> list[int]:
    """Those of SIZES that a run has inputs enough for."""
    return [size for size in SIZES if size <= len(insight.run.targets) // 2] or [1]


def risks(insight: Insight, ridges: Sequence[float]) -> np.ndarray:
    """KARE over ridges (q,), of the readout of the network's logits."""
    live = insight.live
    return live.remember(("kare", tuple(ridges)), lambda: kare(insight.kernels, insight.modes("logits"), ridges))


def alignments(insight: Insight, targets: str = "logits") -> np.ndarray:
    """Centred kernel–target alignment of every class, (C,)."""
    kernels, Y = insight.kernels, insight.targets(targets)

    def found() -> np.ndarray:
        modes = insight.modes(targets)
        return np.array([alignment(kernels.kernel(c), modes[c].values, Y[:, c]) for c in range(insight.C)])

    return insight.live.remember(("alignments", targets), found)


def where(insight: Insight, targets: str = "logits", c: int | None = None) -> Where:
    """Where the targets lie among the directions of a class kernel, or of all classes on average."""
    each = [where_targets_lie(modes) for modes in insight.modes(targets)]
    if c is not None:
        return each[c]
    known = min(len(one.kernel) for one in each)
    return Where(*(np.mean([getattr(one, part)[:known] for one in each], axis=0) for part in ("targets", "kernel")))


def left_out_sizes(
    insight: Insight, method: str, sizes: Sequence[int], ridge: float, by: str = "paper"
) -> LeftOutSizes:
    """Leave out targets under a method's gradients of each size; what it cannot make is left out itself."""

    def found() -> LeftOutSizes:
        made = insight.live.of_sizes(method, sizes, ridge)
        residuals = [insight.fit("logits", mixing, ridge, by).left_out for _, mixing in sorted(made.items())]
        Y, labels = insight.targets("logits"), insight.run.train_labels
        predicted = [(Y - left).argmax(axis=1) for left in residuals]
        return LeftOutSizes(
            np.array(sorted(made)),
            np.array([np.mean(left**2) for left in residuals]),
            *(np.array([np.mean(each == right) for each in predicted]) for right in (Y.argmax(axis=1), labels)),
        )

    return insight.live.remember(("left-out sizes", method, tuple(sizes), ridge, by), found)


def suspicious_labels(insight: Insight, ridge: float | None = None) -> Suspicion:
    """Kernel inputs' labels, each judged by all others; at the ridge that predicts labels best, if none is given."""
    ridge = insight.label_ridge() if ridge is None else ridge

    def found() -> Suspicion:
        targets, lam = insight.targets("labels"), insight.live.lam(ridge)
        return suspicion(insight.run.train_labels, targets, *left_out_and_fitted(insight.modes("labels"), targets, lam))

    return insight.live.remember(("suspicion", ridge), found)

"""METRICS: every score of a readout, one row each; tables, curves, grids and figures follow it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Judged:
    """The predictions of q readouts beside what they are judged by.

    predictions: (C, t, q)
    choice:      (t, q)   argmax over classes
    logits:      (t, C)   the network's
    labels:      (t,)
    """

    predictions: np.ndarray
    choice: np.ndarray
    logits: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Metric:
    """One score.

    function: Judged → (q,)
    title:    a word or two for people
    format:   how a value is written, as in f"{value:{format}}"
    higher:   whether more is better
    log:      whether values spread over magnitudes and belong on a log axis
    share:    whether it is a share of the t test inputs, and so carries an interval
    """

    function: Callable[[Judged], np.ndarray]
    title: str
    format: str
    higher: bool
    log: bool = False
    share: bool = False

    def no_worse(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Whether each left value is at least as good as the right one."""
        return left >= right if self.higher else left <= right


def accuracy(judged: Judged) -> np.ndarray:
    """Share of test inputs whose label is chosen."""
    return np.mean(judged.choice == judged.labels[:, None], axis=0)


def fidelity(judged: Judged) -> np.ndarray:
    """Share of test inputs where readout and network choose alike."""
    return np.mean(judged.choice == judged.logits.argmax(axis=1)[:, None], axis=0)


def mse(judged: Judged) -> np.ndarray:
    """Mean over test inputs and classes of (f_K - f)²."""
    squares = np.zeros(judged.choice.shape[1])
    for predictions, logits in zip(judged.predictions, judged.logits.T, strict=True):
        distance = predictions - logits[:, None]
        squares += np.einsum("tq,tq->q", distance, distance)
    return squares / judged.logits.size


METRICS: dict[str, Metric] = {
    "accuracy": Metric(accuracy, "Accuracy", ".1%", higher=True, share=True),
    "fidelity": Metric(fidelity, "Fidelity", ".1%", higher=True, share=True),
    "mse": Metric(mse, "Logit MSE", ".3g", higher=False, log=True),
}

"""Scores of readouts: one number per row of METRICS."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from dntk_core.base.text import html_table
from dntk_core.readout.metrics import METRICS, Judged
from dntk_core.readout.problem import Problem

# Numbers that are predicted at a time.
AT_ONCE = 2**24

Value = TypeVar("Value", float, np.ndarray)


@dataclass(frozen=True)
class Scored(Generic[Value]):
    """Whatever has scores, by the name of their metric."""

    scores: Mapping[str, Value]

    def __getitem__(self, metric: str) -> Value:
        return self.scores[metric]

    @property
    def accuracy(self) -> Value:
        return self.scores["accuracy"]

    @property
    def fidelity(self) -> Value:
        return self.scores["fidelity"]

    @property
    def mse(self) -> Value:
        return self.scores["mse"]


@dataclass(frozen=True, repr=False)
class Scores(Scored[float]):
    """Accuracy against the labels, fidelity = share of argmax f_K = argmax f, MSE over logits; all of METRICS."""

    def __repr__(self) -> str:
        return f"Scores({', '.join(f'{name}={value!r}' for name, value in self.scores.items())})"

    def _repr_html_(self) -> str:
        shown = [f"{value:{METRICS[name].format}}" for name, value in self.scores.items()]
        return html_table([METRICS[name].title for name in self.scores], [shown])


def score(predictions: np.ndarray, logits: np.ndarray, labels: np.ndarray) -> Scores:
    """Judge predictions (t, C) by the network's logits (t, C) and the labels (t,).

    >>> score(np.eye(2), np.eye(2), np.array([0, 0]))
    Scores(accuracy=0.5, fidelity=1.0, mse=0.0)
    """
    judged = Judged(predictions.T[..., None], predictions.argmax(axis=1)[:, None], logits, labels)
    return Scores({name: float(metric.function(judged)[0]) for name, metric in METRICS.items()})


def only(scores: Mapping[str, np.ndarray]) -> Scores:
    """The scores of the only readout among q = 1."""
    return Scores({name: float(values[0]) for name, values in scores.items()})


def score_coefficients(problem: Problem, alpha: np.ndarray) -> dict[str, np.ndarray]:
    """Score q readouts at once: alpha (C, m, q) to every metric's (q,)."""
    C, t, _ = problem.kernels.shape
    parts = np.array_split(alpha, max(1, C * t * alpha.shape[2] // AT_ONCE), axis=2)
    found = [score_predictions(problem, problem.kernels.predict(part)) for part in parts]
    return {name: np.concatenate([each[name] for each in found]) for name in METRICS}


def score_predictions(problem: Problem, predictions: Iterable[np.ndarray]) -> dict[str, np.ndarray]:
    """Score q predictors at once, given for each class in turn its predictions (t, q)."""
    judged = judge(problem, predictions)
    return {name: metric.function(judged) for name, metric in METRICS.items()}


def judge(problem: Problem, predictions: Iterable[np.ndarray]) -> Judged:
    """Set q predictors beside what they are judged by, given for each class in turn its predictions (t, q)."""
    stacked = np.stack(list(predictions))
    # np.argmax over the first axis is several times slower than this.
    best, choice = stacked[0].copy(), np.zeros(stacked.shape[1:], np.int32)
    for c, f in enumerate(stacked[1:], start=1):
        np.copyto(choice, c, where=f > best)
        np.maximum(best, f, out=best)
    return Judged(stacked, choice, problem.logits, problem.labels)

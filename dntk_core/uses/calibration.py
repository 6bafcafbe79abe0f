"""How far probabilities can be trusted: JUDGEMENTS, one number each, and the curves behind them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import fminbound

from dntk_core.readout.probabilities import softmax

BINS = 15
# Probabilities below this count as this much: a single 0 would make the mean log infinite.
LEAST = 1e-12


@dataclass(frozen=True)
class Reliability:
    """Inputs binned by the probability of their chosen class.

    confidence: (bins,)  mean probability, NaN where a bin is empty
    accuracy:   (bins,)  share that is right, likewise
    count:      (bins,)
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    count: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error: Σ_b n_b/n |accuracy_b - confidence_b|."""
        gaps = np.nan_to_num(np.abs(self.accuracy - self.confidence))
        return float(np.sum(self.count * gaps) / self.count.sum())


def bins_of(probabilities: np.ndarray, bins: int = BINS) -> np.ndarray:
    """The bin of each input, (n,), by the largest of its probabilities (n, C)."""
    return np.minimum((probabilities.max(axis=1) * bins).astype(int), bins - 1)


def reliability(probabilities: np.ndarray, labels: np.ndarray, bins: int = BINS) -> Reliability:
    """Bin probabilities (n, C) by their largest."""
    sure = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    place = bins_of(probabilities, bins)
    count = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore", divide="ignore"):
        confidence = np.bincount(place, sure, bins) / count
        accuracy = np.bincount(place, right, bins) / count
    return Reliability(confidence, accuracy, count)


def nll(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Mean -log p of the labels."""
    return float(-np.mean(np.log(np.maximum(probabilities[np.arange(len(labels)), labels], LEAST))))


def brier(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Mean Σ_c (p_c - 1[c = label])²."""
    return float(np.mean(np.sum((probabilities - np.eye(probabilities.shape[1])[labels]) ** 2, axis=1)))


def accuracy(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Share of inputs whose likeliest class is the label."""
    return float(np.mean(probabilities.argmax(axis=1) == labels))


def expected_calibration_error(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """How far confidence and accuracy lie apart, bin by bin."""
    return reliability(probabilities, labels).error


@dataclass(frozen=True)
class JudgementOfProbabilities:
    """One number of probabilities (n, C) and labels (n,)."""

    function: Callable[[np.ndarray, np.ndarray], float]
    title: str
    format: str
    higher: bool


JUDGEMENTS: dict[str, JudgementOfProbabilities] = {
    "accuracy": JudgementOfProbabilities(accuracy, "Accuracy", ".1%", higher=True),
    "nll": JudgementOfProbabilities(nll, "NLL", ".4f", higher=False),
    "brier": JudgementOfProbabilities(brier, "Brier score", ".4f", higher=False),
    "ece": JudgementOfProbabilities(expected_calibration_error, "Calibration error", ".2%", higher=False),
}


def auroc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Probability that a positive (n,) scores higher than a negative, ties half; NaN if one kind is missing.

    >>> auroc(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True]))
    0.875
    """
    positive = np.asarray(positive, dtype=bool)
    some = int(positive.sum())
    others = len(positive) - some
    if not some or not others:
        return float("nan")
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    # The mean rank of equal scores.
    ranks = (np.cumsum(count) - (count - 1) / 2.0)[place]
    return float((ranks[positive].sum() - some * (some + 1) / 2.0) / (some * others))


def rejection_curve(doubt: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accuracy on what is left when the most doubtful are rejected: shares rejected (n,) from 0, accuracies (n,)."""
    n = len(doubt)
    kept = np.asarray(right, dtype=float)[np.argsort(doubt, kind="stable")]
    return np.arange(n) / n, (np.cumsum(kept) / np.arange(1, n + 1))[::-1]


def temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """The T of least n NLL(softmax(f/T)) + ½ log² T, between 1/20 and 20.

    The last term, log T ~ N(0, 1), matters where it must: all inputs right have no best T but ever smaller ones.
    """

    def loss(log_t: float) -> float:
        return len(labels) * nll(softmax(logits / np.exp(log_t)), labels) + 0.5 * log_t**2

    return float(np.exp(fminbound(loss, -3.0, 3.0, xtol=1e-4)))

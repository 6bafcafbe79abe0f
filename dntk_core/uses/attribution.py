"""ATTRIBUTIONS: what each kernel input does to a prediction, one way a row; all of them give a (q, m) matrix.

A prediction is Σ_c w_c f^c(x) of one test input, w its goal (C,): a logit, the difference of two, a margin.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.uses.fit import Fit
from dntk_core.uses.tangents import Tangents

# Test inputs that are attributed at a time where only the strongest are kept.
AT_ONCE = 64


@dataclass(frozen=True)
class Evidence:
    """What attributions read.

    fit:      the readout, of logits or of labels, full or distilled
    tangents: gradients of margins, on the same distilled set; only some ways need them
    """

    fit: Fit
    tangents: Callable[[], Tangents]


@dataclass(frozen=True)
class Attribution:
    """One way: (evidence, test inputs (q,), goals (q, C)) → (q, m).

    of_targets: whether it reads what was fitted; the others know only gradients of margins, and so the labels
    """

    function: Callable[[Evidence, np.ndarray, np.ndarray], np.ndarray]
    title: str
    summary: str
    of_targets: bool = False


def contributions(evidence: Evidence, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """Split predictions: Σ_c w_c K^c(x, x_i) α^c_i, which sum over i to Σ_c w_c f^c(x)."""
    fit = evidence.fit
    if fit.kernels.shared:
        return fit.kernels.cross_rows(0, index) * (goals @ fit.alpha)
    return _over_classes(goals, lambda c, rows: fit.kernels.cross_rows(c, index[rows]) * fit.alpha[c])


def leave_one_out_effects(evidence: Evidence, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """How much each input's target adds: Σ_c w_c S^c_i(x) (y_i - f^c_{-i}(x_i)), the full less the refitted prediction.

    Of the full kernel S^c(x) = G k*, G = (K^c + λI)⁻¹, so that this is Σ_c w_c (G k*)_i α_i/G_ii, exactly.
    """
    fit = evidence.fit
    if fit.kernels.shared:
        return fit.smoothing(0, index) * (goals @ fit.left_out.T)
    return _over_classes(goals, lambda c, rows: fit.smoothing(c, index[rows]) * fit.left_out[:, c])


def trak(evidence: Evidence, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """TRAK's score with one network: φ*ᵀ (ΦᵀΦ + λI)⁻¹ Φᵀ Q of the margins' gradients, Q_ii = 1 - p_i.

    On distilled gradients AΦ: φ*ᵀ (AΦ)ᵀ (AΦΦᵀAᵀ + λI)⁻¹ A Q.
    """
    tangents = evidence.tangents()
    return tangents.weights(index, goals) * tangents.doubt


def dot_products(evidence: Evidence, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """Plain products of the margins' gradients."""
    return evidence.tangents().products(index, goals)


def cosines(evidence: Evidence, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """Cosines of the margins' gradients."""
    tangents = evidence.tangents()
    own = np.linalg.norm(tangents.tests(index, goals), axis=1, keepdims=True)
    return tangents.products(index, goals) / np.maximum(own * tangents.norms, np.finfo(float).tiny)


ATTRIBUTIONS: dict[str, Attribution] = {
    "contribution": Attribution(
        contributions, "Contribution", "its share of the prediction; all shares add up to it", True
    ),
    "leave-one-out": Attribution(
        leave_one_out_effects,
        "Leave-one-out effect",
        "how much the prediction would fall if its target were left out",
        True,
    ),
    "trak": Attribution(trak, "TRAK", "TRAK's score with one network, from cached gradients"),
    "dot product": Attribution(dot_products, "Dot product", "product of the margins' gradients"),
    "cosine": Attribution(cosines, "Cosine", "cosine of the margins' gradients"),
}


def attribution(name: str) -> Attribution:
    """Look an attribution up by its name."""
    if name not in ATTRIBUTIONS:
        raise DNTKError(f"the attribution must be one of {', '.join(ATTRIBUTIONS)}, got {name!r}")
    return ATTRIBUTIONS[name]


@dataclass(frozen=True)
class Strongest:
    """The k kernel inputs of largest and of smallest value for each of q test inputs.

    up, up_values, down, down_values: (q, k), strongest first
    """

    up: np.ndarray
    up_values: np.ndarray
    down: np.ndarray
    down_values: np.ndarray


def strongest(evidence: Evidence, way: str, index: np.ndarray, goals: np.ndarray, k: int) -> Strongest:
    """Find who speaks most for and against each goal; never more than a few rows of the matrix are at hand."""
    parts = [_ends(values, k) for values in _in_rows(evidence, way, index, goals)]
    return Strongest(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _in_rows(evidence: Evidence, way: str, index: np.ndarray, goals: np.ndarray) -> Iterator[np.ndarray]:
    function = attribution(way).function
    for start in range(0, len(index), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        yield function(evidence, index[part], goals[part])


def _ends(values: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
    found = []
    for sign in (-1.0, 1.0):
        near = np.argpartition(sign * values, min(k, values.shape[1]) - 1, axis=1)[:, :k]
        order = np.argsort(sign * np.take_along_axis(values, near, axis=1), axis=1, kind="stable")
        chosen = np.take_along_axis(near, order, axis=1)
        found += [chosen, np.take_along_axis(values, chosen, axis=1)]
    return tuple(found)


def _over_classes(goals: np.ndarray, part: Callable[[int, np.ndarray], np.ndarray]) -> np.ndarray:
    """Σ_c w_c part(c), each class asked only for the inputs whose goal holds it."""
    total = None
    for c in range(goals.shape[1]):
        rows = np.flatnonzero(goals[:, c])
        if len(rows):
            values = goals[rows, c, None] * part(c, rows)
            total = np.zeros((len(goals), values.shape[1])) if total is None else total
            total[rows] += values
    if total is None:
        raise DNTKError("nothing to explain: every class has weight 0")
    return total

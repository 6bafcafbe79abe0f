"""The full readout in the eigenvectors u_j of each class kernel, whether it is an array or kept as features."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.kernels.gram import Grams, tiles, transposed_times
from dntk_core.kernels.spectrum import Spectrum, spectrum
from dntk_core.readout.ridge import Problem


@dataclass(frozen=True)
class Modes:
    """One class: K = Σ_j σ_j u_j u_jᵀ and targets y = Σ_j b_j u_j + y_⊥; the readout is Σ_j b_j/(σ_j + λ) K* u_j.

    values:  (r,)  σ_j, descending; all others are 0
    load:    (r,)  b_j = u_jᵀ y
    outside: ‖y_⊥‖², 0 for an array
    predict: coefficients c (r, q) → Σ_j c_j K* u_j, (t, q)
    """

    values: np.ndarray
    load: np.ndarray
    outside: float
    predict: Callable[[np.ndarray], np.ndarray]


def class_spectra(problem: Problem) -> tuple[Spectrum, ...]:
    """Decompose every class kernel."""
    return tuple(spectrum(K) for K in problem.kernels.train)


def class_modes(problem: Problem, spectra: Sequence[Spectrum] | None = None) -> tuple[Modes, ...]:
    """Decompose the full readout of every class; `spectra` of arrays may be at hand."""
    if not problem.kernels.dense:
        return _feature_modes(problem)
    spectra = class_spectra(problem) if spectra is None else spectra
    columns = zip(spectra, problem.kernels.cross, problem.targets.T, strict=True)
    return tuple(
        Modes(each.values, each.vectors.T @ y, 0.0, lambda c, K=K, each=each: K @ (each.vectors @ c))
        for each, K, y in columns
    )


def _feature_modes(problem: Problem) -> tuple[Modes, ...]:
    """ΦᵀΦ = V Σ Vᵀ gives u_j = Φ v_j/√σ_j, so b_j = v_jᵀΦᵀy/√σ_j and K* u_j = √σ_j Φ* v_j."""
    train: Grams = problem.kernels.train
    found = []
    for Phi, test, (values, V), y in zip(
        train.features, problem.kernels.cross.test_features, train.modes, problem.targets.T, strict=True
    ):
        # Directions that are nothing but rounding would be blown up by 1/√σ.
        some = values > len(y) * np.finfo(np.float32).eps ** 2 * values[0]
        root, V = np.sqrt(values[some]), V[:, some]
        load = V.T @ transposed_times(Phi, y) / root

        def predict(c, test=test, W=V * root):
            return np.concatenate([tile @ (W @ c) for _, tile in tiles(test)])

        found.append(Modes(values[some], load, max(float(y @ y - load @ load), 0.0), predict))
    return tuple(found)

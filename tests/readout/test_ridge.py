"""The readout against ridge regression on materialised features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.distill.mixing import Mixing, Origin, selection
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.ridge import READOUTS, compress, predict, prefix_coefficients, ridge_factor
from tests.synthetic import draw, examples, seeds, with_kernel


def mixing_of(matrix):
    return Mixing(matrix, tuple(Origin("selected", None, i) for i in range(len(matrix))), nested=True)


def primal(drawn, matrix, lam):
    """Predict by w = (Φ̂ᵀΦ̂ + λI)⁻¹ Φ̂ᵀŷ in feature space, Φ̂ = AΦ."""
    columns = []
    for Phi, test, y in zip(drawn.features, drawn.test_features, drawn.problem.targets.T, strict=True):
        synthetic = matrix @ Phi
        gram = synthetic.T @ synthetic + lam * np.eye(Phi.shape[1])
        columns.append(test @ np.linalg.solve(gram, synthetic.T @ (matrix @ y)))
    return np.stack(columns, axis=1)


@examples
@given(seeds, st.integers(1, 24), st.floats(-6, 1))
def test_predict_is_ridge_regression_on_the_distilled_gradients(seed, s, exponent):
    """The Woodbury identity, for any mixing."""
    drawn, ridge = draw(seed), 10.0**exponent
    matrix = np.random.default_rng(seed).standard_normal((s, 24)) / np.sqrt(24)
    found = predict(drawn.kernels, drawn.problem.targets, mixing_of(matrix), ridge)
    expected = primal(drawn, matrix, absolute_ridge(drawn.kernels, ridge))
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


@examples
@given(seeds, st.floats(-6, 1))
def test_the_identity_restores_the_full_readout(seed, exponent):
    drawn, ridge = draw(seed), 10.0**exponent
    full = predict(drawn.kernels, drawn.problem.targets, None, ridge)
    kept = predict(drawn.kernels, drawn.problem.targets, selection(np.arange(24), 24), ridge)
    np.testing.assert_allclose(kept, full, atol=1e-9 * np.abs(full).max())
    direct = primal(drawn, np.eye(24), absolute_ridge(drawn.kernels, ridge))
    np.testing.assert_allclose(full, direct, rtol=1e-5, atol=1e-6)


def nystrom(drawn, matrix, lam):
    """Predict by w in the span of Φ̂ = AΦ that minimises ‖Φw - y‖² + λ‖w‖², over an orthonormal basis of it."""
    columns = []
    for Phi, test, y in zip(drawn.features, drawn.test_features, drawn.problem.targets.T, strict=True):
        V = np.linalg.svd(matrix @ Phi, full_matrices=False)[2]
        F = Phi @ V.T
        columns.append(test @ V.T @ np.linalg.solve(F.T @ F + lam * np.eye(len(V)), F.T @ y))
    return np.stack(columns, axis=1)


@examples
@given(seeds, st.integers(1, 12), st.floats(-4, 1))
def test_the_second_readout_fits_the_same_span_to_every_target(seed, s, exponent):
    drawn, ridge = draw(seed), 10.0**exponent
    matrix = np.random.default_rng(seed).standard_normal((s, 24)) / np.sqrt(24)
    found = predict(drawn.kernels, drawn.problem.targets, mixing_of(matrix), ridge, "nystrom")
    expected = nystrom(drawn, matrix, absolute_ridge(drawn.kernels, ridge))
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())
    # The rows count only by their span, whatever their scale and order.
    other = predict(drawn.kernels, drawn.problem.targets, mixing_of(-3 * matrix[::-1]), ridge, "nystrom")
    np.testing.assert_allclose(other, found, atol=1e-5 * np.abs(expected).max())


def test_with_all_inputs_both_readouts_are_the_full_one():
    drawn, everything = draw(1), selection(np.arange(24), 24)
    full = predict(drawn.kernels, drawn.problem.targets, None, 1e-3)
    for by in READOUTS:
        np.testing.assert_allclose(predict(drawn.kernels, drawn.problem.targets, everything, 1e-3, by), full, atol=1e-6)
    with pytest.raises(DNTKError, match="paper, nystrom"):
        predict(drawn.kernels, drawn.problem.targets, everything, 1e-3, "magic")


@examples
@given(seeds)
def test_dependent_rows_change_nothing_in_the_second_readout(seed):
    drawn = draw(seed)
    matrix = np.random.default_rng(seed).standard_normal((4, 24))
    once = predict(drawn.kernels, drawn.problem.targets, mixing_of(matrix), 1e-3, "nystrom")
    twice = predict(drawn.kernels, drawn.problem.targets, mixing_of(np.vstack([matrix, matrix[:2]])), 1e-3, "nystrom")
    np.testing.assert_allclose(twice, once, atol=1e-4 * np.abs(once).max())


def test_no_ridge_on_a_singular_kernel_gives_the_minimum_norm_fit():
    drawn = draw(2, m=24, k=10)
    found = predict(drawn.kernels, drawn.problem.targets, None, 0.0)
    for c in range(3):
        w = np.linalg.lstsq(drawn.features[c], drawn.problem.targets[:, c], rcond=None)[0]
        np.testing.assert_allclose(found[:, c], drawn.test_features[c] @ w, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("ridge", [0.0, 1e-4])
def test_rank_one_and_zero_kernels_give_finite_scores(ridge):
    for kernel in (np.ones((6, 6)), np.zeros((6, 6))):
        problem = with_kernel(kernel)
        predictions = predict(problem.kernels, problem.targets, None, ridge)
        assert np.all(np.isfinite(predictions))
        if not kernel.any():
            np.testing.assert_array_equal(predictions, 0.0)
        else:
            np.testing.assert_allclose(predictions, np.tile(problem.targets.mean(axis=0), (5, 1)), atol=1e-3)


@examples
@given(seeds)
def test_one_factor_solves_every_prefix(seed):
    drawn = draw(seed)
    compressed = compress(drawn.kernels, drawn.problem.targets, selection(np.arange(24), 24))
    sizes = np.array([24, 1, 7, 7])
    beta = prefix_coefficients(ridge_factor(compressed.gram, 0.3), compressed.targets, sizes)
    for i, s in enumerate(sizes):
        for c in range(3):
            direct = np.linalg.solve(compressed.gram[c, :s, :s] + 0.3 * np.eye(s), compressed.targets[c, :s])
            np.testing.assert_allclose(beta[c, :s, i], direct, rtol=1e-8, atol=1e-10)
            np.testing.assert_array_equal(beta[c, s:, i], 0.0)


def test_compression_by_blocks_is_the_plain_product():
    drawn = draw(3)
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((5, 24))
    matrix[:2, 10:] = matrix[3, :12] = 0.0
    origin = (Origin("local", 0, 0), Origin("local", 0, 1), Origin("gap", None, 0), Origin("local", 4, 0))
    mixing = Mixing(matrix, (*origin, Origin("gap", None, 1)), nested=False)
    found = compress(drawn.kernels, drawn.problem.targets, mixing)
    np.testing.assert_allclose(found.gram, matrix @ drawn.kernels.train @ matrix.T, atol=1e-10)
    np.testing.assert_allclose(found.targets, (matrix @ drawn.problem.targets).T)


def test_what_does_not_fit_is_refused():
    problem = draw(0).problem
    with pytest.raises(DNTKError, match="24"):
        predict(problem.kernels, problem.targets, selection(np.array([0]), 23), 1e-4)
    huge = mixing_of(np.full((2, 24), 1e9))
    with pytest.raises(DNTKError, match="raise the ridge"):
        predict(problem.kernels, problem.targets, huge, 0.0)
    with pytest.raises(DNTKError, match="origins"):
        Mixing(np.eye(3), (), nested=True)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.distill.kernel_pca import kernel_pca
from dntk_core.distill.ridge_optimal import objective, ridge_optimal
from dntk_core.kernels.class_kernels import Kernels
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import spectrum
from dntk_core.readout.ridge import predict
from tests.synthetic import draw, examples, seeds


def distilled(drawn, ridge, size):
    kernels = drawn.kernels
    return ridge_optimal(kernels, spectrum(kernels.mean), drawn.problem.targets, absolute_ridge(kernels, ridge), size)


@examples
@given(seeds, st.floats(-5, 0), st.integers(3, 6))
def test_one_row_per_class_gives_the_full_readout(seed, exponent, size):
    drawn, ridge = draw(seed), 10.0**exponent
    mixing = distilled(drawn, ridge, size)
    assert mixing.size == 3
    np.testing.assert_allclose(mixing.matrix @ mixing.matrix.T, np.eye(3), atol=1e-12)
    full = predict(drawn.kernels, drawn.problem.targets, None, ridge)
    found = predict(drawn.kernels, drawn.problem.targets, mixing, ridge)
    np.testing.assert_allclose(found, full, atol=1e-8 * np.abs(full).max())


@examples
@given(seeds, st.floats(-5, 0), st.integers(1, 2))
def test_fewer_rows_are_no_worse_than_kernel_pca_in_the_objective(seed, exponent, size):
    drawn, ridge = draw(seed), 10.0**exponent
    lam, targets = absolute_ridge(drawn.kernels, ridge), drawn.problem.targets
    mixing = distilled(drawn, ridge, size)
    start = kernel_pca(spectrum(drawn.kernels.mean), size).matrix
    pairs = zip(drawn.kernels.train, targets.T, strict=True)
    full = sum(y @ np.linalg.solve(K + lam * np.eye(24), y) for K, y in pairs)
    found, reference = (objective(drawn.kernels.train, targets, lam, matrix)[0] for matrix in (mixing.matrix, start))
    assert mixing.size == size
    assert reference * (1 - 1e-9) <= found <= full * (1 + 1e-9)
    np.testing.assert_allclose(mixing.matrix @ mixing.matrix.T, np.eye(size), atol=1e-10)


def test_the_optimum_is_stationary_and_well_above_the_start():
    drawn = draw(0, C=4)
    lam, targets = absolute_ridge(drawn.kernels, 1e-2), drawn.problem.targets
    known = spectrum(drawn.kernels.mean)
    found, gradient = objective(drawn.kernels.train, targets, lam, distilled(drawn, 1e-2, 2).matrix)
    start, steep = objective(drawn.kernels.train, targets, lam, kernel_pca(known, 2).matrix)
    assert found > 1.2 * start
    assert np.linalg.norm(gradient) < 0.05 * np.linalg.norm(steep)


@examples
@given(seeds, st.integers(1, 3))
def test_the_gradient_is_that_of_the_objective(seed, size):
    drawn, generator = draw(seed), np.random.default_rng(seed)
    matrix, step = generator.standard_normal((2, size, 24))
    ahead, behind = (
        objective(drawn.kernels.train, drawn.problem.targets, 0.5, matrix + t * step)[0] for t in (1e-5, -1e-5)
    )
    slope = np.sum(objective(drawn.kernels.train, drawn.problem.targets, 0.5, matrix)[1] * step)
    assert (ahead - behind) / 2e-5 == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_dependent_targets_need_fewer_rows():
    drawn = draw(5)
    kernels = drawn.kernels
    same = np.stack([kernels.train[0]] * 3)
    targets = np.outer(np.arange(24.0), [1.0, -2.0, 0.5])
    mixing = ridge_optimal(Kernels(same, kernels.cross), spectrum(same[0]), targets, 0.1, 3)
    assert mixing.size == 1

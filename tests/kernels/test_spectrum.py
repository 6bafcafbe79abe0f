import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.spectrum import (
    data_redundancy,
    effective_dimension,
    parameter_redundancy,
    spectrum,
    stable_dimension,
    truncation_rank,
)
from tests.synthetic import draw, examples, seeds


@examples
@given(seeds, st.floats(0.0, 1.0), st.sampled_from(["gradients", "kernel"]))
def test_truncation_rank_is_that_of_singular_values_of_the_gradients_or_of_the_kernel(seed, epsilon, energy):
    drawn = draw(seed)
    matrix = drawn.features[0] if energy == "gradients" else drawn.kernels.train[0]
    explained = np.linalg.svd(matrix, compute_uv=False) ** 2
    found = spectrum(drawn.kernels.train[0]).by(energy)
    rank, total = truncation_rank(found.values, epsilon, energy), explained.sum()
    assert explained[:rank].sum() >= (1 - epsilon) * total * (1 - 1e-9)
    assert rank == 1 or explained[: rank - 1].sum() < (1 - epsilon) * total * (1 + 1e-9)
    assert found.rank(epsilon).exact and found.rank(epsilon).low == rank
    assert data_redundancy(found.values, epsilon, energy) == len(found.values) / rank


def test_an_unknown_energy_is_refused():
    with pytest.raises(DNTKError, match="gradients, kernel"):
        truncation_rank(np.ones(3), 0.1, "variance")
    with pytest.raises(DNTKError, match="gradients, kernel"):
        spectrum(np.eye(3)).by("variance")


def test_truncation_rank_takes_any_order_and_clips_negatives():
    assert truncation_rank(np.array([1.0, -1e-9, 9.0]), 0.1) == 1
    assert truncation_rank(np.zeros(4), 0.05) == 1
    assert truncation_rank(np.ones(10), 0.1) == 9


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan")])
def test_shares_outside_the_unit_interval_are_refused(epsilon):
    with pytest.raises(DNTKError, match="epsilon"):
        truncation_rank(np.ones(3), epsilon)


@examples
@given(seeds)
def test_spectrum_decomposes_the_kernel(seed):
    K = draw(seed).kernels.train[0]
    found = spectrum(K)
    assert np.all(np.diff(found.values) <= 0) and found.values[-1] >= 0
    np.testing.assert_allclose(found.vectors * found.values @ found.vectors.T, K, atol=1e-10 * np.trace(K))


@examples
@given(seeds, st.floats(1e-3, 10.0))
def test_effective_dimension_is_the_trace_of_the_smoother(seed, lam):
    K = draw(seed).kernels.mean
    smoother = np.linalg.solve(K + lam * np.eye(len(K)), K)
    assert effective_dimension(spectrum(K).values, lam) == pytest.approx(np.trace(smoother))


def test_effective_dimension_without_ridge_counts_positive_eigenvalues():
    assert effective_dimension(np.array([2.0, 1.0, 0.0]), 0.0) == 2.0
    with pytest.raises(DNTKError):
        effective_dimension(np.ones(2), -1.0)


@examples
@given(seeds)
def test_an_eigenvector_synthesises_a_gradient_of_squared_norm_its_eigenvalue(seed):
    """The paper's remark on synthetic gradients, without its 1/k."""
    drawn = draw(seed)
    found = spectrum(drawn.kernels.train[0])
    synthetic = found.vectors.T @ drawn.features[0]
    np.testing.assert_allclose(np.sum(synthetic**2, axis=1), found.values, atol=1e-9 * found.values[0])


@examples
@given(seeds, st.floats(0.01, 0.5))
def test_parameter_redundancy_bounds_the_error_of_the_best_subspace(seed, delta):
    Phi = draw(seed).features[0]
    K = Phi @ Phi.T
    found = parameter_redundancy(spectrum(K), parameters=1000, k=64, epsilon=delta)
    V = np.linalg.svd(Phi, full_matrices=False)[2][: found.rank]
    error = np.linalg.norm(Phi @ V.T @ V @ Phi.T - K) / np.linalg.norm(K)
    assert found.exact_tail == pytest.approx(error, abs=1e-9)
    assert found.tail >= error - 1e-9
    assert found.factor == 1000 / found.rank
    assert found.epsilon == found.tail + found.jl


def test_the_expected_projection_error_is_met_by_random_projections():
    Phi = draw(3, m=30, k=200).features[0]
    K, k = Phi @ Phi.T, 64
    generator = np.random.default_rng(0)
    errors = []
    for _ in range(40):
        projected = Phi @ generator.standard_normal((200, k)) / np.sqrt(k)
        errors.append(np.linalg.norm(projected @ projected.T - K) ** 2)
    measured = np.sqrt(np.mean(errors)) / np.linalg.norm(K)
    assert parameter_redundancy(spectrum(K), 200, k, 0.05).jl == pytest.approx(measured, rel=0.15)


def test_a_zero_kernel_has_no_redundancy_error():
    found = parameter_redundancy(spectrum(np.zeros((5, 5))), 10, 4, 0.05)
    assert (found.rank, found.epsilon) == (1, 0.0)
    assert stable_dimension(np.zeros(5)) == 0.0

"""Projections of whole gradients: orthonormal where promised, unbiased, error as the lemma says."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.randomness import generator, signs
from dntk_core.gradients.johnson_lindenstrauss import expected_error, guaranteed_epsilon, relative_error, sufficient_k
from dntk_core.gradients.projection import PROJECTIONS, Orthonormal, walsh_hadamard

CPU = torch.device("cpu")
PROJECTING = [name for name in PROJECTIONS if name != "identity"]


def matrix(name: str, seed: int, P: int, k: int) -> np.ndarray:
    """The projection as a matrix (k, P), from its action on the unit vectors."""
    return PROJECTIONS[name](seed, P, k, CPU)(torch.eye(P)).T.double().numpy()


def kernel_with_decay(m: int, P: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((m, P)) * (1 + np.arange(P)) ** -0.5 + 0.1


@pytest.mark.parametrize("name", ["orthonormal", "hadamard"])
@pytest.mark.parametrize("P", [1, 2, 31, 32, 33, 100])
def test_rows_are_exactly_orthonormal_up_to_the_stated_scale(name, P):
    for k in {1, (P + 1) // 2, P}:
        g = matrix(name, 0, P, k)
        np.testing.assert_allclose(g @ g.T * k / P, np.eye(k), atol=1e-5)


def test_sparse_has_one_signed_entry_per_coordinate():
    g = matrix("sparse", 0, 200, 16)
    assert set(np.unique(g)) == {-1.0, 0.0, 1.0} and (np.abs(g).sum(axis=0) == 1).all()


@pytest.mark.parametrize("name", PROJECTING)
def test_a_pure_function_of_seed_P_and_k(name):
    assert np.array_equal(matrix(name, 3, 50, 8), matrix(name, 3, 50, 8))
    assert not np.array_equal(matrix(name, 3, 50, 8), matrix(name, 4, 50, 8))


@pytest.mark.parametrize("name", PROJECTING)
def test_the_mean_over_seeds_converges_to_the_exact_kernel(name):
    Phi = kernel_with_decay(12, 300)
    exact, k, seeds = Phi @ Phi.T, 24, 400
    total = np.zeros_like(exact)
    for seed in range(seeds):
        projected = Phi @ matrix(name, seed, 300, k).T
        total += projected @ projected.T
    # An unbiased estimator's mean has 1/√seeds of its error; a bias of 10 % would stay.
    assert relative_error(total / seeds, exact) < 2.0 * expected_error(exact, k) / np.sqrt(seeds)


@pytest.mark.parametrize("name", PROJECTING)
def test_the_error_is_the_expected_one_and_falls_like_one_over_root_k(name):
    Phi = kernel_with_decay(12, 2048)
    exact = Phi @ Phi.T
    measured = {}
    for k in (32, 128):
        errors = []
        for seed in range(40):
            g = PROJECTIONS[name](seed, 2048, k, CPU)(torch.from_numpy(Phi).float()).double().numpy()
            errors.append(relative_error(g @ g.T, exact))
        measured[k] = np.sqrt(np.mean(np.square(errors)))
        assert 0.7 < measured[k] / expected_error(exact, k) < 1.3
    assert 1.6 < measured[32] / measured[128] < 2.5


@given(st.integers(0, 7), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_walsh_hadamard_is_an_orthonormal_involution(a, seed):
    v = torch.from_numpy(np.random.default_rng(seed).standard_normal((2, 2**a)))
    w = walsh_hadamard(v)
    torch.testing.assert_close(walsh_hadamard(w), v)
    torch.testing.assert_close(w @ w.T, v @ v.T)


def test_a_dense_matrix_that_does_not_fit_is_refused():
    with pytest.raises(DNTKError, match=r"GiB.*hadamard"):
        Orthonormal(0, 11_000_000, 2048, CPU)


@given(st.integers(2, 10**6), st.floats(0.01, 0.99))
def test_the_lemma_both_ways(points, epsilon):
    k = sufficient_k(points, epsilon)
    assert guaranteed_epsilon(points, k) < epsilon <= guaranteed_epsilon(points, k - 1) * (1 + 1e-12)


def test_random_numbers_depend_on_every_name():
    drawn = {generator(seed, name).integers(2**62) for seed in (0, 1) for name in ("a", "b", "a/b")}
    assert len(drawn) == 6
    s = signs(generator(0, "x"), 1000, 3)
    assert s.shape == (1000, 3) and set(np.unique(s)) == {-1.0, 1.0} and abs(s.mean()) < 0.1

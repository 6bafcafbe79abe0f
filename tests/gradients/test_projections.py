"""Projections of whole gradients: orthonormal where promised, unbiased, error as the lemma says."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from jacobians import CPU, features, refusal
from networks import make

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.johnson_lindenstrauss import expected_error, relative_error
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.projections import PROJECTIONS, Projection, of_whole_gradients
from dntk_core.gradients.projections.hadamard import Hadamard, walsh_hadamard
from dntk_core.gradients.projections.orthonormal import Orthonormal
from dntk_core.gradients.projections.sparse import Sparse
from dntk_core.gradients.stream import project_batch, projected_dimension, projector

MAPS = {"orthonormal": Orthonormal, "hadamard": Hadamard, "sparse": Sparse}


def matrix(name: str, seed: int, P: int, k: int) -> np.ndarray:
    """The projection as a matrix (k, P), from its action on the unit vectors."""
    return MAPS[name](seed, P, k, CPU)(torch.eye(P)).T.double().numpy()


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


@pytest.mark.parametrize("name", MAPS)
def test_a_pure_function_of_seed_P_and_k(name):
    assert np.array_equal(matrix(name, 3, 50, 8), matrix(name, 3, 50, 8))
    assert not np.array_equal(matrix(name, 3, 50, 8), matrix(name, 4, 50, 8))


@pytest.mark.parametrize("name", MAPS)
def test_the_mean_over_seeds_converges_to_the_exact_kernel(name):
    Phi = kernel_with_decay(12, 300)
    exact, k, seeds = Phi @ Phi.T, 24, 400
    total = np.zeros_like(exact)
    for seed in range(seeds):
        projected = Phi @ matrix(name, seed, 300, k).T
        total += projected @ projected.T
    # An unbiased estimator's mean has 1/√seeds of its error; a bias of 10 % would stay.
    assert relative_error(total / seeds, exact) < 2.0 * expected_error(exact, k) / np.sqrt(seeds)


@pytest.mark.parametrize("name", MAPS)
def test_the_error_is_the_expected_one_and_falls_like_one_over_root_k(name):
    Phi = kernel_with_decay(12, 2048)
    exact = Phi @ Phi.T
    measured = {}
    for k in (32, 128):
        errors = []
        for seed in range(40):
            g = MAPS[name](seed, 2048, k, CPU)(torch.from_numpy(Phi).float()).double().numpy()
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


class FirstCoordinates:
    """A toy: g(u) = the first k coordinates of u."""

    def __init__(self, seed, P, k, device):
        self.k = k

    def __call__(self, u):
        return u[:, : self.k]


def test_a_new_projection_is_one_row_of_the_table(monkeypatch):
    spec = ProjectionSpec("first", k=5)
    assert "unknown projection 'first'" in refusal(torch.nn.Linear(6, 3), torch.randn(4, 6), spec)
    monkeypatch.setitem(PROJECTIONS, "first", of_whole_gradients(FirstCoordinates))
    module, x, _ = make("convolutions")
    torch.testing.assert_close(features(module, x, spec), features(module, x)[..., :5])


class CountedSignals:
    """A toy that forms no gradients: g = (how many operations sent a signal, how many parameters have no rule)."""

    k, kept = 2, 0

    def __init__(self, network, seed, k, device):
        self.network = network

    def begin(self, calls):
        return len(calls)

    def project(self, state, signals, rest):
        assert state == len(signals) == len(self.network.calls)
        return torch.tensor([float(state), float(len(rest))]).expand(len(signals[0]), 2)


def test_a_new_projection_may_work_layer_by_layer(monkeypatch):
    monkeypatch.setitem(
        PROJECTIONS,
        "counted",
        Projection(CountedSignals, lambda network, k: 0, whole_gradients=False, dimension=lambda k, P: 2),
    )
    module, x, general = make("shared")
    network = prepare(module, x)
    spec = ProjectionSpec("counted", k=2)
    assert projected_dimension(spec, network.P) == 2
    found, _ = project_batch(network, projector(network, spec, CPU), x)
    assert found.unique(dim=1).tolist() == [[[len(network.calls), len(general)]]] * network.classes


def test_a_network_of_fewer_parameters_than_k_keeps_its_gradients_as_they_are():
    module, x, _ = make("shared")
    network = prepare(module, x)
    kept, _ = project_batch(network, projector(network, ProjectionSpec("identity"), CPU), x)
    found, _ = project_batch(network, projector(network, ProjectionSpec("structured", network.P + 1), CPU), x)
    assert torch.equal(found, kept) and found.shape[2] == network.P


def test_identity_keeps_all_parameters():
    assert projected_dimension(ProjectionSpec("identity", k=1), 21) == 21

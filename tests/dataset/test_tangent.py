"""Tangent subspaces of chosen inputs, against dense projectors and exact gradients."""

import numpy as np
import pytest
import torch

from dntk_core.base.errors import DNTKError
from dntk_core.dataset.tangent import (
    capture,
    centred,
    kernel_error,
    of_all_classes,
    one_step,
    reference,
    sensitivities,
    smoothness,
    subspace,
    together,
)

RNG = np.random.default_rng(0)


def decaying(n, k):
    """Gradients (n, k) with a decaying spectrum."""
    return RNG.standard_normal((n, k)) * 0.9 ** np.arange(k) @ np.linalg.qr(RNG.standard_normal((k, k)))[0]


def projector_onto(rows):
    """The dense orthogonal projector onto the span of rows (m, k)."""
    return np.linalg.pinv(rows) @ rows


def test_energy_splits_into_tail_and_misalignment_as_the_dense_projector_says():
    Phi, chosen = decaying(60, 40), decaying(6, 40)
    Pi, sigma = projector_onto(chosen), np.linalg.svd(Phi, compute_uv=False)
    found = capture(reference(Phi), subspace(chosen, 40))
    assert found.rank == 6 and found.total == pytest.approx(np.sum(Phi**2))
    assert found.missed == pytest.approx(np.sum((Phi - Phi @ Pi) ** 2))
    assert found.tail == pytest.approx(np.sum(sigma[6:] ** 2))
    assert found.misalignment > 0 and found.relative > 1 and 0 < found.energy < 1


def test_the_leading_directions_have_no_misalignment():
    Phi = decaying(60, 40)
    best = np.linalg.svd(Phi)[2][:5]
    found = capture(reference(Phi), subspace(best, 40))
    assert found.relative == pytest.approx(1) and found.misalignment == pytest.approx(0, abs=1e-9 * found.total)


@pytest.mark.parametrize("n", [15, 60])
def test_the_kernel_error_is_that_of_the_inducing_points_and_within_its_bound(n):
    Phi, chosen = decaying(n, 40), decaying(6, 40)
    nystrom = Phi @ chosen.T @ np.linalg.pinv(chosen @ chosen.T) @ chosen @ Phi.T
    found = kernel_error(reference(Phi), subspace(chosen, 40))
    assert found.error == pytest.approx(np.linalg.norm(Phi @ Phi.T - nystrom))
    assert found.norm == pytest.approx(np.linalg.norm(Phi @ Phi.T))
    assert found.error <= found.bound


def test_class_kernels_join_as_one_block_diagonal_kernel():
    pairs = [(reference(decaying(20, 40)), subspace(decaying(4, 40), 40)) for _ in range(3)]
    errors, captures = [kernel_error(*pair) for pair in pairs], [capture(*pair) for pair in pairs]
    assert of_all_classes(errors).error == pytest.approx(np.sqrt(sum(e.error**2 for e in errors)))
    assert together(captures).missed == pytest.approx(sum(c.missed for c in captures))
    assert together(captures).rank == 12


def test_a_repeated_input_adds_no_dimension():
    chosen = decaying(5, 40)
    assert subspace(np.concatenate([chosen, chosen[:2]]), 40).rank == 5


def test_a_subspace_that_fills_the_projection_is_refused():
    with pytest.raises(DNTKError, match="project to k >= 60"):
        subspace(RNG.standard_normal((3, 10, 40)), 1000)


def test_centring_is_per_logit():
    features = RNG.standard_normal((3, 7, 5)) + np.arange(3)[:, None, None]
    rows = centred(features).reshape(3, 7, 5)
    np.testing.assert_allclose(rows.mean(axis=1), 0, atol=1e-12)


def test_the_one_step_terms_are_those_of_the_quadratic_models():
    tasks, chosen, L = decaying(30, 400), decaying(8, 400), 2.5
    Pi, update = projector_onto(chosen), RNG.standard_normal(8) @ chosen
    found = one_step(tasks, update, subspace(chosen, 400), L)

    def model(g, step):
        return g @ step + L / 2 * step @ step

    best = [-Pi @ g / L for g in tasks]
    pairs = list(zip(tasks, best, strict=True))
    assert found.residual == pytest.approx(np.mean([np.sum((g - Pi @ g) ** 2) for g in tasks]))
    assert found.decrease == pytest.approx(-np.mean([model(g, step) for g, step in pairs]))
    assert found.regret == pytest.approx(np.mean([model(g, -update / L) - model(g, step) for g, step in pairs]))
    assert found.regret == pytest.approx(L / 2 * np.mean([np.sum((-update / L - step) ** 2) for step in best]))
    assert found.coefficient == pytest.approx(np.mean([-g @ step - g @ update / L for g, step in pairs]))
    # No subspace of that rank leaves less (corollary).
    assert found.residual >= found.tail == pytest.approx(np.sum(np.linalg.svd(tasks)[1][8:] ** 2) / 30)


def test_sensitivities_are_the_gradients_of_the_cross_entropy():
    outputs, labels = torch.randn(6, 4, dtype=torch.float64, requires_grad=True), torch.tensor([0, 1, 2, 3, 0, 1])
    (wanted,) = torch.autograd.grad(torch.nn.functional.cross_entropy(outputs, labels, reduction="sum"), outputs)
    np.testing.assert_allclose(sensitivities(outputs.detach().numpy(), labels.numpy()), wanted.numpy(), atol=1e-12)
    (wanted,) = torch.autograd.grad(torch.nn.functional.nll_loss(outputs, labels, reduction="sum"), outputs)
    found = sensitivities(outputs.detach().numpy(), labels.numpy(), "log_softmax")
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-12)


def test_frozen_features_are_no_rougher_than_the_bound():
    features = RNG.standard_normal((4, 5, 20))
    L = smoothness(features)
    for i in range(5):
        for seed in range(20):
            p = np.random.default_rng(seed).dirichlet(np.full(4, 0.3))
            hessian = features[:, i].T @ (np.diag(p) - np.outer(p, p)) @ features[:, i]
            assert np.linalg.eigvalsh(hessian).max() <= L


def test_what_projection_takes_away_is_given_back():
    """Captured energy from k of P dimensions, against all P: unscaled it would miss a third less."""
    P, k, m = 6000, 300, 100
    Phi, chosen = (RNG.standard_normal((n, P)) / (1 + np.arange(P)) ** 0.3 for n in (200, m))
    missed = np.sum((Phi - Phi @ projector_onto(chosen)) ** 2)
    found = []
    for seed in range(5):
        S = np.random.default_rng(seed).standard_normal((P, k)) / np.sqrt(k)
        found.append(capture(reference(Phi @ S), subspace(chosen @ S, P)).missed)
    assert np.mean(found) == pytest.approx(missed, rel=0.03)

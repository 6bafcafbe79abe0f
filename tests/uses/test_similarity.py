"""Likeness of kernels: by definition, without the projection's bias, as invariants say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.uses.similarity import (
    Halves,
    agreement,
    centred,
    cka,
    halves,
    inner_products,
    leading,
    principal_angles,
    velocity,
)


def drawn(seed: int, m: int = 12, P: int = 40) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(m, P)) * np.geomspace(3, 0.1, P)


def exact_cka(*features: np.ndarray) -> np.ndarray:
    return cka(inner_products([halves(Phi, exact=True) for Phi in features]))


def test_it_is_the_definition():
    K, L = (drawn(seed) @ drawn(seed).T for seed in (0, 1))
    H = np.eye(12) - 1 / 12
    wanted = np.sum((H @ K @ H) * (H @ L @ H)) / (np.linalg.norm(H @ K @ H) * np.linalg.norm(H @ L @ H))
    np.testing.assert_allclose(centred(K), H @ K @ H, atol=1e-10)
    np.testing.assert_allclose(exact_cka(drawn(0), drawn(1))[0, 1], wanted)


@given(st.integers(0, 1000), st.floats(0.1, 10))
def test_it_ignores_scale_and_rotation_and_lies_between_0_and_1(seed, scale):
    Phi, rng = drawn(seed), np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(40, 40)))
    found = exact_cka(Phi, scale * Phi @ Q, drawn(seed + 1))
    np.testing.assert_allclose([found[0, 1], found[0, 0]], 1)
    assert np.all(found >= -1e-12) and np.allclose(found, found.T) and found[0, 2] < 1


def test_halves_take_the_projection_s_bias_away():
    # Two kernels without anything in common but a constant: the same sketch of both makes them look alike.
    rng, k = np.random.default_rng(0), 32
    one, other = drawn(3, P=60), drawn(4, P=60)
    wanted = exact_cka(one, other)[0, 1]
    naive, debiased = [], []
    for _ in range(200):
        S = rng.normal(size=(60, k)) / np.sqrt(k)
        both = [halves(Phi @ S) for Phi in (one, other)]
        debiased.append(inner_products(both))
        naive.append(inner_products([Halves(each.whole, each.whole) for each in both]))
    exact = inner_products([halves(Phi, exact=True) for Phi in (one, other)])
    off = [np.abs(np.mean(found, axis=0) / exact - 1).max() for found in (naive, debiased)]
    assert off[1] < 0.03 < 0.1 < off[0]
    errors = [abs(np.mean([cka(found)[0, 1] for found in each]) - wanted) for each in (naive, debiased)]
    assert errors[1] < errors[0]


def test_halves_of_several_classes_are_those_of_their_mean():
    features = np.stack([drawn(0), drawn(1)])
    found = halves(features)
    parts = [halves(Phi) for Phi in features]
    np.testing.assert_allclose(found.one, (parts[0].one + parts[1].one) / 2)
    np.testing.assert_allclose(found.whole, sum(Phi @ Phi.T for Phi in features) / 2)


def test_angles_velocity_and_agreement():
    U = leading(np.diag([5.0, 4.0, 3.0, 1.0]), 2)
    turned = np.array([[1, 0], [0, np.cos(0.3)], [0, np.sin(0.3)], [0, 0]])
    np.testing.assert_allclose(principal_angles(U, turned), [0, np.degrees(0.3)], atol=1e-5)
    with pytest.raises(DNTKError, match="of one size"):
        principal_angles(U, turned[:, :1])
    similar = np.array([[1, 0.9, 0.5], [0.9, 1, 0.8], [0.5, 0.8, 1]])
    np.testing.assert_allclose(velocity(similar, np.array([0, 1, 5])), [0.1, 0.05])
    assert agreement(np.eye(3), np.eye(3)[[0, 1, 1]]) == pytest.approx(2 / 3)

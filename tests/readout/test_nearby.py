"""Ridge systems at one ridge after another, against a solve of each by itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dntk_core.readout import nearby
from dntk_core.readout.nearby import Factors, solve_nearby


def draw(decay: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((2, 80, 80)))[0]
    values = (1.0 + np.arange(80)) ** -decay
    return (Q * values) @ np.swapaxes(Q, 1, 2), rng.standard_normal((2, 80))


@pytest.mark.parametrize("decay", [0.5, 4.0])
def test_every_ridge_is_solved_as_by_itself(decay):
    gram, targets = draw(decay)
    factors = Factors()
    for lam in (1e-4, 1e-3, 1e-1, 1e-5, 1e-4):
        exact = np.linalg.solve(gram + lam * np.eye(80), targets[..., None])
        assert_allclose(solve_nearby(gram, targets, lam, factors), exact, rtol=1e-5, atol=1e-7 * np.abs(exact).max())


def test_a_near_ridge_needs_no_factor_of_its_own(monkeypatch):
    gram, targets = draw(0.5)
    factors = Factors()
    solve_nearby(gram, targets, 1e-4, factors)
    monkeypatch.setattr(nearby, "_factor", lambda *_: pytest.fail("was factorised again"))
    solve_nearby(gram, targets, 3e-4, factors)


def test_no_direction_without_energy_is_solved_without_a_ridge():
    with pytest.raises(np.linalg.LinAlgError):
        solve_nearby(np.zeros((1, 3, 3)), np.ones((1, 3)), 0.0, Factors())

"""Leave-one-out in closed form against refitting without each input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.kernels.class_kernels import kernels_from_features
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.leave_one_out import leave_one_out
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import evaluate
from tests.synthetic import draw, examples, seeds


@examples
@given(seeds, st.floats(-4, 1))
def test_each_input_is_predicted_by_the_fit_to_all_others(seed, exponent):
    drawn, ridge = draw(seed), 10.0**exponent
    targets, lam = drawn.problem.targets, absolute_ridge(drawn.kernels, ridge)
    left = np.empty_like(targets)
    for i in range(24):
        rest = np.delete(np.arange(24), i)
        for c, K in enumerate(drawn.kernels.train):
            alpha = np.linalg.solve(K[np.ix_(rest, rest)] + lam * np.eye(23), targets[rest, c])
            left[i, c] = K[i, rest] @ alpha
    classes = np.arange(24) % 3
    found = leave_one_out(drawn.kernels, targets, [ridge], classes=classes)
    assert found.accuracy[0] == np.mean(left.argmax(axis=1) == classes)
    assert found.mse[0] == pytest.approx(np.mean((left - targets) ** 2), rel=1e-6)
    assert found.fidelity[0] == np.mean(left.argmax(axis=1) == targets.argmax(axis=1))


def test_it_finds_a_ridge_near_the_best_without_test_data():
    """Also where k is near m, and the smallest ridge is ruinous."""
    ridges = [10.0**power for power in range(-8, 2)]
    for k in (30, 60, 240):
        rng = np.random.default_rng(k)
        w = rng.standard_normal((2, 400))
        train, test = (rng.standard_normal((2, n, 400)) for n in (60, 500))
        R = rng.standard_normal((400, k)) / np.sqrt(k)
        targets, logits = (np.einsum("cik,ck->ic", f, w) for f in (train, test))
        problem = Problem(kernels_from_features(train @ R, test @ R), targets, logits, logits.argmax(axis=1))
        best = leave_one_out(problem.kernels, targets, ridges).best
        errors = [evaluate(problem, None, ridge).mse for ridge in ridges]
        assert evaluate(problem, None, best).mse <= 1.1 * min(errors)

"""Health of kernels against definitions, fresh data and labels that were changed."""

import numpy as np
import pytest
from hypothesis import given

from dntk_core.kernels.class_kernels import kernels_from_features
from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.leave_one_out import leave_one_out
from dntk_core.uses.calibration import auroc
from dntk_core.uses.goals import one_hot
from dntk_core.uses.health import alignment, kare, left_out_and_fitted, suspicion, where_targets_lie
from tests.synthetic import draw, examples, seeds


@examples
@given(seeds)
def test_alignment_is_its_definition(seed):
    drawn = draw(seed)
    y, H = drawn.problem.targets[:, 0], np.eye(24) - 1 / 24
    K = H @ drawn.kernels.train[0] @ H
    expected = np.sum(K * np.outer(y, y)) / (np.linalg.norm(K) * np.sum((H @ y) ** 2))
    for kernels in (drawn.kernels, FeatureKernels(drawn.features, drawn.test_features)):
        modes = kernels.modes(drawn.problem.targets)[0]
        assert alignment(kernels.kernel(0), modes.values, y) == pytest.approx(expected, rel=1e-6)


def test_targets_lie_in_the_direction_that_they_were_made_of():
    drawn = draw(0)
    vector = np.linalg.eigh(drawn.kernels.train[0])[1][:, -2]
    found = where_targets_lie(drawn.kernels.modes(np.tile(vector[:, None], 3))[0])
    np.testing.assert_allclose(found.targets[:3], [0, 1, 1], atol=1e-9)
    assert found.kernel[-1] == pytest.approx(1) and (np.diff(found.kernel) >= -1e-12).all()


def test_kare_is_generalised_cross_validation():
    drawn = draw(1, k=15)
    for kernels in (drawn.kernels, FeatureKernels(drawn.features, drawn.test_features)):
        lam, Y = absolute_ridge(kernels, 1e-2), drawn.problem.targets
        risks = []
        for c, y in enumerate(Y.T):
            G = np.linalg.inv(drawn.kernels.train[c] + lam * np.eye(24))
            risks.append((y @ G @ G @ y / 24) / (np.trace(G) / 24) ** 2)
        assert kare(kernels, kernels.modes(Y), [1e-2])[0] == pytest.approx(np.mean(risks), rel=1e-6)


def test_kare_sees_the_peak_where_there_are_as_many_features_as_inputs():
    rng = np.random.default_rng(0)
    w, train, test = (
        rng.standard_normal((1, 400)),
        rng.standard_normal((1, 60, 400)),
        rng.standard_normal((1, 400, 400)),
    )
    risks, errors = [], []
    for k in (20, 60, 300):
        R = rng.standard_normal((400, k)) / np.sqrt(k)
        kernels = kernels_from_features(train @ R, test @ R)
        y, unseen = train[0] @ w[0], test[0] @ w[0]
        risks.append(kare(kernels, kernels.modes(y[:, None]), [1e-6])[0])
        alpha = np.linalg.solve(kernels.train[0] + absolute_ridge(kernels, 1e-6) * np.eye(60), y)
        errors.append(np.mean((kernels.cross[0] @ alpha - unseen) ** 2))
    assert np.argmax(risks) == np.argmax(errors) == 1
    assert errors[2] / 2 < risks[2] < 2 * errors[2]


def test_votes_are_those_of_all_other_labels_and_wrong_labels_are_outvoted():
    rng = np.random.default_rng(0)
    true = np.repeat(np.arange(3), 30)
    # One feature per class, as gradients of a network that has learnt them are.
    features = np.stack([np.eye(3)[true] + 0.3 * rng.standard_normal((90, 3)) for _ in range(3)])
    kernels = kernels_from_features(features, features)
    flipped = np.zeros(90, dtype=bool)
    flipped[rng.permutation(90)[:8]] = True
    labels = np.where(flipped, (true + 1) % 3, true)
    targets, lam = one_hot(labels, 3), absolute_ridge(kernels, 1.0)
    left, fitted = left_out_and_fitted(kernels.modes(targets), targets, lam)
    found = suspicion(labels, targets, left, fitted)
    assert np.mean((found.votes - targets) ** 2) == pytest.approx(leave_one_out(kernels, targets, [1.0]).mse[0])
    assert auroc(-found.margin, flipped) > 0.98 and (found.vote[flipped] == true[flipped]).mean() > 0.8
    assert (found.order[:3] == np.argsort(found.margin)[:3]).all()
    own = kernels.train[labels[0]]
    S = own @ np.linalg.inv(own + lam * np.eye(90))
    assert found.influence[0] == pytest.approx((S @ targets[:, labels[0]])[0] - found.votes[0, labels[0]])

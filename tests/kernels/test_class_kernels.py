"""The kernels of all classes: as arrays or as features, one answer."""

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.class_kernels import Kernels
from dntk_core.kernels.feature_kernels import FeatureKernels, kernels_by_size
from tests.synthetic import draw


def test_the_path_follows_the_size(monkeypatch):
    Phi = draw(0, m=60).features
    assert kernels_by_size(Phi, Phi).dense
    monkeypatch.setattr("dntk_core.kernels.feature_kernels.LARGEST_DENSE", 59)
    assert not kernels_by_size(Phi, Phi).dense


@pytest.mark.parametrize("kind", ["arrays", "features"])
def test_the_full_readout_and_its_predictions_are_those_of_a_direct_solve(kind):
    drawn = draw(1)
    kernels = drawn.kernels if kind == "arrays" else FeatureKernels(drawn.features, drawn.test_features)
    targets, lam = drawn.problem.targets, 0.3
    alpha = kernels.solve(targets, lam)
    predictions = list(kernels.predict(alpha[..., None]))
    for c, (Phi, test) in enumerate(zip(drawn.features, drawn.test_features, strict=True)):
        direct = np.linalg.solve(Phi @ Phi.T + lam * np.eye(24), targets[:, c])
        np.testing.assert_allclose(alpha[c], direct, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(predictions[c][:, 0], test @ Phi.T @ direct, rtol=1e-7, atol=1e-9)


def test_rows_that_mix_few_inputs_are_multiplied_by_these_alone():
    kernels, matrix = draw(2).kernels, np.random.default_rng(0).standard_normal((4, 24))
    matrix[:2, 9:] = matrix[2:, :9] = 0.0
    blocks = [(np.array([0, 1]), np.arange(9)), (np.array([2, 3]), np.arange(9, 24))]
    np.testing.assert_allclose(np.stack([*kernels.rows_times(matrix, blocks)]), matrix @ kernels.train, atol=1e-10)
    np.testing.assert_allclose(kernels.between(matrix, blocks), matrix @ kernels.train @ matrix.T, atol=1e-10)


@pytest.mark.parametrize(
    ("train", "cross"), [((2, 3, 4), (2, 5, 3)), ((3, 3), (2, 5, 3)), ((2, 3, 3), (1, 5, 3)), ((2, 3, 3), (2, 5, 4))]
)
def test_shapes_that_do_not_fit_are_refused(train, cross):
    with pytest.raises(DNTKError, match=r"kernels must be \("):
        Kernels(np.zeros(train), np.zeros(cross))

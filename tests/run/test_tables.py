"""Tables: complete, and in agreement with what they were made from."""

import numpy as np
import pytest

from dntk_core.distill import METHODS, Source
from dntk_core.kernels.spectrum import spectrum
from dntk_core.readout.ridge import evaluate
from dntk_core.run.tables import gradients_table, predictions_table, spectra_table, weights_table


@pytest.fixture(scope="module")
def mixing(default_run):
    return METHODS["kernel PCA"].distil(Source(default_run.kernels, default_run.targets), 4, 1e-3)


def test_weights_give_the_mixing_back(mixing):
    table = weights_table(mixing)
    matrix = np.zeros_like(mixing.matrix)
    assert table["gradient"].min() == 1
    matrix[table["gradient"] - 1, table["input"] - 1] = table["weight"]
    assert np.array_equal(matrix, mixing.matrix)


def test_gradients_carry_their_soft_labels(default_run, mixing):
    table = gradients_table(default_run.problem, mixing, default_run.class_names)
    labels = table[[f"target {name}" for name in default_run.class_names]].to_numpy()
    np.testing.assert_allclose(labels, mixing.matrix @ default_run.targets)
    assert list(table["origin"]) == [row.kind for row in mixing.origin]


def test_predictions_give_the_scores_back(default_run, mixing):
    table = predictions_table(default_run.problem, mixing, 1e-3, default_run.class_names)
    scores = evaluate(default_run.problem, mixing, 1e-3)
    assert np.mean(table["distilled"] == table["class"]) == pytest.approx(scores.accuracy)
    assert np.mean(table["distilled"] == table["network"]) == pytest.approx(scores.fidelity)


def test_spectra_list_every_eigenvalue(default_run):
    spectra = tuple(map(spectrum, default_run.kernels.train))
    table = spectra_table(spectra, default_run.class_names)
    assert len(table) == sum(len(each.values) for each in spectra)

"""Scores on the command line are those of the library."""

import numpy as np
import pytest

from dntk_core.readout.ridge import evaluate


def test_evaluate_gives_the_numbers_of_the_library(default_run, call):
    result = call("evaluate", "--H", "8", "--tau-v", "0.9", "--tau-g", "0.7", "--ridge", "1e-3")
    full = evaluate(default_run.problem, None, 1e-3)
    assert result["full"]["mse"] == pytest.approx(full.mse) and result["full"]["s"] == 500
    assert result["s"] == sum(result["rows"].values()) and 8 <= result["s"] < 500
    exact = call("evaluate", "--method", "ridge-optimal", "--size", "10")
    np.testing.assert_allclose(exact["scores"]["mse"], exact["full"]["mse"], rtol=1e-6)

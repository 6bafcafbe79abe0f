import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.distill import METHODS, Source
from dntk_core.kernels.class_kernels import Kernels
from dntk_core.kernels.subspace import subspace_coverage
from dntk_core.readout.comparison import compare, comparison_table
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import evaluate
from tests.synthetic import draw

RIDGE = 1e-3


def test_every_number_is_that_of_distilling_and_scoring_alone():
    problem = draw(0, t=40).problem
    source, events = Source(problem.kernels, problem.targets, problem.classes), []
    curves = compare(problem, [5, 9], RIDGE, seeds=[3, 4], report=events.append)
    assert [curve.method for curve in curves] == list(METHODS)
    assert (events[-1].done, events[-1].total) == (len(METHODS), len(METHODS))
    for curve in curves:
        method = METHODS[curve.method]
        draws = [3, 4] if method.random else [3]
        assert curve.accuracy.shape == (len(draws), 2)
        for i, seed in enumerate(draws):
            for j, size in enumerate([5, 9]):
                mixing = method.distil(source, size, RIDGE, seed)
                alone = evaluate(problem, mixing, RIDGE)
                covered = subspace_coverage(problem.kernels.train, mixing.matrix, [mixing.size])
                assert curve.rows[i, j] == mixing.size
                assert (curve.accuracy[i, j], curve.fidelity[i, j]) == (alone.accuracy, alone.fidelity)
                assert curve.mse[i, j] == pytest.approx(alone.mse)
                assert curve.coverage[i, j] == pytest.approx(covered.coverage[0])
                assert curve.reconstruction[i, j] == pytest.approx(covered.reconstruction[0])
        np.testing.assert_allclose(curve.mean("mse"), curve.mse.mean(axis=0))
        np.testing.assert_allclose(curve.std("mse"), curve.mse.std(axis=0))


def test_the_table_has_a_row_per_method_and_says_when_fewer_were_used():
    problem = draw(1).problem
    curves = compare(problem, [5, 9], RIDGE, methods=["kernel PCA", "ridge-optimal"])
    lines = comparison_table(curves).splitlines()
    assert lines[0] == "| method | s = 5 | s = 9 |"
    assert lines[2].startswith("| kernel PCA | ") and "(" not in lines[2]
    first = curves[0]
    assert f"{first.accuracy[0, 0]:.1%} / {first.fidelity[0, 0]:.1%} / {first.mse[0, 0]:.3g}" in lines[2]
    assert lines[3].endswith("(3) |")


def test_settings_are_named_and_sizes_a_method_cannot_make_are_gaps():
    problem = draw(1).problem
    (curve,) = compare(problem, [2, 6], RIDGE, methods=["local-global, paper's H"])
    assert np.isnan(curve.mse[0, 0]) and np.isfinite(curve.mse[0, 1]) and not curve.settings[0]
    table = comparison_table([curve])
    assert "| – |" in table and f"s = 6: {curve.settings[1]}" in table and "H = 5" in curve.settings[1]


def test_two_methods_on_the_same_inputs_are_compared_in_pairs():
    problem = draw(2, t=60).problem
    pca, random = compare(problem, [5], RIDGE, seeds=[0, 1], methods=["kernel PCA", "random"])
    difference, low, high = pca.ahead_of(random, 0)
    assert difference == pytest.approx(pca.mean("accuracy")[0] - random.mean("accuracy")[0])
    assert low < difference < high
    assert pca.ahead_of(pca, 0) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("by", ["paper", "nystrom"])
def test_readouts_are_compared_too(by):
    problem = draw(0, t=40).problem
    (curve,) = compare(problem, [5], RIDGE, methods=["kernel PCA"], by=by)
    mixing = METHODS["kernel PCA"].distil(Source(problem.kernels, problem.targets), 5, RIDGE)
    assert curve.mse[0, 0] == pytest.approx(evaluate(problem, mixing, RIDGE, by).mse)


def test_what_cannot_be_compared_is_refused():
    problem = draw(0).problem
    with pytest.raises(DNTKError, match="PCA2"):
        compare(problem, [2], RIDGE, methods=["PCA2"])
    with pytest.raises(DNTKError, match="0 seeds"):
        compare(problem, [2], RIDGE, seeds=[])
    with pytest.raises(DNTKError, match="sizes"):
        compare(problem, [25], RIDGE)


@pytest.mark.parametrize("kind", ["one direction", "zero", "pairs of equal inputs"])
@pytest.mark.parametrize("method", METHODS)
def test_no_method_gives_nan_on_a_degenerate_kernel(kind, method):
    rng = np.random.default_rng(0)
    C, m, t, P = 3, 20, 7, 5
    Phi = {
        "one direction": rng.standard_normal((C, 1, P)) * rng.uniform(0.5, 2, (1, m, 1)),
        "zero": np.zeros((C, m, P)),
        "pairs of equal inputs": np.repeat(rng.standard_normal((C, m // 2, P)), 2, axis=1),
    }[kind]
    cross = rng.standard_normal((C, t, P)) @ Phi.transpose(0, 2, 1)
    outputs, labels = rng.standard_normal((m + t, C)), rng.integers(0, C, t)
    problem = Problem(Kernels(Phi @ Phi.transpose(0, 2, 1), cross), outputs[:m], outputs[m:], labels)
    (curve,) = compare(problem, [5, 6, 9], 1e-4, range(2), (method,))
    for metric in ("accuracy", "fidelity", "mse", "coverage", "reconstruction"):
        assert np.isfinite(curve.values(metric)).all(), metric
    assert (curve.coverage <= 1 + 1e-9).all() and (curve.reconstruction >= 0).all()

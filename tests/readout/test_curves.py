"""Curves against solving every point on its own."""

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.distill.mixing import selection
from dntk_core.kernels.class_kernels import Kernels
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.conditioning import conditioning
from dntk_core.readout.curves import rank_curve, ridge_curve, size_curve
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import compress, evaluate
from dntk_core.readout.scores import score
from tests.synthetic import draw, with_kernel


def assert_point(curve, i, scores):
    assert (curve.accuracy[i], curve.fidelity[i]) == (scores.accuracy, scores.fidelity)
    assert curve.mse[i] == pytest.approx(scores.mse, rel=1e-8)


@pytest.mark.parametrize("ridge", [1e-6, 1e-3, 1.0])
def test_size_curve(ridge):
    problem = draw(0, m=60, t=50).problem
    mixing = selection(np.random.default_rng(0).permutation(60), 60)
    sizes = np.array([1, 2, 5, 17, 60])
    curve = size_curve(problem, mixing, sizes, ridge)
    lam = absolute_ridge(problem.kernels, ridge)
    for i, size in enumerate(sizes):
        head = mixing.head(size)
        assert_point(curve, i, evaluate(problem, head, ridge))
        gram = compress(problem.kernels, problem.targets, head).gram + lam * np.eye(size)
        assert curve.condition[i] == pytest.approx(np.mean([np.linalg.cond(G) for G in gram]), rel=0.02)
        assert curve.smallest[i] == pytest.approx(np.mean(np.linalg.eigvalsh(gram)[:, 0]), rel=0.02)


def test_rank_curve_solves_with_the_best_rank_r_kernels():
    drawn = draw(2, t=40)
    problem, ranks = drawn.problem, [1, 3, 10, 24]
    curve = rank_curve(problem, ranks, 1e-3)
    lam = absolute_ridge(problem.kernels, 1e-3)
    for i, r in enumerate(ranks):
        columns, condition, smallest = [], [], []
        for c in range(3):
            U, sigma, _ = np.linalg.svd(drawn.features[c], full_matrices=False)
            alpha = U[:, :r] @ np.diag(1 / (sigma[:r] ** 2 + lam)) @ U[:, :r].T @ problem.targets[:, c]
            columns.append(problem.kernels.cross[c] @ alpha)
            condition.append((sigma[0] ** 2 + lam) / (sigma[r - 1] ** 2 + lam))
            smallest.append(sigma[r - 1] ** 2 + lam)
        assert_point(curve, i, score(np.stack(columns, axis=1), problem.logits, problem.labels))
        assert curve.condition[i] == pytest.approx(np.mean(condition), rel=1e-6)
        assert curve.smallest[i] == pytest.approx(np.mean(smallest), rel=1e-6)
    assert_point(curve, 3, evaluate(problem, None, 1e-3))


@pytest.mark.parametrize("mixing", [None, selection(np.array([4, 9, 1, 20]), 24)])
def test_ridge_curve(mixing):
    problem = draw(3, t=40).problem
    ridges = [1e-6, 1e-3, 0.1, 10.0]
    curve = ridge_curve(problem, mixing, ridges)
    gram = problem.kernels.train if mixing is None else compress(problem.kernels, problem.targets, mixing).gram
    for i, ridge in enumerate(ridges):
        assert_point(curve, i, evaluate(problem, mixing, ridge))
        condition, smallest = conditioning(gram, absolute_ridge(problem.kernels, ridge))
        assert curve.condition[i] == pytest.approx(condition.mean())
        assert curve.smallest[i] == pytest.approx(smallest.mean())


@pytest.mark.parametrize("bad", [[], [0], [25]])
def test_impossible_points_are_refused(bad):
    problem = draw(0).problem
    with pytest.raises(DNTKError, match=r"sizes must lie in 1\.\.24"):
        size_curve(problem, selection(np.arange(24), 24), bad, 1e-3)
    with pytest.raises(DNTKError, match=r"ranks must lie in 1\.\.24"):
        rank_curve(problem, bad, 1e-3)


@pytest.mark.parametrize("kernel", [np.zeros((6, 6)), np.ones((6, 6)), np.eye(6)])
@pytest.mark.parametrize("ridge", [0.0, 1e-4])
def test_degenerate_kernels_give_finite_curves(kernel, ridge):
    problem = with_kernel(kernel)
    for curve in (
        size_curve(problem, selection(np.arange(6), 6), range(1, 7), ridge),
        rank_curve(problem, range(1, 7), ridge),
        ridge_curve(problem, None, [ridge]),
    ):
        for values in (curve.accuracy, curve.fidelity, curve.mse, curve.condition, curve.smallest):
            assert np.all(np.isfinite(values))


def test_a_class_with_a_zero_kernel_is_predicted_as_zero():
    problem = draw(4).problem
    train, cross = problem.kernels.train.copy(), problem.kernels.cross.copy()
    train[1] = cross[1] = 0.0
    dead = Problem(Kernels(train, cross), problem.targets, problem.logits, problem.labels)
    curve = size_curve(dead, selection(np.arange(24), 24), [5, 24], 1e-4)
    assert np.all(np.isfinite(curve.condition)) and np.all(np.isfinite(curve.mse))


def test_a_notebook_shows_a_row_for_each_point():
    problem = draw(0, m=60, t=50).problem
    curve = size_curve(problem, selection(np.arange(60), 60), [5, 60], 1e-3)
    rows = curve._repr_html_().split("<tr>")[1:]
    assert len(rows) == 3 and "<th>Accuracy</th>" in rows[0]
    assert rows[2].startswith(f"<td>60</td><td>{curve.accuracy[1]:.1%}</td>") and f"{curve.condition[1]:.3g}" in rows[2]

"""A score or a method is one row of its table: the core and the command line follow, and nothing else is touched.

A toy stage is in run/test_stages.py, a toy source in data/test_sources.py, a toy projection and a toy operation in
gradients/, a toy slider and its figures in dashboard/.
"""

import json

import numpy as np
import pytest

from dntk_core.cli.main import main
from dntk_core.distill import METHODS, Method, selection
from dntk_core.readout import METRICS, Judged, Metric
from dntk_core.readout.comparison import compare, comparison_table
from dntk_core.readout.curves import rank_curve, ridge_curve, size_curve
from dntk_core.readout.grid import grid_search
from dntk_core.readout.ridge import evaluate, predict
from dntk_core.readout.scores import score
from dntk_core.run.export import export_distilled
from dntk_core.run.live import Live
from tests.synthetic import draw

RIDGE = 1e-3


@pytest.fixture
def worst(monkeypatch):
    """A score: the largest error of any logit."""

    def function(judged: Judged) -> np.ndarray:
        return np.abs(judged.predictions - judged.logits.T[..., None]).max(axis=(0, 1))

    monkeypatch.setitem(METRICS, "worst", Metric(function, "Worst logit", ".4f", higher=False, log=True))


@pytest.fixture
def latest(monkeypatch):
    """A method: the last inputs."""

    def function(source, size, lam, generator):
        return selection(np.arange(source.m)[: -size - 1 : -1], source.m)

    monkeypatch.setitem(METHODS, "latest", Method(function, "the last inputs", nested=True, selects=True))


def answer(capsys, *words):
    """What a command prints for scripts."""
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def worst_of(problem, mixing, ridge=RIDGE):
    return np.abs(predict(problem.kernels, problem.targets, mixing, ridge) - problem.logits).max()


def test_a_new_score_is_a_row_of_metrics(worst):
    problem = draw(0, t=40).problem
    mixing = selection(np.arange(24), 24)
    for size in (4, 24):
        head = mixing.head(size)
        assert evaluate(problem, head, RIDGE)["worst"] == pytest.approx(worst_of(problem, head))
    assert "Worst logit" in evaluate(problem, mixing, RIDGE)._repr_html_()
    assert score(problem.logits, problem.logits, problem.labels)["worst"] == 0.0
    sized = size_curve(problem, mixing, [4, 24], RIDGE)["worst"]
    np.testing.assert_allclose(sized, [worst_of(problem, mixing.head(size)) for size in (4, 24)])
    assert rank_curve(problem, [24], RIDGE)["worst"] == pytest.approx(worst_of(problem, None))
    ridged = ridge_curve(problem, mixing, [1e-3, 1.0])["worst"]
    np.testing.assert_allclose(ridged, [worst_of(problem, mixing, ridge) for ridge in (1e-3, 1.0)])


def test_a_new_score_judges_grids_and_methods(worst):
    problem = draw(0, t=40).problem
    grid = grid_search(problem, [2, 4], [0.5, 0.9], [0.5, 1.0], RIDGE)
    assert grid["worst"].shape == grid.s.shape
    # Less is better: the smallest of all cells, if no larger set than any other as good, is never beaten.
    least = np.flatnonzero(grid["worst"].ravel() == grid["worst"].min())
    smallest = least[np.argmin(grid.s.ravel()[least])]
    assert grid.pareto("worst").ravel()[smallest]
    (curve,) = compare(problem, [5], RIDGE, methods=["kernel PCA"])
    expected = worst_of(problem, Live(problem).distil("kernel PCA", 5, RIDGE))
    assert curve.mean("worst")[0] == pytest.approx(expected)
    assert f"/ {expected:.4f} |" in comparison_table([curve])


def test_a_new_score_is_on_the_command_line_and_in_exports(worst, default_run, capsys, tmp_path):
    words = ("--run", default_run.key, "--ridge", RIDGE)
    mixing = Live(default_run.problem).distil("kernel PCA", 3, RIDGE)
    expected = pytest.approx(worst_of(default_run.problem, mixing))
    result = answer(capsys, "evaluate", *words, "--method", "kernel PCA", "--size", 3)
    assert result["scores"]["worst"] == expected and result["full"]["worst"] < result["scores"]["worst"]
    assert main(["evaluate", "--run", default_run.key, "--method", "kernel PCA", "--size", "3"]) == 0
    assert "Worst logit" in capsys.readouterr().out
    manifest = export_distilled(default_run, mixing, tmp_path / "set.npz", RIDGE).manifest
    assert manifest["metrics"]["worst"] == expected


def test_a_new_method_is_a_row_of_methods(latest):
    problem = draw(0, t=40).problem
    curves = {curve.method: curve for curve in compare(problem, [5, 9], RIDGE, seeds=[0])}
    last = selection(np.arange(23, 14, -1), 24)
    assert list(curves) == list(METHODS)
    assert curves["latest"].mse[0, 1] == pytest.approx(evaluate(problem, last, RIDGE).mse)
    assert "| latest |" in comparison_table(list(curves.values()))
    live = Live(problem)
    np.testing.assert_array_equal(live.distil("latest", 9, RIDGE).matrix, last.matrix)
    assert live.compare([5], RIDGE, seeds=[0])[-1].method == "latest"


def test_a_new_method_and_a_new_score_are_compared_on_the_command_line(latest, worst, default_run, capsys):
    result = answer(capsys, "evaluate", "--run", default_run.key, "--method", "latest", "--size", 4, "--ridge", RIDGE)
    last = selection(np.arange(499, 495, -1), 500)
    assert result["method"] == "latest" and result["scores"]["mse"] == evaluate(default_run.problem, last, RIDGE).mse
    rows = answer(capsys, "compare", "--run", default_run.key, "--sizes", 5, "--seeds", 1)
    assert [row["method"] for row in rows] == list(METHODS)
    assert all(row["worst"][0] > 0 and row["worst_std"] == [0.0] for row in rows)
    assert main(["completion", "bash"]) == 0
    assert " latest)" in capsys.readouterr().out

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.distill import METHODS, Source
from dntk_core.distill.local_global import local_global
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.readout.bounds import error_budget
from dntk_core.readout.curves import rank_curve, ridge_curve, size_curve
from dntk_core.readout.grid import grid_search
from dntk_core.readout.ridge import evaluate
from dntk_core.run.live import Live
from tests.synthetic import draw

RIDGE = 1e-3


@pytest.fixture(scope="module")
def live():
    return Live(draw(0, t=40).problem, seed=3)


def test_algorithm_1_and_its_scores_are_the_plain_ones(live):
    K = live.problem.kernels.mean
    for ridge in (1e-5, 1e-2):
        mixing = local_global(K, spectral_clusters(K, 5, 3), 0.8, 0.9, "union")
        np.testing.assert_array_equal(live.local_global(5, 0.8, 0.9, "union").matrix, mixing.matrix)
        assert live.scores(live.local_global(5, 0.8, 0.9, "union"), ridge) == evaluate(live.problem, mixing, ridge)


def test_grid_and_curves_are_the_plain_ones(live):
    plain = grid_search(live.problem, [2, 5], [0.5, 0.9], [0.5, 1.0], RIDGE, seed=3)
    np.testing.assert_array_equal(live.grid([2, 5], [0.5, 0.9], [0.5, 1.0], RIDGE).mse, plain.mse)
    mixing = METHODS["herding"].distil(
        Source(live.problem.kernels, live.problem.targets, live.problem.classes), 8, RIDGE
    )
    np.testing.assert_array_equal(
        live.size_curve("herding", [2, 8], RIDGE).mse, size_curve(live.problem, mixing, [2, 8], RIDGE).mse
    )
    np.testing.assert_allclose(live.rank_curve([3, 9], RIDGE).mse, rank_curve(live.problem, [3, 9], RIDGE).mse)
    np.testing.assert_array_equal(
        live.ridge_curve(mixing, [1e-3, 1.0]).mse, ridge_curve(live.problem, mixing, [1e-3, 1.0]).mse
    )
    assert live.scores(mixing, RIDGE) == evaluate(live.problem, mixing, RIDGE)


def test_the_full_scores_agree_with_the_full_readout(live):
    full = evaluate(live.problem, None, RIDGE)
    found = live.scores(None, RIDGE)
    assert (found.accuracy, found.fidelity) == (full.accuracy, full.fidelity)
    assert found.mse == pytest.approx(full.mse)
    assert live.rank_scores(24, RIDGE) == found


def test_conditioning_and_budget_are_the_plain_ones(live):
    mixing = live.distil("kernel PCA", 6, RIDGE)
    condition, smallest = live.conditioning(mixing, RIDGE)
    shifted = mixing.matrix @ live.problem.kernels.train @ mixing.matrix.T + live.lam(RIDGE) * np.eye(6)
    np.testing.assert_allclose(condition, [np.linalg.cond(K) for K in shifted])
    np.testing.assert_allclose(smallest, np.linalg.eigvalsh(shifted)[:, 0])
    np.testing.assert_allclose(live.error_budget(RIDGE).bias, error_budget(live.problem, RIDGE).bias)


def test_methods_by_name_and_seed(live):
    same = live.distil("random", 5, RIDGE)
    np.testing.assert_array_equal(same.matrix, live.distil("random", 5, RIDGE, seed=3).matrix)
    assert not np.array_equal(same.matrix, live.distil("random", 5, RIDGE, seed=4).matrix)
    assert live.compare([3], RIDGE, seeds=[0], methods=["herding"])[0].mse.shape == (1, 1)
    with pytest.raises(DNTKError, match="one of random"):
        live.distil("coreset", 5, RIDGE)
    with pytest.raises(DNTKError, match="one of random"):
        live.size_curve("coreset", [5], RIDGE)
    with pytest.raises(DNTKError, match=r"0\.\.2"):
        live.spectrum(3)


def test_a_method_without_an_order_is_scored_size_by_size(live):
    curve = live.size_curve("local-global", [3, 6, 9], RIDGE)
    for i, size in enumerate(curve.x):
        mixing = next(m for s in (3, 6, 9) if (m := live.distil("local-global", s, RIDGE)).size == size)
        alone = size_curve(live.problem, mixing, [size], RIDGE)
        for field in ("accuracy", "fidelity", "mse", "condition", "smallest"):
            np.testing.assert_allclose(getattr(curve, field)[i], getattr(alone, field)[0], rtol=1e-6)


def test_sessions_that_share_it_see_the_same_numbers():
    problem = draw(1, t=40).problem
    shared, places = Live(problem, limit=200_000), [(H, tau_v) for H in (2, 4, 6) for tau_v in (0.5, 0.7, 0.9)] * 4
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda place: shared.scores(shared.local_global(*place, 0.9, "union"), RIDGE), places))
    for place, scores in zip(places, found, strict=True):
        alone = Live(problem)
        assert scores == alone.scores(alone.local_global(*place, 0.9, "union"), RIDGE)


def test_what_a_slider_does_not_change_is_not_computed_again(monkeypatch):
    live = Live(draw(0, t=40).problem)
    mixing, calls = live.local_global(4, 0.8, 0.8), []
    plain = live.scores(mixing, 1e-3), live.scores(None, 1e-3)
    monkeypatch.setattr("dntk_core.run.rotating.compress", lambda *args: calls.append("compress"))
    monkeypatch.setattr("dntk_core.run.live.rank_curve", lambda *args: calls.append("full"))
    # Another ridge needs the same products; another τ_v the same full readout.
    live.scores(live.local_global(4, 0.8, 0.8), 1e-2)
    assert (live.scores(mixing, 1e-3), live.scores(None, 1e-3)) == plain and not calls


def test_a_size_too_small_for_a_method_is_left_out_of_its_curve(live):
    assert live.size_curve("local-global, paper's H", [2, 8], RIDGE).x[0] >= 5
    with pytest.raises(DNTKError, match="too few"):
        live.size_curve("local-global, paper's H", [2, 3], RIDGE)


def test_methods_are_distilled_once_for_both_readouts(live, monkeypatch):
    plain = live.compare([2, 4], RIDGE, [0], ("ridge-optimal", "herding"))
    monkeypatch.setattr("dntk_core.distill.methods.Method.distil", lambda *_: pytest.fail("was distilled before"))
    other = live.compare([2, 4], RIDGE, [0], ("ridge-optimal", "herding"), by="nystrom")
    for ours, theirs in zip(plain, other, strict=True):
        assert np.array_equal(ours.rows, theirs.rows) and not np.allclose(ours.mse, theirs.mse)

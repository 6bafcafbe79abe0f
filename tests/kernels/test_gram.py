"""Kernels kept as features against the same kernels as arrays."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dntk_core.base.errors import DNTKError
from dntk_core.distill import METHODS, Source, local_global
from dntk_core.kernels import spectrum as spectra
from dntk_core.kernels.class_kernels import Kernels, kernels_by_size, kernels_from_features
from dntk_core.kernels.clusters import embed, spectral_clusters
from dntk_core.kernels.gram import Crosses, Gram, Grams
from dntk_core.kernels.spectrum import spectrum, truncation_rank
from dntk_core.kernels.structure import containment, coverage
from dntk_core.readout.bounds import error_budget, projection_bound
from dntk_core.readout.curves import rank_curve, ridge_curve, size_curve
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import evaluate, predict
from dntk_core.run.live import Live

C, m, t, k = 3, 60, 25, 40


@pytest.fixture(scope="module")
def both() -> tuple[Problem, Problem]:
    """One problem with dense kernels, and with features in float32 as they come from the engine."""
    rng = np.random.default_rng(0)
    decay = np.exp(-np.arange(k) / 6)
    centres = np.abs(rng.standard_normal((4, k)))

    def draw(count):
        group = np.arange(count) % 4
        points = (centres[group] + 0.2 * rng.standard_normal((C, count, k))) * decay
        return points.astype(np.float32)

    train, test = draw(m), draw(t)
    weights = rng.standard_normal((C, k))
    targets, logits = (np.einsum("cik,ck->ic", f.astype(float), weights) for f in (train, test))
    rest = targets, logits, logits.argmax(axis=1)
    lazy = Kernels(Grams(train), Crosses(test, train))
    return Problem(kernels_from_features(train, test), *rest), Problem(lazy, *rest)


@pytest.fixture
def few(monkeypatch):
    """Only some of the eigenpairs."""
    monkeypatch.setattr(spectra, "LEADING", 12)
    monkeypatch.setattr(spectra, "OVERSAMPLED", 8)


def test_a_gram_answers_like_the_array(both):
    dense, lazy = both
    V = np.random.default_rng(1).standard_normal((m, 5))
    for K, G in [(dense.kernels.mean, lazy.kernels.mean), (dense.kernels.train[1], lazy.kernels.train[1])]:
        assert len(G) == m and G.shape == (m, m)
        for ours, theirs in [
            (G @ V, K @ V),
            (V.T @ G, V.T @ K),
            (G[3], K[3]),
            (G[:, 4], K[:, 4]),
            (G.diagonal(), np.diag(K)),
            (G.mean(axis=1), K.mean(axis=1)),
            (G.sum(), K.sum()),
            (G.trace(), np.trace(K)),
        ]:
            assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12 * np.trace(K))
    assert_allclose(lazy.kernels.cross[2] @ V, dense.kernels.cross[2] @ V, rtol=1e-10)
    assert_allclose([lazy.kernels.scale, *lazy.kernels.traces], [dense.kernels.scale, *dense.kernels.traces])


def test_the_path_follows_the_size(monkeypatch, both):
    features = both[1].kernels.train.features
    assert kernels_by_size(features, features).dense
    monkeypatch.setattr("dntk_core.kernels.class_kernels.LARGEST_DENSE", m - 1)
    assert not kernels_by_size(features, features).dense


def test_leading_eigenpairs_ranks_and_the_trace(both, few):
    dense, lazy = both
    whole, part = spectrum(dense.kernels.mean), spectrum(lazy.kernels.mean)
    assert part.vectors.shape == (m, 12) and part.values.shape == (m,)
    assert_allclose(part.leading[:8], whole.values[:8], rtol=1e-6)
    assert_allclose(part.values.sum(), whole.values.sum(), rtol=1e-10)
    assert_allclose(np.abs(np.sum(part.vectors[:, :6] * whole.vectors[:, :6], axis=0)), 1.0, atol=1e-6)
    for epsilon in (0.5, 0.2, 0.1, 0.05):
        assert truncation_rank(part.values, epsilon) == truncation_rank(whole.values, epsilon) <= 12


def test_clusters_are_the_same_where_no_cosine_is_negative(both, few):
    dense, lazy = both
    assert dense.kernels.mean.min() > 0
    labels = spectral_clusters(lazy.kernels.mean, 4)
    assert np.array_equal(labels, spectral_clusters(dense.kernels.mean, 4))
    assert embed(lazy.kernels.mean, 5).vectors.shape == (m, 5)


def test_with_every_eigenpair_nothing_differs(both):
    dense, lazy = both
    labels = np.arange(m) % 4
    K, G = dense.kernels.mean, lazy.kernels.mean
    for measure in (containment, coverage):
        ours, theirs = measure(G, labels, 0.1), measure(K, labels, 0.1)
        for name in vars(theirs):
            assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-6)
    for rule in ("ratio", "union"):
        ours, theirs = local_global(G, labels, 0.9, 0.9, rule), local_global(K, labels, 0.9, 0.9, rule)
        assert ours.origin == theirs.origin
        assert_allclose(ours.matrix.T @ ours.matrix, theirs.matrix.T @ theirs.matrix, atol=1e-6)


def test_algorithm_1_hardly_changes_with_few_eigenpairs(both, few):
    dense, lazy = both
    labels = np.arange(m) % 4
    mixings = [local_global(kernel, labels, 0.8, 0.8, "union") for kernel in (dense.kernels.mean, lazy.kernels.mean)]
    assert mixings[0].counts == mixings[1].counts
    scores = [evaluate(dense, mixing, 1e-3) for mixing in mixings]
    assert scores[0].mse == pytest.approx(scores[1].mse, rel=0.02)


@pytest.mark.parametrize("ridge", [1e-6, 1e-2])
def test_readouts_and_curves(both, ridge):
    dense, lazy = both
    mixing = METHODS["kernel PCA"].distil(Source(dense.kernels, dense.targets), 10, ridge, 0)
    for chosen in (None, mixing):
        ours, theirs = (predict(problem.kernels, problem.targets, chosen, ridge) for problem in (lazy, dense))
        assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())
    for curve in (
        lambda problem: size_curve(problem, mixing, [2, 5, 10], ridge),
        lambda problem: ridge_curve(problem, mixing, [ridge, 1.0]),
        lambda problem: rank_curve(problem, [1, 5, 30, m], ridge),
        lambda problem: ridge_curve(problem, None, [ridge, 1.0]),
    ):
        ours, theirs = curve(lazy), curve(dense)
        assert np.array_equal(ours.fidelity, theirs.fidelity)
        assert_allclose(ours.mse, theirs.mse, rtol=1e-5, atol=1e-12)
        assert_allclose(ours.condition, theirs.condition, rtol=1e-4)


@pytest.mark.parametrize("ridge", [1e-6, 1e-2])
def test_the_error_budget(both, ridge):
    # Targets that no gradient explains: all of them are bias.
    dense, lazy = (replace(problem, targets=problem.targets + np.cos(np.arange(m))[:, None]) for problem in both)
    ours, theirs = error_budget(lazy, ridge), error_budget(dense, ridge)
    for name in vars(theirs):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-4, err_msg=name)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_distils_both(both, name):
    dense, lazy = both
    for size in (2, 4):
        ours, theirs = (METHODS[name].distil(Source(p.kernels, p.targets), size, 1e-3, 0) for p in (lazy, dense))
        assert ours.origin == theirs.origin
        assert evaluate(lazy, ours, 1e-3).mse == pytest.approx(evaluate(dense, theirs, 1e-3).mse, rel=1e-3, abs=1e-9)


def test_a_live_object_works_on_features(both):
    dense, lazy = map(Live, both)
    assert lazy.local_global_scores(4, 0.9, 0.9, 1e-3).mse == pytest.approx(
        dense.local_global_scores(4, 0.9, 0.9, 1e-3).mse, rel=1e-4
    )
    ours, theirs = (live.grid([2, 4], [0.7, 0.9], [0.5, 0.9], 1e-3) for live in (lazy, dense))
    assert np.array_equal(ours.s, theirs.s)
    assert_allclose(ours.mse, theirs.mse, rtol=1e-4)
    assert lazy.scores(None, 1e-3).mse == pytest.approx(dense.scores(None, 1e-3).mse, rel=1e-4)


def test_what_needs_dense_kernels_says_so(both):
    lazy = both[1]
    for ask in (
        lambda: size_curve(lazy, None, [3], 1e-3),
        lambda: projection_bound(lazy.kernels, lazy.targets, 10, 1e-3),
    ):
        with pytest.raises(DNTKError, match="inputs"):
            ask()


def test_products_go_tile_by_tile(both, monkeypatch):
    monkeypatch.setattr("dntk_core.kernels.gram.TILE", 7)
    dense, lazy = both
    assert_allclose(Gram(lazy.kernels.train.features) @ np.eye(m), dense.kernels.mean, rtol=1e-9, atol=1e-9)

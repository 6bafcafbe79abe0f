"""Every method of the table, and each against its definition on materialised gradients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.distill import METHODS, Source, TooFew, local_global
from dntk_core.distill.averaging import centroids, medoids
from dntk_core.distill.budget import local_global_within
from dntk_core.distill.farthest import farthest_point
from dntk_core.distill.herding import herding
from dntk_core.distill.kernel_pca import kernel_pca
from dntk_core.distill.leverage import leverage, leverage_scores, tail_ridge
from dntk_core.distill.pivoted_cholesky import pivoted_cholesky
from dntk_core.distill.source import ANY_H
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.spectrum import spectrum
from dntk_core.kernels.subspace import subspace_coverage
from dntk_core.readout.ridge import evaluate
from tests.synthetic import draw, examples, seeds, with_kernel


def source_of(problem):
    return Source(problem.kernels, problem.targets, problem.classes)


def stacked(drawn):
    """Gradients of all logits side by side, scaled so that their Gram matrix is the mean kernel: (m, Ck)."""
    C = len(drawn.features)
    return np.concatenate(list(drawn.features), axis=1) / np.sqrt(C)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", [2, 5, 24])
def test_every_method_keeps_to_its_size_and_its_seed(name, size):
    source = source_of(draw(0).problem)
    if size < 5 and "paper's H" in name:
        with pytest.raises(TooFew, match="5 or more"):
            METHODS[name].distil(source, size, 1e-3)
        return
    mixing = METHODS[name].distil(source, size, 1e-3, seed=4)
    assert 1 <= mixing.size <= size and mixing.matrix.shape[1] == 24
    np.testing.assert_array_equal(mixing.matrix, METHODS[name].distil(source, size, 1e-3, seed=4).matrix)
    other = METHODS[name].distil(source, size, 1e-3, seed=5)
    if size == 5:
        assert np.array_equal(other.matrix, mixing.matrix) != METHODS[name].random


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].nested])
def test_nested_methods_are_nested(name):
    source = source_of(draw(1).problem)
    large = METHODS[name].distil(source, 20, 1e-3, seed=1)
    small = METHODS[name].distil(source, 6, 1e-3, seed=1)
    assert large.nested and small.nested
    np.testing.assert_array_equal(large.head(6).matrix, small.matrix)
    assert large.head(6).origin == small.origin


@pytest.mark.parametrize("name", METHODS)
def test_only_methods_that_say_so_look_at_the_targets(name):
    problem = draw(2).problem
    changed = Source(problem.kernels, problem.targets[::-1] ** 2, problem.classes)
    size = 2 if METHODS[name].uses_targets else 5
    before = METHODS[name].distil(source_of(problem), size, 1e-3).matrix
    after = METHODS[name].distil(changed, size, 1e-3).matrix
    assert np.array_equal(before, after) != METHODS[name].uses_targets


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kernel", [np.zeros((6, 6)), np.ones((6, 6)), np.diag([1.0, 1, 1, 0, 0, 0])])
@pytest.mark.parametrize("ridge", [0.0, 1e-4])
def test_degenerate_kernels_give_finite_scores(name, kernel, ridge):
    problem = with_kernel(kernel)
    for size in (5, 6):
        mixing = METHODS[name].distil(source_of(problem), size, ridge)
        assert np.all(np.isfinite(mixing.matrix))
        assert np.isfinite(evaluate(problem, mixing, ridge).mse)


@pytest.mark.parametrize("size", [0, 25])
def test_impossible_sizes_are_refused(size):
    with pytest.raises(DNTKError, match=r"1\.\.24"):
        METHODS["random"].distil(source_of(draw(0).problem), size, 1e-3)


def test_one_gradient_is_too_few_for_two_clusters():
    with pytest.raises(DNTKError, match="too few"):
        METHODS["local-global"].distil(source_of(draw(0).problem), 1, 1e-3)


@examples
@given(seeds)
def test_farthest_point_is_greedy_in_feature_space(seed):
    drawn = draw(seed)
    Phi = stacked(drawn)
    chosen = [row.index for row in farthest_point(drawn.kernels.mean, 8).origin]
    assert chosen[0] == np.argmin(np.sum((Phi - Phi.mean(axis=0)) ** 2, axis=1))
    for q in range(1, 8):
        nearest = np.min([np.sum((Phi - Phi[i]) ** 2, axis=1) for i in chosen[:q]], axis=0)
        assert nearest[chosen[q]] == pytest.approx(nearest.max())


@examples
@given(seeds)
def test_herding_follows_the_mean_gradient(seed):
    drawn = draw(seed)
    Phi = stacked(drawn)
    chosen = [row.index for row in herding(drawn.kernels.mean, 8).origin]
    for q in range(8):
        gain = Phi @ (Phi.mean(axis=0) - Phi[chosen[:q]].sum(axis=0) / (q + 1))
        free = np.setdiff1d(np.arange(24), chosen[:q])
        assert gain[chosen[q]] == pytest.approx(gain[free].max())


@examples
@given(seeds, st.floats(1e-3, 10))
def test_leverage_scores_are_the_smoothers_diagonal(seed, lam):
    K = draw(seed).kernels.mean
    expected = np.diag(np.linalg.solve(K + lam * np.eye(24), K))
    np.testing.assert_allclose(leverage_scores(spectrum(K), np.diag(K), lam), expected, atol=1e-9)


def test_leverage_draws_in_proportion_to_the_scores():
    K = np.diag([8.0, 1.0, 1.0, 0.0])
    known, generator = spectrum(K), np.random.default_rng(0)
    # The ridge of one direction is what the others hold, 2.
    scores = np.array([0.8, 1 / 3, 1 / 3, 0])
    draws = [leverage(known, np.diag(K), 1, generator) for _ in range(4000)]
    first = np.array([draw.origin[0].index for draw in draws])
    np.testing.assert_allclose(np.bincount(first, minlength=4) / 4000, scores / scores.sum(), atol=0.03)
    # Weighted, the draws are those of a uniform one on average.
    weights = np.array([draw.matrix.max() ** 2 for draw in draws])
    mean = np.array([weights[first == i].sum() for i in range(3)]) / 4000
    np.testing.assert_allclose(mean, 0.25, atol=0.03)


def test_leverage_tells_inputs_apart_where_the_readouts_ridge_does_not():
    """At a ridge of 1e-4 every input looks needed; at that of s directions they differ."""
    known = spectrum(draw(0, m=60, k=80).kernels.mean)
    diagonal = np.zeros(60)
    small = leverage_scores(known, diagonal, 1e-6 * known.trace)
    right = leverage_scores(known, diagonal, tail_ridge(known, 5))
    assert small.std() / small.mean() < 0.1 * right.std() / right.mean()
    assert tail_ridge(known, 5) == pytest.approx(known.values[5:].sum() / 5)


def test_random_inputs_are_drawn_evenly_by_class():
    problem = draw(0, m=60).problem
    classes = np.repeat([0, 1, 2], [40, 15, 5])
    source = Source(problem.kernels, problem.targets, classes)
    drawn = [row.index for row in METHODS["random"].distil(source, 30, 1e-3, seed=1).origin]
    for size in (3, 9, 15):
        assert set(np.bincount(classes[drawn[:size]], minlength=3)) == {size // 3}
    assert len(set(drawn)) == 30


@examples
@given(seeds, st.integers(1, 10))
def test_pivoted_cholesky_never_repeats_what_is_explained(seed, rank):
    """With features of a given rank, so many pivots span them all."""
    drawn = draw(seed, C=1, k=rank)
    mixing = pivoted_cholesky(drawn.kernels.mean, rank, np.random.default_rng(seed))
    assert np.linalg.matrix_rank(mixing.matrix @ drawn.features[0]) == rank


def test_pivoted_cholesky_draws_by_the_residual_diagonal():
    Phi = np.array([[3.0, 0.0], [0.0, 1.0], [3.0, 1.0]])
    K, generator = Phi @ Phi.T, np.random.default_rng(0)
    pairs = [tuple(row.index for row in pivoted_cholesky(K, 2, generator).origin) for _ in range(4000)]
    first = np.bincount([i for i, _ in pairs], minlength=3) / 4000
    np.testing.assert_allclose(first, np.array([9, 1, 10]) / 20, atol=0.03)
    # After input 0 both others keep the same residual, 1.
    second = [j for i, j in pairs if i == 0]
    assert np.mean(np.array(second) == 1) == pytest.approx(0.5, abs=0.05)


@examples
@given(seeds, st.integers(1, 10))
def test_centroids_average_and_medoids_are_nearest(seed, size):
    drawn = draw(seed)
    Phi, whole = stacked(drawn), spectrum(drawn.kernels.mean)
    means = centroids(whole, size, np.random.default_rng(seed)).matrix
    chosen = [row.index for row in medoids(whole, size, np.random.default_rng(seed)).origin]
    np.testing.assert_array_equal((means > 0).sum(axis=0), 1)
    for row, index in zip(means, chosen, strict=True):
        members = np.flatnonzero(row)
        np.testing.assert_allclose(row @ Phi, Phi[members].mean(axis=0), atol=1e-12)
        distance = np.sum((Phi[members] - row @ Phi) ** 2, axis=1)
        assert index in members
        assert np.sum((Phi[index] - row @ Phi) ** 2) == pytest.approx(distance.min(), abs=1e-9)


@examples
@given(seeds, st.integers(1, 24))
def test_no_orthonormal_rows_capture_more_than_kernel_pca(seed, size):
    """Ky Fan's maximum principle."""
    K = draw(seed).kernels.mean
    rows = kernel_pca(spectrum(K), size).matrix
    others = np.linalg.qr(np.random.default_rng(seed).standard_normal((24, size)))[0].T
    best = np.trace(rows @ K @ rows.T)
    assert best == pytest.approx(np.linalg.eigvalsh(K)[::-1][:size].sum())
    assert np.trace(others @ K @ others.T) <= best + 1e-9


def test_the_budgeted_local_global_beats_each_setting_it_could_have_chosen():
    source = source_of(draw(3).problem)
    kernel, decompositions = source.kernel, source.decompositions(ANY_H)
    for size in (3, 6, 12):
        best = local_global_within(kernel, decompositions, size)
        covered = subspace_coverage([kernel], best.matrix, [size]).coverage[0]
        for parts in decompositions:
            if parts.H <= size:
                alone = local_global_within(kernel, [parts], size)
                assert covered >= subspace_coverage([kernel], alone.matrix, [size]).coverage[0] - 1e-9
        assert best.size <= size and set(best.counts) <= {"local", "gap"}


def test_the_budgeted_local_global_is_algorithm_1_at_the_setting_it_names():
    source = source_of(draw(3).problem)
    for name, size in (("local-global", 7), ("local-global, paper's H", 12)):
        found = METHODS[name].distil(source, size, 1e-3)
        setting = found.setting
        labels = spectral_clusters(source.kernel, setting.H)
        again = local_global(source.kernel, labels, setting.tau_v, setting.tau_g, setting.rule)
        np.testing.assert_allclose(found.matrix, again.matrix, atol=1e-12)
        assert str(setting) in found.description
    assert setting.H in (5, 10, 15, 20)

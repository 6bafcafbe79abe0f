"""Kernels kept as features against the same kernels as arrays, the solver forced to take the way of many inputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dntk_core.base.errors import DNTKError
from dntk_core.distill import METHODS, Source
from dntk_core.kernels import clusters, features, krylov
from dntk_core.kernels.class_kernels import kernels_from_features
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.spectrum import ENERGIES, Spectrum, spectrum, truncation_rank
from dntk_core.readout.bounds import error_budget
from dntk_core.readout.curves import rank_curve, ridge_curve, size_curve
from dntk_core.readout.leave_one_out import leave_one_out
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import evaluate, predict
from dntk_core.run.live import Live

C, t = 3, 40
DECAYS = {"fast": lambda j: np.exp(-j / 12), "slow": lambda j: (1.0 + j) ** -0.5}


def force_solver(patch: pytest.MonkeyPatch) -> None:
    """Send every kernel of more than 40 inputs to the solver."""
    patch.setattr(features, "FEW", 40)
    patch.setattr(features, "FORMED", 40)


def draw(decay: str, m: int, k: int) -> tuple[Problem, Problem]:
    """One problem with dense kernels, and with features in float32 as they come from the engine."""
    rng = np.random.default_rng(0)
    scales = DECAYS[decay](np.arange(k))
    centres = rng.standard_normal((8, k))

    def sample(count):
        group = np.arange(count) % 8
        return ((centres[group] + rng.standard_normal((C, count, k))) * scales).astype(np.float32)

    train, test = sample(m), sample(t)
    weights = rng.standard_normal((C, k))
    targets, logits = (np.tanh(np.einsum("cik,ck->ic", f.astype(float), weights)) for f in (train, test))
    rest = targets, logits, logits.argmax(axis=1)
    return Problem(kernels_from_features(train, test), *rest), Problem(FeatureKernels(train, test), *rest)


@pytest.fixture(scope="module", params=DECAYS)
def both(request) -> tuple[Live, Live]:
    """600 inputs with a fast and with a slow spectrum; every kernel of more than 40 inputs goes to the solver."""
    with pytest.MonkeyPatch.context() as patch:
        force_solver(patch)
        patch.setattr(krylov, "BLOCK", 32)
        yield tuple(Live(problem) for problem in draw(request.param, 600, 400))


@pytest.fixture(scope="module")
def small() -> tuple[Problem, Problem]:
    return draw("fast", 60, 40)


def test_ranks_and_dimensions_are_those_of_the_array(both):
    dense, lazy = both
    for c in (None, 0, 2):
        ours, theirs = lazy.spectrum(c), dense.spectrum(c)
        for epsilon in (0.5, 0.2, 0.1, 0.05, 0.01):
            assert ours.by("kernel").rank(epsilon) == theirs.by("kernel").rank(epsilon)
            assert ours.rank(epsilon) == theirs.rank(epsilon)
            assert ours.rank(epsilon).exact and ours.rank(epsilon).low == truncation_rank(theirs.values, epsilon)
        for lam in (dense.lam(1e-4), dense.lam(1.0)):
            exact = theirs.dimension(lam).low
            assert ours.dimension(lam).low * (1 - 1e-6) <= exact <= ours.dimension(lam).high * (1 + 1e-6)
            assert c is None or ours.dimension(lam).low == pytest.approx(exact, rel=1e-4)


def test_the_trace_left_over_is_never_spread_over_more_values_than_there_are(monkeypatch):
    """m = 600, k = 100: no class kernel has a rank beyond k."""
    force_solver(monkeypatch)
    lazy = draw("slow", 600, 100)[1].kernels
    for epsilon in (0.05, 0.005, 0.0):
        assert spectrum(lazy.kernel(1)).rank(epsilon).high <= 100
        assert spectrum(lazy.kernel()).rank(epsilon).high <= 300


@pytest.mark.parametrize("decay", DECAYS)
def test_where_too_few_pairs_are_found_bounds_are_given_that_hold(decay, monkeypatch):
    dense, lazy = draw(decay, 600, 400)
    force_solver(monkeypatch)
    monkeypatch.setattr(krylov, "BLOCK", 32)
    monkeypatch.setattr(krylov, "MOST", 128)
    ours, theirs = spectrum(lazy.kernels.kernel()), spectrum(dense.kernels.kernel())
    assert not ours.complete and not ours.rank(0.005).exact
    assert_allclose(ours.values, theirs.values[: len(ours.values)], rtol=krylov.RESIDUAL)
    for epsilon in (0.5, 0.1, 0.05, 0.005):
        for energy in ENERGIES:
            bounds = ours.by(energy).rank(epsilon)
            assert bounds.low <= theirs.by(energy).rank(epsilon).low <= bounds.high
    assert f"{ours.rank(0.005):,}" == f"{ours.rank(0.005).low:,}–{ours.rank(0.005).high:,}"
    lam = 1e-3 * dense.kernels.scale
    assert ours.dimension(lam).low <= theirs.dimension(lam).low <= ours.dimension(lam).high
    parts = Live(lazy).coverage(8, 0.005)
    assert len(parts.union) == len(ours.values) and parts.bounds == ours.rank(0.005)


@pytest.mark.parametrize("energy", ENERGIES)
def test_bounds_hold_wherever_a_spectrum_was_broken_off(energy):
    rng = np.random.default_rng(0)
    for _ in range(100):
        values = np.sort(rng.exponential(size=rng.integers(2, 40)) ** 3)[::-1]
        whole, known = len(values), rng.integers(1, len(values))
        part = Spectrum(values[:known], np.empty((whole, known)), values.sum(), whole, energy)
        for epsilon in (0.3, 0.05, 0.01):
            bounds = part.rank(epsilon)
            assert bounds.low <= truncation_rank(values, epsilon, energy) <= bounds.high


@pytest.mark.parametrize("decay", DECAYS)
def test_where_few_pairs_say_too_little_all_are_computed_if_the_kernel_can_be_formed(decay, monkeypatch):
    """A fast spectrum ends with the leading pairs, a slow one with all 600."""
    dense, lazy = draw(decay, 600, 400)
    monkeypatch.setattr(features, "FEW", 40)
    monkeypatch.setattr(krylov, "BLOCK", 32)
    ours, theirs = spectrum(lazy.kernels.kernel()), spectrum(dense.kernels.kernel())
    assert ours.complete == (decay == "slow") and ours.rank(0.01) == theirs.rank(0.01)


def test_clusters_are_the_same(both):
    dense, lazy = both
    assert dense.kernel().rows(np.arange(600)).min() < 0
    for H in (2, 8, 20):
        assert np.array_equal(lazy.labels(H), dense.labels(H))


def test_landmarks_find_the_clusters_that_all_inputs_find(both, monkeypatch):
    dense, lazy = both
    monkeypatch.setattr(clusters, "EVERY", 300)
    monkeypatch.setattr(clusters, "LANDMARKS", 300)
    labels = spectral_clusters(lazy.kernel(), 8)
    together = labels[:, None] == labels
    expected = dense.labels(8)[:, None] == dense.labels(8)
    assert np.mean(together == expected) > 0.97


def test_properties_a_and_b(both):
    dense, lazy = both
    for c in (None, 1):
        ours, theirs = (live.containment(8, 0.05, c) for live in (lazy, dense))
        assert ours.global_rank == theirs.global_rank
        assert np.array_equal(ours.local_ranks, theirs.local_ranks)
        assert_allclose(ours.curves, theirs.curves, atol=2e-3)
        assert_allclose(ours.table, theirs.table, atol=2e-3)
        ours, theirs = (live.coverage(8, 0.05, c) for live in (lazy, dense))
        assert ours.uncovered == pytest.approx(theirs.uncovered, abs=1e-4)
        assert ours.misaligned == pytest.approx(theirs.misaligned, abs=1e-3)


@pytest.mark.parametrize("rule", ["ratio", "union"])
def test_algorithm_1(both, rule):
    dense, lazy = both
    for tau_v, tau_g in ((0.6, 0.5), (0.9, 0.8), (0.95, 0.95)):
        ours, theirs = (live.local_global(8, tau_v, tau_g, rule) for live in (lazy, dense))
        assert ours.counts == theirs.counts
        # The share of one span that the other holds.
        Q, P = (np.linalg.qr(mixing.matrix.T)[0] for mixing in (ours, theirs))
        assert np.sum((Q.T @ P) ** 2) / min(Q.shape[1], P.shape[1]) > 0.995
        for by in ("paper", "nystrom"):
            left, right = (live.scores(mixing, 1e-3, by) for live, mixing in ((lazy, ours), (dense, theirs)))
            assert left.mse == pytest.approx(right.mse, rel=0.02)
            assert abs(left.fidelity - right.fidelity) <= 1 / t + 1e-9


def test_the_grid_and_the_full_readout(both):
    dense, lazy = both
    ours, theirs = (live.grid([2, 8], [0.7, 0.9], [0.5, 0.9], 1e-3) for live in (lazy, dense))
    assert np.array_equal(ours.local, theirs.local) and np.array_equal(ours.gap, theirs.gap)
    assert_allclose(ours.mse, theirs.mse, rtol=0.02)
    assert lazy.scores(None, 1e-3).mse == pytest.approx(dense.scores(None, 1e-3).mse, rel=1e-4)


def test_products_rows_and_blocks(small, monkeypatch):
    monkeypatch.setattr(features, "TILE", 7)
    monkeypatch.setattr(features, "CACHED", 8 * 7 * small[1].kernels.features.shape[2])
    dense, lazy = small
    V, index = np.random.default_rng(1).standard_normal((60, 5)), np.array([3, 1, 59])
    for c in (None, 1):
        ours, theirs = lazy.kernels.kernel(c), dense.kernels.kernel(c)
        for left, right in (
            (ours.times(V), theirs.times(V)),
            (ours.times(V[:, 0]), theirs.times(V[:, 0])),
            (ours.rows(index), theirs.rows(index)),
            (ours.block(index, index[:2]), theirs.block(index, index[:2])),
            (ours.diagonal(), theirs.diagonal()),
            (ours.trace(), theirs.trace()),
            (ours.restrict(index).rows(np.arange(3)), theirs.restrict(index).rows(np.arange(3))),
        ):
            assert_allclose(left, right, rtol=1e-9, atol=1e-12 * theirs.trace())
    ours, theirs = lazy.kernels, dense.kernels
    assert ours.shape == theirs.shape
    assert_allclose(ours.traces, theirs.traces)
    assert_allclose(ours.scale, theirs.scale)
    assert_allclose(ours.between(V.T), theirs.between(V.T), rtol=1e-9)
    assert_allclose(np.stack([*ours.rows_times(V.T)]), np.stack([*theirs.rows_times(V.T)]), rtol=1e-9, atol=1e-9)
    with pytest.raises(DNTKError, match=r"0\.\.2"):
        ours.kernel(3)


@pytest.mark.parametrize("ridge", [1e-6, 1e-2])
def test_readouts_curves_and_budgets(small, ridge):
    dense, lazy = small
    mixing = METHODS["kernel PCA"].distil(Source(dense.kernels, dense.targets), 10, ridge, 0)
    for chosen in (None, mixing):
        for by in ("paper", "nystrom"):
            ours, theirs = (predict(problem.kernels, problem.targets, chosen, ridge, by) for problem in (lazy, dense))
            assert_allclose(ours, theirs, atol=2e-4 * np.abs(theirs).max())
    for curve in (
        lambda problem: size_curve(problem, mixing, [2, 5, 10], ridge),
        lambda problem: ridge_curve(problem, mixing, [ridge, 1.0]),
        lambda problem: rank_curve(problem, [1, 5, 30, 60], ridge),
        lambda problem: ridge_curve(problem, None, [ridge, 1.0]),
    ):
        ours, theirs = curve(lazy), curve(dense)
        assert_allclose(ours.mse, theirs.mse, rtol=1e-3, atol=1e-12)
        assert_allclose(ours.condition, theirs.condition, rtol=1e-3)
    ours, theirs = (error_budget(problem, ridge) for problem in (lazy, dense))
    for name in vars(theirs):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-3, err_msg=name)
    ours, theirs = (leave_one_out(problem.kernels, problem.targets, [ridge]) for problem in (lazy, dense))
    assert_allclose(ours.mse, theirs.mse, rtol=1e-3)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_distils_both(small, name):
    dense, lazy = small
    ours, theirs = (METHODS[name].distil(Source(p.kernels, p.targets), 6, 1e-3, 0) for p in (lazy, dense))
    assert ours.origin == theirs.origin
    assert evaluate(lazy, ours, 1e-3).mse == pytest.approx(evaluate(dense, theirs, 1e-3).mse, rel=1e-3, abs=1e-9)


def test_more_rows_than_features_score_as_the_mixing_itself():
    """600 inputs, 30 features a class: from some τ_v on weights of features are solved for, not those of rows."""
    lazy = Live(draw("slow", 600, 30)[1])
    sizes = []
    for tau_v, tau_g in ((0.8, 0.99), (0.75, 0.99), (0.4, 0.99), (0.2, 0.5), (0.95, 0.5)):
        mixing = lazy.local_global(8, tau_v, tau_g, "union")
        sizes.append(mixing.size)
        for ridge in (1e-3, 1e-2, 1.0):
            ours, theirs = lazy.scores(mixing, ridge), evaluate(lazy.problem, mixing, ridge)
            assert ours.mse == pytest.approx(theirs.mse, rel=1e-3)
        ours, theirs = lazy.ridge_curve(mixing, [1e-3, 1.0]), ridge_curve(lazy.problem, mixing, [1e-3, 1.0])
        assert_allclose(ours.mse, theirs.mse, rtol=1e-3)
        assert_allclose(ours.condition, theirs.condition, rtol=1e-3)
    assert min(sizes) < 30 < max(sizes)


def test_rows_met_once_score_as_the_mixing_itself(both):
    """Whatever τ_v, τ_g and the ridge, a choice of rows is what applying the mixing gives."""
    _, lazy = both
    for tau_v, tau_g, ridge in ((0.7, 0.9, 1e-3), (0.6, 0.99, 1e-2), (0.85, 0.5, 1e-3)):
        mixing = lazy.local_global(8, tau_v, tau_g)
        ours, theirs = lazy.scores(mixing, ridge), evaluate(lazy.problem, mixing, ridge)
        assert ours.mse == pytest.approx(theirs.mse, rel=1e-4)
        assert_allclose(mixing.averaged(lazy.problem.targets), mixing.matrix @ lazy.problem.targets, atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_that_are_not_finite_are_refused_although_their_checksum_fits(bad):
    phi = np.ones((C, 50, 6), np.float32)
    phi[1, 7, 2] = bad
    kernels = FeatureKernels(phi, np.ones((C, t, 6), np.float32))
    # The scale of every ridge, and what every spectrum is a share of.
    for look in (lambda: kernels.scale, lambda: kernels.kernel(1).trace(), lambda: kernels.kernel(None).trace()):
        with pytest.raises(DNTKError, match="not finite; delete the run"):
            look()

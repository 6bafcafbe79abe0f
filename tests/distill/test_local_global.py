"""Algorithm 1 against its pseudo-code, run literally on materialised gradients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.distill.local_global import local_global, local_global_of
from dntk_core.distill.mixing import Setting
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.decomposition import decompose
from dntk_core.kernels.spectrum import ENERGIES
from tests.synthetic import draw, examples, random_labels, seeds


def rank_at(values, tau_v):
    shares = np.cumsum(values) / values.sum()
    return int(np.argmax(shares >= tau_v - 1e-12)) + 1


def pseudo_code(features, labels, tau_v, tau_g, rule, power):
    """Follow the paper line by line, with c_j the maximum over clusters: Φ̂ rows (s, C, k), local and gap counts.

    power: 1, or 2 where ranks are by squared singular values
    """
    K = np.mean([Phi @ Phi.T for Phi in features], axis=0)
    m = len(K)
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    r_g = rank_at(values.clip(0) ** power, tau_v)
    ratio, union = np.zeros(r_g), np.zeros(r_g)
    synthetic, directions = [], []
    for h in range(labels.max() + 1):
        members = np.flatnonzero(labels == h)
        U, sigma, _ = np.linalg.svd(K[np.ix_(members, members)])
        U = U[:, : rank_at(sigma**power, tau_v)]
        for j in range(r_g):
            u = vectors[members, j]
            energy = np.sum((U @ (U.T @ u)) ** 2)
            ratio[j] = max(ratio[j], energy / (u @ u))
            union[j] += energy
        for u in U.T:
            synthetic.append(np.stack([Phi[members].T @ u for Phi in features]))
            directions.append(np.zeros(m))
            directions[-1][members] = u
    local = len(directions)
    covered = ratio if rule == "ratio" else union
    for j in np.flatnonzero(covered < tau_g):
        synthetic.append(np.stack([Phi.T @ vectors[:, j] for Phi in features]))
        directions.append(vectors[:, j])
    R = np.linalg.qr(np.stack(directions, axis=1))[1]
    diagonal = np.abs(np.diag(R))
    kept = np.flatnonzero(diagonal > 1e-8 * diagonal.max())
    return [synthetic[i] for i in kept], local, len(directions) - local


def same_up_to_sign_and_order(found, expected):
    """Match gradients by their outer products, which do not know a sign."""
    found = np.array([np.outer(each, each) for each in found])
    for each in expected:
        distance = np.abs(found - np.outer(each, each)).max(axis=(1, 2))
        if distance.min() > 1e-6 * np.abs(found).max():
            return False
        found = np.delete(found, distance.argmin(), axis=0)
    return len(found) == 0


@examples
@given(
    seeds,
    st.integers(1, 4),
    st.floats(0.2, 0.9),
    st.floats(0.0, 0.95),
    st.sampled_from(["ratio", "union"]),
    st.sampled_from(["gradients", "kernel"]),
)
def test_the_rows_synthesise_the_gradients_of_the_pseudo_code(seed, H, tau_v, tau_g, rule, energy):
    drawn, labels = draw(seed, C=2, k=30), random_labels(seed, 24, H)
    mixing = local_global(drawn.kernels.mean, labels, tau_v, tau_g, rule, energy)
    expected, local, gap = pseudo_code(drawn.features, labels, tau_v, tau_g, rule, ENERGIES[energy])
    assert mixing.counts["local"] == local
    assert mixing.counts["gap"] + mixing.removed == gap
    found = [(mixing.matrix @ drawn.features)[:, i].ravel() for i in range(mixing.size)]
    assert same_up_to_sign_and_order(found, [each.ravel() for each in expected])


@examples
@given(seeds, st.integers(1, 8), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.sampled_from(["ratio", "union"]))
def test_kept_rows_are_independent_and_removed_ones_add_nothing(seed, H, tau_v, tau_g, rule):
    K, labels = draw(seed).kernels.mean, random_labels(seed, 24, H)
    parts = decompose(K, labels)
    mixing = local_global_of(parts, tau_v, tau_g, rule)
    assert np.linalg.matrix_rank(mixing.matrix, tol=1e-9) == mixing.size
    everything = local_global_of(parts, tau_v, 1.0, rule)
    assert np.linalg.matrix_rank(np.vstack([everything.matrix, mixing.matrix]), tol=1e-7) == everything.size


def test_dependent_gaps_are_removed_and_counted():
    K, labels = draw(0).kernels.mean, random_labels(0, 24, 2)
    parts = decompose(K, labels)
    # Local ranks that leave few dimensions free, and every direction a gap.
    mixing = local_global_of(parts, 0.98, 1.0, "union")
    assert (mixing.counts["local"], mixing.counts["gap"], mixing.removed) == (21, 3, 15)
    directions = np.vstack([mixing.matrix, parts.spectrum.vectors.T[: mixing.counts["gap"] + mixing.removed]])
    assert np.linalg.matrix_rank(directions, tol=1e-7) == mixing.size


def test_gaps_are_orthogonalised_in_the_order_of_their_index_as_in_the_paper():
    """Of dependent directions the first by index stays, however well each is covered."""
    K, labels = draw(0).kernels.mean, random_labels(0, 24, 2)
    parts = decompose(K, labels)
    mixing = local_global_of(parts, 0.98, 1.0, "union")
    kept = [row.index for row in mixing.origin if row.kind == "gap"]
    basis, expected = mixing.matrix[: mixing.counts["local"]], []
    for j, u in enumerate(parts.spectrum.vectors.T[: len(kept) + mixing.removed]):
        stacked = np.vstack([basis, u])
        if np.linalg.matrix_rank(stacked, tol=1e-7) == len(stacked):
            basis = stacked
            expected.append(j)
    assert kept == expected
    assert mixing.setting == Setting(2, 0.98, 1.0, "union")
    assert mixing.description == "H = 2, τ_v = 0.98, τ_g = 1 (union): 21 local + 3 gap"


def test_origins_tell_cluster_and_rank():
    K, labels = draw(1).kernels.mean, random_labels(1, 24, 3)
    mixing = local_global(K, labels, 0.7, 0.9, "union")
    assert {"local", "gap"} == set(mixing.counts)
    for row, origin in zip(mixing.matrix, mixing.origin, strict=True):
        if origin.kind == "local":
            members = np.flatnonzero(labels == origin.cluster)
            vectors = np.linalg.eigh(K[np.ix_(members, members)])[1]
            assert abs(row[members] @ vectors[:, -1 - origin.index]) == pytest.approx(1.0)
        else:
            assert abs(row @ np.linalg.eigh(K)[1][:, -1 - origin.index]) == pytest.approx(1.0)


def test_the_ratio_rule_is_fooled_by_a_single_input_and_the_union_rule_is_not():
    K = draw(2).kernels.mean
    labels = np.append(np.zeros(23, dtype=int), 1)
    assert local_global(K, labels, 0.6, 0.99, "ratio").counts["gap"] == 0
    assert local_global(K, labels, 0.6, 0.999, "union").counts["gap"] > 0


@pytest.mark.parametrize(("tau_v", "tau_g"), [(-0.1, 0.5), (1.1, 0.5), (0.5, -0.1), (0.5, 1.1), (float("nan"), 0.5)])
def test_thresholds_outside_the_unit_interval_are_refused(tau_v, tau_g):
    with pytest.raises(DNTKError, match=r"tau_[vg] must lie in \[0, 1\]"):
        local_global(np.eye(4), np.array([0, 0, 1, 1]), tau_v, tau_g)


def test_an_unknown_rule_is_refused():
    with pytest.raises(DNTKError, match="ratio, union"):
        local_global(np.eye(4), np.zeros(4, dtype=int), 0.5, 0.5, "max")


@pytest.mark.parametrize("kernel", [np.zeros((6, 6)), np.ones((6, 6))])
@pytest.mark.parametrize("rule", ["ratio", "union"])
def test_degenerate_kernels_are_distilled(kernel, rule):
    for H in (1, 2, 6):
        mixing = local_global(kernel, spectral_clusters(kernel, H), 0.95, 1.0, rule)
        assert np.all(np.isfinite(mixing.matrix)) and mixing.counts["local"] >= H

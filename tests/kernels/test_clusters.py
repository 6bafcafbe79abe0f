import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.clusters import affinity, cluster_embedding, embed, spectral_clusters
from dntk_core.kernels.kmeans import kmeans
from tests.synthetic import draw, examples, seeds


def blocks(sizes):
    return np.eye(len(sizes)).repeat(sizes, axis=0).repeat(sizes, axis=1)


def test_separate_blocks_are_found():
    sizes = [5, 9, 3, 7]
    noise = np.random.default_rng(0).standard_normal((24, 24)) * 0.05
    labels = spectral_clusters(blocks(sizes) + noise @ noise.T + np.eye(24), 4)
    np.testing.assert_array_equal(labels, np.repeat(np.arange(4), sizes))


def test_affinity_is_the_clipped_cosine():
    Phi = draw(2).features[0]
    W = affinity(Phi @ Phi.T)
    for i in range(len(Phi)):
        for j in range(i):
            cosine = Phi[i] @ Phi[j] / np.linalg.norm(Phi[i]) / np.linalg.norm(Phi[j])
            assert W[i, j] == pytest.approx(max(cosine, 0.0))


@examples
@given(seeds, st.integers(1, 24))
def test_every_cluster_is_used_and_the_seed_decides(seed, H):
    K = draw(seed).kernels.mean
    labels = spectral_clusters(K, H, seed=7)
    np.testing.assert_array_equal(np.unique(labels), np.arange(H))
    np.testing.assert_array_equal(labels, spectral_clusters(K, H, seed=7))
    np.testing.assert_array_equal(labels, cluster_embedding(embed(K), H, 7))


@pytest.mark.parametrize("kernel", [np.zeros((9, 9)), np.ones((9, 9)), -np.ones((9, 9)) + 2 * np.eye(9)])
@pytest.mark.parametrize("H", [1, 2, 5, 9])
def test_degenerate_kernels_still_give_full_clusters(kernel, H):
    np.testing.assert_array_equal(np.unique(spectral_clusters(kernel, H)), np.arange(H))


@pytest.mark.parametrize("H", [0, 10])
def test_more_clusters_than_inputs_are_refused(H):
    with pytest.raises(DNTKError, match=r"1\.\.9"):
        spectral_clusters(np.eye(9), H)
    with pytest.raises(DNTKError, match=r"1\.\.9"):
        kmeans(np.eye(9), H, np.random.default_rng(0))


def test_more_clusters_than_embedding_dimensions():
    K = draw(0, m=60).kernels.mean
    assert len(np.unique(spectral_clusters(K, 58))) == 58


@examples
@given(seeds, st.integers(1, 12))
def test_kmeans_ends_where_no_point_prefers_another_centre(seed, H):
    points = np.random.default_rng(seed).standard_normal((40, 3))
    labels = kmeans(points, H, np.random.default_rng(0), iterations=500)
    centres = np.stack([points[labels == h].mean(axis=0) for h in range(H)])
    distances = np.sum((points[:, None] - centres) ** 2, axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), labels)


def test_kmeans_keeps_the_best_of_its_starts():
    generator = np.random.default_rng(1)
    centres = np.array([[0, 0], [1, 0], [0, 1], [30, 0], [31, 0], [30, 1], [0, 30], [1, 30]])
    truth = np.append(np.arange(8), generator.integers(8, size=92))
    points = centres[truth] + 0.05 * generator.standard_normal((100, 2))
    alone = [np.array_equal(kmeans(points, 8, np.random.default_rng(seed), restarts=1), truth) for seed in range(20)]
    assert not all(alone)
    for seed in range(20):
        np.testing.assert_array_equal(kmeans(points, 8, np.random.default_rng(seed), restarts=30), truth)


@pytest.mark.parametrize("H", [1, 3, 5])
def test_equal_points_still_fill_every_cluster(H):
    labels = kmeans(np.repeat([[1.0, 2.0], [3.0, 4.0]], [4, 1], axis=0), H, np.random.default_rng(0))
    np.testing.assert_array_equal(np.unique(labels), np.arange(H))

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.clusters import affinity, cluster_embedding, embed, spectral_clusters
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


def test_more_clusters_than_embedding_dimensions():
    K = draw(0, m=60).kernels.mean
    assert len(np.unique(spectral_clusters(K, 58))) == 58

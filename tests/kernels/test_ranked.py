"""A kernel shared out among processes, here threads that wait for each other, against the same kernel alone."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dntk_core.kernels import features, krylov, ranked
from dntk_core.kernels.features import FeatureKernel
from dntk_core.kernels.ranked import RankedKernel
from dntk_core.kernels.together import Alone

M, K = 203, 30


class Threads:
    """One of several threads."""

    def __init__(self, rank: int, places: list, barrier: Barrier):
        self.rank, self.size, self._places, self._barrier = rank, len(places), places, barrier

    def _all(self, array):
        self._places[self.rank] = array
        self._barrier.wait(60)
        found = [*self._places]
        self._barrier.wait(60)
        return found

    def sum(self, array):
        return np.sum(self._all(array), axis=0)

    def gather(self, array):
        return np.concatenate(self._all(array))


@pytest.fixture(autouse=True)
def as_of_many_inputs(monkeypatch):
    monkeypatch.setattr(ranked, "FEW", 40)
    monkeypatch.setattr(features, "FEW", 40)
    monkeypatch.setattr(features, "FORMED", 40)
    monkeypatch.setattr(krylov, "BLOCK", 16)
    for module in (ranked, features):
        monkeypatch.setattr(module, "TILE", 50)


def test_three_find_by_lanczos_what_one_finds():
    """To the rounding of float32, in which they multiply."""
    rng = np.random.default_rng(0)
    Phi = (rng.standard_normal((2, M, K)) * np.exp(-np.arange(K) / 4)).astype(np.float32)
    barrier, places = Barrier(3), [None] * 3
    kernels = [RankedKernel(Phi, Threads(rank, places, barrier)) for rank in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = [*pool.map(lambda kernel: kernel.eigenpairs(), kernels)]
    alone, exact = RankedKernel(Phi, Alone()).eigenpairs(), FeatureKernel(Phi).formed().eigenpairs()
    for each in found:
        assert each.vectors.shape == (M, len(each.values)) == alone.vectors.shape
        assert_allclose(each.values, alone.values, rtol=1e-5)
        assert_allclose(np.abs(np.sum(each.vectors[:, :5] * exact.vectors[:, :5], axis=0)), 1.0, atol=1e-3)
    assert_allclose(found[0].values[:5], exact.values[:5], rtol=1e-4)

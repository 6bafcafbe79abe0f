"""Leading eigenpairs by block Lanczos, against a full decomposition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from dntk_core.kernels import features, krylov
from dntk_core.kernels.features import FeatureKernel
from dntk_core.kernels.krylov import leading_eigenpairs
from dntk_core.kernels.spectrum import spectrum
from tests.synthetic import examples, seeds


@examples
@given(seeds, st.floats(0.5, 3.0))
def test_what_it_finds_are_eigenpairs_that_hold_all_but_a_little_of_the_trace(seed, power):
    """200 eigenvalues j^-power, in a random basis."""
    rng = np.random.default_rng(seed)
    U, exact = np.linalg.qr(rng.standard_normal((200, 200)))[0], np.arange(1.0, 201) ** -power
    K = (U * exact) @ U.T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(krylov, "BLOCK", 16)
        values, vectors = leading_eigenpairs(lambda V: K @ V, 200, exact.sum(), most=200)
    assert values.sum() >= (1 - krylov.MISSED) * exact.sum()
    assert_allclose(values, exact[: len(values)], rtol=krylov.RESIDUAL)
    assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-9)
    residual = np.linalg.norm(K @ vectors - vectors * values, axis=0)
    assert np.all(residual <= 1.01 * np.maximum(krylov.RESIDUAL * values, 1e-10 * values[0]))


def test_an_exhausted_kernel_ends_the_search(monkeypatch):
    """Five directions in all: the solver finds them and stops making sense of rounding."""
    monkeypatch.setattr(features, "FEW", 10)
    monkeypatch.setattr(features, "FORMED", 10)
    monkeypatch.setattr(krylov, "BLOCK", 8)
    Phi = np.random.default_rng(0).standard_normal((2, 200, 5)).astype(np.float32)
    Phi[1] = Phi[0]
    found = spectrum(FeatureKernel(Phi))
    assert found.rank(0.0).high <= 10 and np.sum(found.values > 1e-9 * found.values[0]) == 5
    assert_allclose(found.values[:5], np.linalg.svd(Phi[0].astype(float))[1] ** 2, rtol=1e-6)

"""Kernel PCA: no rows capture more."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.distill.kernel_pca import kernel_pca
from dntk_core.kernels.spectrum import spectrum
from tests.synthetic import draw, examples, seeds


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


def test_of_an_incomplete_spectrum_it_gives_the_eigenvectors_that_are_known():
    known = spectrum(draw(0).kernels.mean)
    some = replace(known, values=known.values[:4], vectors=known.vectors[:, :4])
    assert kernel_pca(some, 3).size == 3 and kernel_pca(some, 9).size == 4

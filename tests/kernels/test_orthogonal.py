"""An orthonormal basis in the order of the columns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.kernels.orthogonal import basis_in_order
from tests.synthetic import examples, seeds


@examples
@given(seeds, st.integers(1, 9))
def test_basis_in_order_spans_every_prefix(seed, rank):
    generator = np.random.default_rng(seed)
    columns = generator.standard_normal((9, rank)) @ generator.standard_normal((rank, 12))
    basis = basis_in_order(columns, 1e-8)
    kept = basis.any(axis=0)
    assert kept.sum() == rank
    np.testing.assert_allclose(basis[:, kept].T @ basis[:, kept], np.eye(rank), atol=1e-10)
    for q in range(1, 13):
        onto_the_first = columns[:, :q] @ np.linalg.pinv(columns[:, :q])
        np.testing.assert_allclose(basis[:, :q] @ basis[:, :q].T, onto_the_first, atol=1e-6)

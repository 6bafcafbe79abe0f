"""Orthonormalise vectors in the order they come, noticing those that add nothing."""

import numpy as np


def basis_in_order(columns: np.ndarray, tolerance: float) -> np.ndarray:
    """Orthonormalise columns (n, q) one after the other; a dependent one becomes a zero column: (n, q).

    Column j is kept if its distance |R_jj| to the span of the kept ones before it exceeds `tolerance`.
    A Householder QR would put an arbitrary direction in the place of a dependent column, and
    later columns would lose their share of it.

    >>> basis_in_order(np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]), 1e-8)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    n, q = columns.shape
    basis = np.zeros((n, q))
    kept = np.empty((n, min(n, q)))
    found = 0
    for j in range(q):
        if found == n:
            break
        v = columns[:, j]
        # Twice is enough: the second pass removes what rounding left of the first.
        for _ in range(2):
            v = v - kept[:, :found] @ (kept[:, :found].T @ v)
        distance = np.sqrt(v @ v)
        if distance > tolerance:
            basis[:, j] = kept[:, found] = v / distance
            found += 1
    return basis

"""Leading eigenpairs of a kernel that is only multiplied with."""

from collections.abc import Callable

import numpy as np

# Vectors that are multiplied at a time, and found in all at the most.
BLOCK, MOST = 128, 2048
# Eigenpairs are sought until they leave out this share of the trace: the smallest ε that a slider asks for.
MISSED = 0.005
# A pair is taken for found when ‖K u − θ u‖ is this share of θ; θ is then off by the square of that, where gaps allow.
RESIDUAL = 1e-2


def leading_eigenpairs(
    times: Callable[[np.ndarray], np.ndarray], m: int, trace: float, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find eigenvalues (L,), descending, and eigenvectors (m, L) by block Lanczos, orthogonalised in full.

    The basis V grows block by block, V_{j+1} = K V_j less its part in V, until the pairs of T = Vᵀ K V whose residual
    is small hold all but a share MISSED of the trace, or V has `most` columns. Only those pairs are returned.
    """
    most = min(most, m)
    width = min(BLOCK, most)
    V, T, found = np.empty((m, most)), np.zeros((most, most)), 0
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((m, width)))[0]
    while True:
        start, found = found, found + X.shape[1]
        V[:, start:found] = X
        W, T[:found, start:found] = _orthogonalised(times(X), V[:, :found])
        remaining, following = np.linalg.qr(W)
        last = found == most
        if last or suffice(np.diag(T), trace):
            values, S, good = _ritz(T[:found, :found], remaining_rows=following, start=start)
            if last or suffice(values[:good], trace):
                return values[:good], V[:, :found] @ S[:, :good]
        # Once K is exhausted what remains is arbitrary; orthogonalised again, it does no harm.
        X = np.linalg.qr(_orthogonalised(remaining[:, : most - found], V[:, :found])[0])[0]


def suffice(values: np.ndarray, trace: float) -> bool:
    """Whether eigenvalues leave out at most a share MISSED of the trace."""
    return float(values.sum()) >= (1.0 - MISSED) * trace


def enough(values: np.ndarray) -> int:
    """How many of all eigenvalues, descending, suffice."""
    return min(int(np.searchsorted(np.cumsum(values), (1.0 - MISSED) * values.sum())) + 1, len(values))


def _orthogonalised(W: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return W - V Vᵀ W and Vᵀ W; twice is enough to remove what rounding leaves."""
    first = V.T @ W
    W = W - V @ first
    second = V.T @ W
    return W - V @ second, first + second


def _ritz(T: np.ndarray, remaining_rows: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Decompose T; count the leading pairs whose residual ‖R S_last‖ is small, at least one."""
    upper = np.triu(T)
    values, S = np.linalg.eigh(upper + np.triu(T, 1).T)
    values, S = np.clip(values[::-1], 0.0, None), S[:, ::-1]
    residual = np.linalg.norm(remaining_rows @ S[start:], axis=0)
    # Eigenvalues that are 0 but for rounding have nothing to converge to.
    bad = residual > np.maximum(RESIDUAL * values, 1e-10 * values[0])
    return values, S, max(int(np.argmax(bad)) if bad.any() else len(values), 1)

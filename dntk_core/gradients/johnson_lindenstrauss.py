"""What a projection to k dimensions guarantees, what it should give, and what it gave."""

import math

import numpy as np


def sufficient_k(points: int, epsilon: float) -> int:
    """Smallest k the lemma asks for: k > 8 ln(n) / ε² keeps all pairwise distances of n points to 1 ± ε.

    >>> sufficient_k(1000, 0.1)
    5527
    """
    return math.floor(8 * math.log(max(points, 2)) / epsilon**2) + 1


def guaranteed_epsilon(points: int, k: int) -> float:
    """The ε for which k suffices by the lemma: √(8 ln(n) / k); 1 or more guarantees nothing."""
    return math.sqrt(8 * math.log(max(points, 2)) / k)


def expected_error(kernel: np.ndarray, k: int) -> float:
    """Relative Frobenius error to expect of a projected kernel: √((1 + d)/k), d = tr(K)²/‖K‖_F²; kernel (m, m)."""
    squares = np.sum(kernel**2)
    return math.sqrt((1 + np.trace(kernel) ** 2 / squares) / k) if squares else 0.0


def relative_error(kernel: np.ndarray, exact: np.ndarray) -> float:
    """‖K − K_exact‖_F / ‖K_exact‖_F; 0 for a zero kernel."""
    size = np.linalg.norm(exact)
    return float(np.linalg.norm(kernel - exact) / size) if size else 0.0

"""How sure a score of t test inputs is: 95 % intervals."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

# The 97.5 % quantile of the normal distribution.
Z = 1.959964


def share_interval(share: float, t: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of t independent test inputs.

    >>> low, high = share_interval(0.9, 100)
    >>> round(low, 3), round(high, 3)
    (0.826, 0.945)
    """
    spread = Z**2 / t
    middle = (share + spread / 2) / (1 + spread)
    half = np.sqrt(share * (1 - share) / t + spread / (4 * t)) * Z / (1 + spread)
    return float(middle - half), float(middle + half)


def paired_interval(left: np.ndarray, right: np.ndarray) -> tuple[float, float, float]:
    """Return the mean difference of two methods on the same t test inputs, and its 95 % interval.

    left, right: (t,)  what each scores on each input, such as the share of draws in which it is right
    Pairing removes what both find easy or hard: the interval is that of the mean of left - right.
    """
    difference = np.asarray(left, float) - np.asarray(right, float)
    mean = float(difference.mean())
    half = Z * float(difference.std(ddof=1)) / np.sqrt(len(difference)) if len(difference) > 1 else 0.0
    return mean, float(mean - half), float(mean + half)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of n draws, such as seeds, and its 95 % interval by Student's t with n - 1 degrees of freedom.

    >>> [round(end, 2) for end in mean_interval([1.0, 2.0, 3.0])]
    [2.0, -0.48, 4.48]
    """
    found, n = np.asarray(values, float), len(values)
    mean = float(found.mean())
    half = float(student.ppf(0.975, n - 1) * found.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    return mean, mean - half, mean + half

"""Several processes that compute one thing: what they add up and put together, however they are connected."""

from typing import Protocol

import numpy as np


class Together(Protocol):
    """One of `size` processes, number `rank`; all of them make the same calls in the same order."""

    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...

    def sum(self, array: np.ndarray) -> np.ndarray:
        """Σ over all processes; the same bits for each of them."""
        ...

    def gather(self, array: np.ndarray) -> np.ndarray:
        """The arrays of all processes, one after the other along the first axis."""
        ...


class Alone:
    """One process, which has nobody to wait for."""

    rank, size = 0, 1

    def sum(self, array: np.ndarray) -> np.ndarray:
        return array

    def gather(self, array: np.ndarray) -> np.ndarray:
        return array


def share(together: Together, n: int) -> slice:
    """The part of n rows that this process works on; parts of all processes follow each other.

    >>> share(Alone(), 5)
    slice(0, 5, None)
    """
    return slice(together.rank * n // together.size, (together.rank + 1) * n // together.size)

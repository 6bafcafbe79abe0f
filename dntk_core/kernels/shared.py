"""One kernel for the readouts of all classes: where there are too many classes for a kernel each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.class_kernels import NOT_KEPT, Blocks, ClassKernels, Kernels, checked
from dntk_core.kernels.kernel import Kernel
from dntk_core.kernels.modes import Modes, dense_modes
from dntk_core.kernels.spectrum import Spectrum, spectrum


class Shared(ClassKernels):
    """The mean kernel K̄ in the place of every K^c, and the own kernels of some classes beside it.

    theirs:    K^c, K*^c of the chosen classes
    theirs_of: those classes, ascending
    classes:   C

    What is the same for every class is one array seen C times (stride 0), and worked on once.
    """

    theirs: ClassKernels
    theirs_of: tuple[int, ...]
    classes: int

    @property
    def chosen(self) -> tuple[int, ...]:
        return self.theirs_of

    @cached_property
    def traces(self) -> np.ndarray:
        return np.full(self.classes, self.kernel().trace())

    def own(self, c: int) -> Kernel:
        if c not in self.chosen:
            some = ", ".join(map(str, self.chosen[:10])) or "none"
            raise DNTKError(f"class {c} has no kernel of its own in this run; these have: {some}")
        return self.theirs.kernel(self.chosen.index(c))

    def mixed(self, matrix: np.ndarray, blocks: Blocks | None = None) -> None:
        return None

    def predict_mixed(self, mixed: Iterable[np.ndarray], beta: np.ndarray) -> Iterator[np.ndarray]:
        raise DNTKError(NOT_KEPT)

    def predict_features(self, w: np.ndarray) -> Iterator[np.ndarray]:
        raise DNTKError(NOT_KEPT)

    def for_all(self, one: np.ndarray) -> np.ndarray:
        """One array (…) as every class sees it: (C, …)."""
        return np.broadcast_to(one, (self.classes, *one.shape))


@dataclass(frozen=True, eq=False)
class SharedKernels(Shared):
    """A shared kernel that is an array.

    mean: Kernels  K̄ (1, m, m), K̄* (1, t, m)
    """

    mean: Kernels
    theirs: ClassKernels
    theirs_of: tuple[int, ...]
    classes: int

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.classes, *self.mean.shape[1:]

    @property
    def dense(self) -> bool:
        return True

    @property
    def shared(self) -> bool:
        return True

    @property
    def scale(self) -> float:
        return self.mean.scale

    def kernel(self, c: int | None = None) -> Kernel:
        if c is not None:
            checked(c, self.classes)
        return self.mean.kernel()

    def rows_times(self, matrix: np.ndarray, blocks: Blocks | None = None) -> Iterator[np.ndarray]:
        (product,) = self.mean.rows_times(matrix, blocks)
        return (product for _ in range(self.classes))

    def between(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray:
        return self.for_all(self.mean.between(matrix, blocks)[0])

    def solve(self, targets: np.ndarray, lam: float | np.ndarray) -> np.ndarray:
        lams, found = np.broadcast_to(lam, self.classes), np.empty((self.classes, len(targets)))
        for one in np.unique(lams):
            where = lams == one
            factor = cho_factor(self.mean.train[0] + one * np.eye(len(targets)))
            found[where] = cho_solve(factor, targets[:, where]).T
        return found

    def predict(self, alpha: np.ndarray) -> Iterator[np.ndarray]:
        return (self.mean.cross[0] @ a for a in alpha)

    def cross_rows(self, c: int, index: np.ndarray) -> np.ndarray:
        return self.mean.cross_rows(0, index)

    def cross_times(self, c: int, V: np.ndarray) -> np.ndarray:
        return self.mean.cross_times(0, V)

    def modes(self, targets: np.ndarray, spectra: Callable[[int | None], Spectrum] | None = None) -> tuple[Modes, ...]:
        whole = spectra(None) if spectra else spectrum(self.mean.kernel())
        return tuple(dense_modes(whole, self.mean.cross[0], y) for y in targets.T)


def once(function: Callable[[np.ndarray], np.ndarray], stacked: np.ndarray) -> np.ndarray:
    """Apply a function to matrices (C, …), once where all classes see the same one."""
    if len(stacked) > 1 and stacked.strides[0] == 0:
        found = function(stacked[:1])
        return np.broadcast_to(found, (len(stacked), *found.shape[1:]))
    return function(stacked)

"""A finished series, asked as sliders move: what follows from ridge, ε and H at every checkpoint."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dntk_core.base.memo import Memo
from dntk_core.base.threads import each, one_blas_thread
from dntk_core.kernels.clusters import cluster_embedding, embed
from dntk_core.kernels.kernel import DenseKernel
from dntk_core.kernels.spectrum import effective_dimension, truncation_rank
from dntk_core.run.across import Across
from dntk_core.run.finished import Run
from dntk_core.run.series import Series
from dntk_core.uses.similarity import velocity


@dataclass(frozen=True)
class Fits:
    """Full-kernel readouts of T checkpoints on test inputs, (T,) each.

    network:  accuracy of the network itself
    accuracy: of the kernel fitted to the network's outputs
    own:      fidelity of that fit to the network at the same checkpoint
    final:    fidelity to the last network, the kernel fitted to that network's outputs
    """

    network: np.ndarray
    accuracy: np.ndarray
    own: np.ndarray
    final: np.ndarray


@dataclass(frozen=True, eq=False)
class Progression:
    """A series whose numbers are remembered; `c` is a class, or None for the mean kernel."""

    series: Series
    runs: Sequence[Run]
    across: Across
    memo: Memo = field(default_factory=lambda: Memo(2**28))

    @property
    def times(self) -> np.ndarray:
        """When the checkpoints were, (T,)."""
        return np.array(self.series.times)

    def values(self, c: int | None) -> np.ndarray:
        """Eigenvalues of every checkpoint's kernel, (T, q)."""
        return self.across.likeness.values[:, self._place(c)]

    def cka(self, c: int | None) -> np.ndarray:
        """Centred kernel alignment of every two checkpoints, (T, T)."""
        return self.across.likeness.cka[self._place(c)]

    def angles(self, c: int | None) -> np.ndarray:
        """Principal angles of the leading directions to those of the last checkpoint, degrees: (T, r)."""
        return self.across.likeness.angles[self._place(c)][:, -1]

    def velocity(self, c: int | None) -> np.ndarray:
        """How fast the kernel turns from each checkpoint to the next, (T - 1,)."""
        return velocity(self.cka(c), self.times)

    def alignment(self, c: int | None) -> np.ndarray:
        """Alignment of class kernels with the networks' own outputs and with labels, (2, T); the mean over classes."""
        found = self.across.likeness.alignment
        return found.mean(axis=2) if c is None else found[:, :, c]

    def traces(self, c: int | None) -> np.ndarray:
        """tr K / q, the mean squared gradient norm, (T,)."""
        return self.values(c).mean(axis=1)

    def ranks(self, c: int | None, epsilon: float) -> np.ndarray:
        """Truncation ranks, (T,)."""
        return np.array([truncation_rank(values, epsilon) for values in self.values(c)])

    def dimensions(self, c: int | None) -> np.ndarray:
        """Effective dimensions at λ = tr K / q, the variance of an average input: (T,)."""
        return np.array([effective_dimension(values, values.mean()) for values in self.values(c)])

    def fits(self, ridge: float) -> Fits:
        """Fit every checkpoint's kernels to its own network and to the last one."""

        def found() -> Fits:
            logits, labels = [run.test_logits for run in self.runs], self.runs[-1].test_labels
            pairs = list(each(lambda t: self._fitted(t, ridge), range(len(self.runs))))
            chosen = [(own.argmax(1), last.argmax(1)) for own, last in pairs]
            return Fits(
                np.array([np.mean(f.argmax(1) == labels) for f in logits]),
                np.array([np.mean(own == labels) for own, _ in chosen]),
                np.array([np.mean(own == f.argmax(1)) for (own, _), f in zip(chosen, logits, strict=True)]),
                np.array([np.mean(last == logits[-1].argmax(1)) for _, last in chosen]),
            )

        with one_blas_thread:
            return self.memo.get(("fits", ridge), found)

    def kernel(self, t: int, c: int | None) -> DenseKernel:
        """The kernel of one checkpoint at the inputs looked at."""

        def found() -> np.ndarray:
            classes = range(len(self.runs[t].class_names)) if c is None else (c,)
            return np.mean([self._class(t, number)[0] for number in classes], axis=0)

        return DenseKernel(self.memo.get(("kernel", t, c), found))

    def clusters(self, H: int, c: int | None) -> np.ndarray:
        """Clusters of the last checkpoint's kernel, (q,): the order in which all are shown."""

        def found() -> np.ndarray:
            return cluster_embedding(embed(self.kernel(-1, c)), H, 0)

        with one_blas_thread:
            return self.memo.get(("clusters", H, c), found)

    def _place(self, c: int | None) -> int:
        return -1 if c is None else c

    def _class(self, t: int, c: int) -> tuple[np.ndarray, np.ndarray]:
        """K^c (q, q) and K*^c (t, q) of one checkpoint at the inputs looked at, read class by class."""
        index, run = self.across.likeness.inputs, self.runs[t]
        if run.dense:
            kernels = run.artifacts["kernels"]
            return np.array(kernels["train"][c][np.ix_(index, index)]), np.array(kernels["cross"][c][:, index])
        Phi = np.asarray(run.features[c][index], dtype=np.float64)
        return Phi @ Phi.T, np.asarray(run.test_features[c], dtype=np.float64) @ Phi.T

    def _fitted(self, place: int, ridge: float) -> tuple[np.ndarray, np.ndarray]:
        """Predictions (t, C) of the kernels of one checkpoint, fitted to its own outputs and to the last network's."""
        index, run = self.across.likeness.inputs, self.runs[place]
        lam = max(ridge, 1e-9) * float(self.traces(None)[place])
        t, C = run.test_logits.shape
        found = np.empty((2, t, C))
        for c in range(C):
            K, cross = self._class(place, c)
            wanted = np.stack([each.targets[index, c] for each in (run, self.runs[-1])], axis=1)
            factor = cho_factor(K + (lam or 1.0) * np.eye(len(K)))
            found[:, :, c] = (cross @ cho_solve(factor, wanted)).T
        return found[0], found[1]

"""Small random problems whose features are at hand, for references that materialise them."""

from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from dntk_core.distill.source import Source
from dntk_core.kernels.class_kernels import Kernels, kernels_from_features
from dntk_core.readout.problem import Problem

examples = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Drawn:
    """features (C, m, k), test_features (C, t, k), and the problem they make."""

    features: np.ndarray
    test_features: np.ndarray
    problem: Problem

    @property
    def kernels(self) -> Kernels:
        return self.problem.kernels

    @property
    def stacked(self) -> np.ndarray:
        """Gradients of all logits side by side, scaled so that their Gram matrix is the mean kernel: (m, C·k)."""
        return np.concatenate(list(self.features), axis=1) / np.sqrt(len(self.features))


def draw(seed: int = 0, C: int = 3, m: int = 24, t: int = 17, k: int = 40, decay: float = 8.0) -> Drawn:
    """Draw clustered features with a decaying spectrum and noisy linear logits."""
    generator = np.random.default_rng(seed)
    scales = np.exp(-np.arange(k) / decay)
    centres = generator.standard_normal((C, k))
    weights = generator.standard_normal((C, k))

    def sample(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        labels = generator.integers(C, size=count)
        features = (centres[labels] + generator.standard_normal((C, count, k))) * scales
        logits = np.einsum("cik,ck->ic", features, weights) + 0.1 * generator.standard_normal((count, C))
        return features, logits, labels

    train, targets, _ = sample(m)
    test, logits, labels = sample(t)
    return Drawn(train, test, Problem(kernels_from_features(train, test), targets, logits, labels))


def with_kernel(kernel: np.ndarray, C: int = 2, t: int = 5) -> Problem:
    """Make a problem whose class kernels all equal one given kernel (m, m)."""
    m = len(kernel)
    generator = np.random.default_rng(0)
    kernels = Kernels(np.stack([kernel] * C), np.stack([kernel[np.arange(t) % m]] * C))
    targets, logits = generator.standard_normal((m, C)), generator.standard_normal((t, C))
    return Problem(kernels, targets, logits, np.zeros(t, dtype=int))


def random_labels(seed: int, m: int, H: int) -> np.ndarray:
    """Draw labels (m,) that use each of H clusters."""
    generator = np.random.default_rng(seed)
    return generator.permutation(np.append(np.arange(H), generator.integers(H, size=m - H)))


def source_of(problem: Problem) -> Source:
    """What methods distil of a problem."""
    return Source(problem.kernels, problem.targets, problem.classes)

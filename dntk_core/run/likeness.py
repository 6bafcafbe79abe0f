"""Several runs on the same inputs, kernel by kernel: spectra, likeness, leading directions, what they predict."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.threads import each
from dntk_core.cache.artifact import Artifact
from dntk_core.kernels.kernel import DenseKernel
from dntk_core.run.finished import Run
from dntk_core.uses.health import alignment
from dntk_core.uses.similarity import (
    Halves,
    agreement,
    cka,
    halves,
    inner_products,
    leading,
    principal_angles,
    summed,
)

# Kernels are compared on at most this many of their inputs, spread evenly.
MOST = 1000
# Of more classes the likeness of every two of them would be no figure to look at.
MOST_CLASSES = 30


@dataclass(frozen=True)
class Likeness:
    """T runs on the same inputs, C classes; the last of C + 1 kernels is the mean kernel K̄.

    inputs:    (q,)               the kernel inputs that were looked at
    values:    (T, C + 1, q)      eigenvalues, descending
    cka:       (C + 1, T, T)      centred kernel alignment, debiased
    angles:    (C + 1, T, T, r)   principal angles of the leading r directions, degrees
    alignment: (2, T, C)          centred alignment of class kernels with the network's own outputs, and with labels
    agreement: (T, T)             share of test inputs on which the networks choose alike
    """

    inputs: np.ndarray
    values: np.ndarray
    cka: np.ndarray
    angles: np.ndarray
    alignment: np.ndarray
    agreement: np.ndarray

    @classmethod
    def read(cls, artifact: Artifact) -> "Likeness":
        """Back from the cache."""
        return cls(*(np.array(artifact[field.name]) for field in fields(cls)))


@dataclass(frozen=True)
class Trust:
    """How far CKA from projected features is from that of exact kernels, on a few inputs: mean absolute errors."""

    inputs: int
    debiased: float
    naive: float

    def __str__(self) -> str:
        return (
            f"on {self.inputs} inputs with exact kernels CKA is off by {self.debiased:.3f} "
            f"(without debiasing {self.naive:.3f})"
        )


def check_comparable(runs: Sequence[Run]) -> None:
    """Refuse runs whose kernels have nothing to be compared by."""
    first = runs[0]
    for run in runs[1:]:
        if reason := why_not(first, run):
            raise DNTKError(f"runs {first.key} and {run.key} cannot be compared: {reason}")


def why_not(one: Run, other: Run) -> str:
    """Why two runs cannot be compared kernel by kernel; empty if they can."""
    if len(one.class_names) != len(other.class_names):
        return f"their networks have {len(one.class_names)} and {len(other.class_names)} outputs"
    if one.spec.sketch.used or other.spec.sketch.used:
        return "gradients of every class are needed, and --class-sketch keeps sums of them"
    data = [(run.spec.data.name, run.spec.data.fingerprint) for run in (one, other)]
    same = data[0] == data[1] and one.spec.distilled == other.spec.distilled
    arrays = [run.artifacts["inputs"] for run in (one, other)]
    names = ("kernel_index", "test_index", "train_labels", "test_labels")
    if not same or not all(np.array_equal(arrays[0][name], arrays[1][name]) for name in names):
        return (
            "they are on different inputs, and a kernel is a table of pairs of inputs: entry (i, j) of the one says "
            "nothing about entry (i, j) of the other; build them with the same data, inputs and input seed"
        )
    return ""


def likeness(runs: Sequence[Run], step: Callable[[int], None] = lambda done: None) -> Likeness:
    """Compare runs class by class; `step` is called with how many of the C + 1 kernels are done."""
    check_comparable(runs)
    T, C, index = len(runs), len(runs[0].class_names), looked_at(runs[0])
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    aligned = np.zeros((2, T, C))
    means = [Halves(np.zeros((len(index),) * 2), np.zeros((len(index),) * 2)) for _ in runs]
    for c in range(C):
        kernels = [class_halves(run, c, index) for run in runs]
        means = [_plus(mean, own, 1 / C) for mean, own in zip(means, kernels, strict=True)]
        found.append(_compared(kernels))
        for t, run in enumerate(runs):
            K, values = DenseKernel(kernels[t].whole), found[-1][0][t]
            aligned[0, t, c] = alignment(K, values, run.targets[index, c])
            aligned[1, t, c] = alignment(K, values, (run.train_labels[index] == c).astype(float))
        step(c + 1)
    found.append(_compared(means))
    step(C + 1)
    values, similar, angles = (np.stack(parts) for parts in zip(*found, strict=True))
    agree = np.array([[agreement(one.test_logits, other.test_logits) for other in runs] for one in runs])
    return Likeness(index, values.transpose(1, 0, 2), similar, angles, aligned, agree)


def class_likeness(one: Run, other: Run) -> np.ndarray:
    """CKA of every class kernel of one run with every class kernel of another: (C, C)."""
    check_comparable((one, other))
    C, index = len(one.class_names), looked_at(one)
    if C > MOST_CLASSES:
        raise DNTKError(f"classes are compared with each other up to {MOST_CLASSES} of them, these runs have {C}")
    kernels = [class_halves(run, c, index) for run in (one, other) for c in range(C)]
    return cka(inner_products(kernels))[:C, C:]


def looked_at(run: Run) -> np.ndarray:
    """The kernel inputs that comparisons look at: all, or MOST of them spread evenly."""
    m = len(run.targets)
    return np.unique(np.linspace(0, m - 1, min(m, MOST)).round().astype(int))


def class_halves(run: Run, c: int, index: np.ndarray) -> Halves:
    """The kernel of one class at some inputs, estimated twice: K = Σ_g K_g over groups of parameters."""
    Phi = run.features[c][index]
    return summed([halves(Phi[:, columns.part], columns.exact) for columns in run.columns])


def trust(runs: Sequence[Run], probed: Sequence[Artifact]) -> Trust:
    """Measure how far CKA is off where exact kernels are known, over all classes and pairs of runs."""
    index = np.array(probed[0]["index"])
    errors = np.array(list(_errors(runs, probed, index)))
    return Trust(len(index), *np.abs(errors).mean(axis=0).tolist())


def _errors(runs: Sequence[Run], probed: Sequence[Artifact], index: np.ndarray) -> Iterator[tuple[float, float]]:
    """CKA less the exact one, debiased and not, of every class and pair."""
    pairs = np.triu_indices(len(runs), 1)
    for c in range(len(runs[0].class_names)):
        exact = [Halves(K, K) for K in (np.array(artifact.rows("exact")[c]) for artifact in probed)]
        estimated = [class_halves(run, c, index) for run in runs]
        naive = [Halves(each.whole, each.whole) for each in estimated]
        wanted, found, plain = (cka(inner_products(kernels))[pairs] for kernels in (exact, estimated, naive))
        yield from zip(found - wanted, plain - wanted, strict=True)


def _compared(kernels: Sequence[Halves]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues (T, q), CKA (T, T) and angles (T, T, r) of T kernels."""
    spectra = list(each(lambda kernel: np.linalg.eigvalsh(kernel.whole)[::-1], kernels))
    spaces = list(each(lambda kernel: leading(kernel.whole), kernels))
    angles = np.array([[principal_angles(U, V) for V in spaces] for U in spaces])
    return np.clip(np.stack(spectra), 0.0, None), cka(inner_products(kernels)), angles


def _plus(sum_: Halves, term: Halves, share: float) -> Halves:
    return Halves(sum_.one + share * term.one, sum_.other + share * term.other)

"""A run whose gradients were kept group by group: which parts of the network carry its kernel."""

from dataclasses import dataclass

import numpy as np

from dntk_core.base.columns import Columns
from dntk_core.base.errors import DNTKError
from dntk_core.base.threads import each, one_blas_thread
from dntk_core.kernels.kernel import DenseKernel
from dntk_core.run.finished import Run
from dntk_core.run.likeness import looked_at
from dntk_core.run.live import Live
from dntk_core.uses.groups import fit_shares, fitted, solved, trace_shares
from dntk_core.uses.health import alignment
from dntk_core.uses.similarity import cka, halves, inner_products, summed


@dataclass(frozen=True)
class Layers:
    """G groups of parameters; numbers of class c, or of all classes together, at one ridge.

    trace, fit: (G,)     shares of tr K, and of the fit on test inputs; each sums to 1
    whole:      (G,)     CKA of the group's kernel with the whole one
    targets:    (G,)     alignment of the group's class kernels with the network's own outputs, which they are fitted to
    labels:     (G,)     the same with labels
    alone:      (G,)     accuracy of the kernel of that group alone
    without:    (G,)     accuracy of the kernel of all other groups
    fidelity:   (G,)     share of test inputs where the group's kernel chooses as the network does
    full:       accuracy of the whole kernel
    between:    (G, G)   CKA of every two groups
    chosen:     (t, G)   the class that each group's kernel chooses alone
    others:     (t, G)   the one that all but it choose
    """

    columns: tuple[Columns, ...]
    trace: np.ndarray
    fit: np.ndarray
    whole: np.ndarray
    targets: np.ndarray
    labels: np.ndarray
    alone: np.ndarray
    without: np.ndarray
    fidelity: np.ndarray
    full: float
    between: np.ndarray
    chosen: np.ndarray
    others: np.ndarray


@dataclass(frozen=True)
class _Parts:
    """What no ridge changes of one class: kernels (m, m) and cross kernels (t, m) of G groups; ⟨·,·⟩ (G + 1, G + 1)."""

    kernels: tuple[np.ndarray, ...]
    crosses: tuple[np.ndarray, ...]
    trace: np.ndarray
    targets: np.ndarray
    labels: np.ndarray
    products: np.ndarray


@dataclass(frozen=True)
class _Fits:
    """Fits of one class at one ridge: shares (G,); predictions (t, G) of groups alone and without, (t,) of all."""

    fit: np.ndarray
    alone: np.ndarray
    without: np.ndarray
    full: np.ndarray


def layers(run: Run, ridge: float = 1e-4, c: int | None = None, live: Live | None = None) -> Layers:
    """Take a run's kernel apart; traces, shares and likeness of one class or the mean of all, accuracies of all.

    live: remembers what no ridge changes
    """
    if len(run.columns) < 2:
        raise DNTKError("this run kept no groups of parameters; build it with --groups blocks (or layers)")
    C, index = len(run.class_names), looked_at(run)

    def of_class(number: int) -> tuple[_Parts, _Fits]:
        def apart() -> _Parts:
            return _parts(run, number, index)

        parts = live.remember(("groups", number), apart) if live else apart()
        return parts, _fits(parts, run.targets[index, number], ridge)

    with one_blas_thread:
        found = each(of_class, range(C))
    kept = found if c is None else [found[c]]
    seen, fits = [parts for parts, _ in kept], [fit for _, fit in kept]
    alone, without, full = (
        np.stack([getattr(fit, name) for _, fit in found], axis=-1) for name in ("alone", "without", "full")
    )
    similar = cka(np.mean([one.products for one in seen], axis=0))
    network, chosen, others = run.test_logits.argmax(axis=1), alone.argmax(axis=-1), without.argmax(axis=-1)
    return Layers(
        tuple(run.columns),
        trace_shares(np.mean([one.trace for one in seen], axis=0)),
        np.mean([one.fit for one in fits], axis=0),
        similar[-1, :-1],
        np.mean([one.targets for one in seen], axis=0),
        np.mean([one.labels for one in seen], axis=0),
        np.mean(chosen == run.test_labels[:, None], axis=0),
        np.mean(others == run.test_labels[:, None], axis=0),
        np.mean(chosen == network[:, None], axis=0),
        float(np.mean(full.argmax(axis=-1) == run.test_labels)),
        similar[:-1, :-1],
        chosen,
        others,
    )


def _parts(run: Run, c: int, index: np.ndarray) -> _Parts:
    """Every group of one class."""
    Phi = np.asarray(run.features[c][index], dtype=np.float64)
    test = np.asarray(run.test_features[c], dtype=np.float64)
    own = [halves(Phi[:, columns.part], columns.exact) for columns in run.columns]
    kernels = tuple(kernel.whole for kernel in own)
    # Of the eigenvalues only the sum of squares counts, ‖K‖².
    targets, labels = (
        np.array([alignment(DenseKernel(part), np.array([np.linalg.norm(part)]), wanted) for part in kernels])
        for wanted in (run.targets[index, c], (run.train_labels[index] == c).astype(float))
    )
    return _Parts(
        kernels,
        tuple(test[:, columns.part] @ Phi[:, columns.part].T for columns in run.columns),
        np.array([np.trace(part) for part in kernels]),
        targets,
        labels,
        inner_products([*own, summed(own)]),
    )


def _fits(parts: _Parts, y: np.ndarray, ridge: float) -> _Fits:
    """The readout of all groups, of each alone, and of all but each."""
    K, cross = np.sum(parts.kernels, axis=0), np.sum(parts.crosses, axis=0)
    alpha = solved(K, y, max(ridge, 1e-9) * float(np.trace(K)) / len(K))
    both = list(zip(parts.kernels, parts.crosses, strict=True))
    return _Fits(
        fit_shares(parts.crosses, alpha),
        np.stack([fitted(part, crossed, y, ridge) for part, crossed in both], axis=1),
        np.stack([fitted(K - part, cross - crossed, y, ridge) for part, crossed in both], axis=1),
        cross @ alpha,
    )

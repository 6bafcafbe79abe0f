"""What a kernel costs: the naive NTK, projection alone, and DNTK, in Jacobians, FLOPs and bytes."""

from dataclasses import dataclass

import numpy as np

BYTES = 8


@dataclass(frozen=True)
class Description:
    """The sizes of a run; it need not be one that this machine could do.

    n: original inputs   m: kernel inputs after dataset distillation   P: parameters   C: classes
    k: projected dimension   s: distilled gradients   forward: FLOPs of one forward pass of one input
    iterations: optimisation steps of dataset distillation (0 where kernel inputs are just chosen)
    """

    n: int
    m: int
    P: int
    C: int
    k: int
    s: int
    forward: float
    iterations: int = 0


@dataclass(frozen=True)
class Cost:
    """One way to a solved kernel regression, training side only: every way needs the same test gradients.

    jacobians:    inputs whose gradients are computed, for all C logits
    distillation: FLOPs to synthesise the kernel inputs
    gradients:    FLOPs for the gradients, and to project them
    kernel:       FLOPs for the C kernels and, for DNTK, their distillation
    solve:        FLOPs to factorise the C systems
    bytes:        what has to be held: kernels, and projected gradients where there are any
    """

    jacobians: int
    distillation: float
    gradients: float
    kernel: float
    solve: float
    bytes: float

    @property
    def flops(self) -> float:
        """All FLOPs together."""
        return self.distillation + self.after_distillation

    @property
    def after_distillation(self) -> float:
        """FLOPs from the kernel inputs on: what the paper counts, and all there is for inputs distilled before."""
        return self.gradients + self.kernel + self.solve


@dataclass(frozen=True)
class Ledger:
    """The three ways side by side."""

    naive: Cost
    projected: Cost
    dntk: Cost

    def saved(self, quantity: str, of: str = "naive") -> float:
        """Return log10 of how many times less DNTK needs: of "jacobians", "flops", "bytes" …, than another way."""
        return float(np.log10(getattr(getattr(self, of), quantity) / getattr(self.dntk, quantity)))


def gradient_flops(run: Description, inputs: int) -> float:
    """Count one forward pass and C backward passes, each twice a forward pass, for each input."""
    return inputs * (1 + 2 * run.C) * run.forward


def sketch_flops(run: Description, inputs: int) -> float:
    """Count one multiplication and one addition per gradient entry: what a CountSketch needs for any k."""
    return 2.0 * inputs * run.C * run.P


def kernel_flops(run: Description, inputs: int, width: int) -> float:
    """Count C symmetric products of (inputs, width) features: inputs²/2 entries of 2·width FLOPs."""
    return float(run.C) * inputs**2 * width


def solve_flops(run: Description, size: int) -> float:
    """Count C Cholesky factorisations."""
    return run.C * float(size) ** 3 / 3


def ledger(run: Description) -> Ledger:
    """Count a run's cost in the three ways."""
    naive = Cost(
        jacobians=run.n,
        distillation=0.0,
        gradients=gradient_flops(run, run.n),
        kernel=kernel_flops(run, run.n, run.P),
        solve=solve_flops(run, run.n),
        bytes=float(BYTES) * run.C * run.n**2,
    )
    projected = Cost(
        jacobians=run.n,
        distillation=0.0,
        gradients=gradient_flops(run, run.n) + sketch_flops(run, run.n),
        kernel=kernel_flops(run, run.n, run.k),
        solve=solve_flops(run, run.n),
        bytes=float(BYTES) * run.C * (run.n**2 + run.n * run.k),
    )
    dntk = Cost(
        jacobians=run.m,
        distillation=distillation_flops(run),
        gradients=gradient_flops(run, run.m) + sketch_flops(run, run.m),
        kernel=kernel_flops(run, run.m, run.k) + mixing_flops(run),
        solve=solve_flops(run, run.s),
        bytes=float(BYTES) * run.C * (run.m**2 + run.m * run.k),
    )
    return Ledger(naive, projected, dntk)


def distillation_flops(run: Description) -> float:
    """Count the features of all n inputs once, and a forward and backward pass per step and kernel input."""
    return (run.n + 3.0 * run.iterations * run.m) * run.forward if run.iterations else 0.0


def mixing_flops(run: Description) -> float:
    """Count one eigendecomposition (about 9 m³) and the C products A K Aᵀ."""
    return 9.0 * run.m**3 + 2.0 * run.C * run.s * run.m * (run.m + run.s)


# ImageNet with ResNet-50: 50 distilled images per class, one distilled gradient per class.
IMAGENET = Description(n=1_281_167, m=50_000, P=25_557_032, C=1000, k=8192, s=1000, forward=8.2e9, iterations=2000)

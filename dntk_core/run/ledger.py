"""What a kernel costs: the naive NTK, projection alone, and DNTK, in Jacobians, FLOPs and bytes, counted two ways."""

from dataclasses import dataclass, replace

BYTES = 8


@dataclass(frozen=True)
class Description:
    """The sizes of a run; it need not be one that this machine could do.

    n: original inputs   m: kernel inputs after dataset distillation   P: parameters   C: classes
    k: projected dimension   s: distilled gradients   forward: FLOPs of one forward pass of one input
    iterations: optimisation steps of dataset distillation (0 where kernel inputs are just chosen)
    sees: what an input is when the network sees it, its shape and scale, in words
    """

    n: int
    m: int
    P: int
    C: int
    k: int
    s: int
    forward: float
    iterations: int = 0
    sees: str = ""


@dataclass(frozen=True)
class Cost:
    """One way to a solved kernel regression, training side only: every way needs the same test gradients.

    jacobians:    inputs whose gradients are computed, for all C logits
    distillation: FLOPs to synthesise the kernel inputs
    gradients:    FLOPs for the gradients, and to project them
    kernel:       FLOPs for the C kernels and, for DNTK, their distillation
    solve:        FLOPs to factorise the C systems
    bytes:        what has to be held: gradients, and the kernels made of them
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
        """FLOPs from the kernel inputs on: all there is where they were distilled before."""
        return self.gradients + self.kernel + self.solve


@dataclass(frozen=True)
class Ledger:
    """The three ways side by side."""

    naive: Cost
    projected: Cost
    dntk: Cost

    def saving(self, quantity: str, over: str = "naive") -> float:
        """Return how many times less DNTK needs than another way: of "jacobians", "flops", "bytes" …"""
        return getattr(getattr(self, over), quantity) / getattr(self.dntk, quantity)


@dataclass(frozen=True)
class Counts:
    """The same run counted two ways.

    paper:      as the paper counts, one kernel alone: n²P FLOPs and nP numbers against m²k and mk
    everything: gradients included, all C kernels, distillation and solve; gradients and kernels held
    sees:       the inputs that are counted, as the network sees them
    """

    paper: Ledger
    everything: Ledger
    sees: str = ""


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


def ledger(run: Description) -> Counts:
    """Count a run's cost as the paper does, and all of it."""
    return Counts(paper=count_kernel(run), everything=count_everything(run), sees=run.sees)


def count_kernel(run: Description) -> Ledger:
    """Count one kernel as the paper does: inputs²·width FLOPs from inputs·width numbers."""
    one = replace(run, C=1)

    def cost(inputs: int, width: int) -> Cost:
        return Cost(
            jacobians=inputs,
            distillation=0.0,
            gradients=0.0,
            kernel=kernel_flops(one, inputs, width),
            solve=0.0,
            bytes=float(BYTES) * inputs * width,
        )

    return Ledger(naive=cost(run.n, run.P), projected=cost(run.n, run.k), dntk=cost(run.m, run.k))


def count_everything(run: Description) -> Ledger:
    """Count all that has to be computed and held for C solved kernels."""
    naive = Cost(
        jacobians=run.n,
        distillation=0.0,
        gradients=gradient_flops(run, run.n),
        kernel=kernel_flops(run, run.n, run.P),
        solve=solve_flops(run, run.n),
        bytes=held_bytes(run, run.n, run.P),
    )
    projected = Cost(
        jacobians=run.n,
        distillation=0.0,
        gradients=gradient_flops(run, run.n) + sketch_flops(run, run.n),
        kernel=kernel_flops(run, run.n, run.k),
        solve=solve_flops(run, run.n),
        bytes=held_bytes(run, run.n, run.k),
    )
    dntk = Cost(
        jacobians=run.m,
        distillation=distillation_flops(run),
        gradients=gradient_flops(run, run.m) + sketch_flops(run, run.m),
        kernel=kernel_flops(run, run.m, run.k) + mixing_flops(run),
        solve=solve_flops(run, run.s),
        bytes=held_bytes(run, run.m, run.k),
    )
    return Ledger(naive, projected, dntk)


def held_bytes(run: Description, inputs: int, width: int) -> float:
    """Count C kernels (inputs, inputs) and the (inputs, width) gradients they are made of."""
    return float(BYTES) * run.C * inputs * (inputs + width)


def distillation_flops(run: Description) -> float:
    """Count the features of all n inputs once, and a forward and backward pass per step and kernel input."""
    return (run.n + 3.0 * run.iterations * run.m) * run.forward if run.iterations else 0.0


def mixing_flops(run: Description) -> float:
    """Count one eigendecomposition (about 9 m³) and the C products A K Aᵀ."""
    return 9.0 * run.m**3 + 2.0 * run.C * run.s * run.m * (run.m + run.s)


# ImageNet with ResNet-50: 50 distilled images per class, one distilled gradient per class.
IMAGENET = Description(n=1_281_167, m=50_000, P=25_557_032, C=1000, k=8192, s=1000, forward=8.2e9, iterations=2000)

"""Many classes: random sums of the logits against every class by itself.

    python -m benchmarks.scale_c [--q 16]
    python -m benchmarks.scale_c --weights FILE --images FOLDER --outputs 0,217,… [--q 16 32] [--inputs 500] [--exact 0]

The first prints, for a MobileNetV2 of C = 10, 100 and 1000 logits at 64 px with weights as drawn, processor time per
input, bytes per input and the error of the mean kernel with q sums, and the exponent of time in C; it exits with 1 if
that exceeds 0.2. The second takes a trained MobileNetV2 of 1000 logits (weights of torchvision) and images in class
folders train/ and val/, whose classes are the given outputs, in order of the folders' names. It times every class and
q sums on the same few inputs in one run, then computes a run of as many kernel and test inputs with the largest q and
prints what it took, the error of K̄ for every q (fewer sums are the first of more), and how well the shared kernel
reads out all 1000 logits; for exact classes also their own kernels.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import torch
import torchvision
from torch import nn
from torchvision.transforms import v2

from dntk_core import study
from dntk_core.base.spec import ProjectionSpec
from dntk_core.cache.store import Store
from dntk_core.gradients.johnson_lindenstrauss import relative_error
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.sketch import Sketched, combinations, spread
from dntk_core.gradients.stream import project_batch, projector
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.ridge import evaluate
from dntk_core.run.pipeline import Run

LIMIT, PROJECTION, RIDGE = 0.2, ProjectionSpec(), 1e-4
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def taken(module: nn.Module, x: torch.Tensor) -> tuple[np.ndarray, float]:
    """Features of all outputs (R, b, k) and the processor seconds they took, of the better of two tries."""
    network = prepare(module, x)
    through = projector(network, PROJECTION, torch.device("cpu"))
    times = []
    for _ in range(2 if network.classes <= 100 else 1):
        started = process_time()
        features = project_batch(network, through, x)[0].numpy()
        times.append(process_time() - started)
    return features, min(times)


def errors(every: np.ndarray, sums: np.ndarray) -> float:
    """Relative error of K̄ from sums (q, C) of all classes' features (C, b, k)."""
    mixed = np.einsum("qc,cik->qik", sums, every, optimize=True)
    exact = np.einsum("cik,cjk->ij", every, every, optimize=True) / len(every)
    return relative_error(np.einsum("qik,qjk->ij", mixed, mixed, optimize=True) / len(sums), exact)


def synthetic(q: int) -> float:
    """Print a row for every C; returns the exponent of time in C with q sums."""
    x, seconds, sizes = torch.randn(4, 3, 64, 64, generator=torch.Generator().manual_seed(0)), [], (10, 100, 1000)
    print("| C | ms per input, every class | ms, q sums | MB per input, every class | MB, q sums | error | expected |")
    print("|---" * 7 + "|")
    for C in sizes:
        torch.manual_seed(0)
        module = torchvision.models.mobilenet_v2(num_classes=C).eval()
        every, whole = taken(module, x)
        sums = combinations(C, q, 0, ())
        _, few = taken(Sketched(module, "logits", sums), x)
        seconds.append(few)
        cells = [1e3 * whole / len(x), 1e3 * few / len(x), 4e-6 * C * PROJECTION.k, 4e-6 * q * PROJECTION.k]
        shown = " | ".join(f"{cell:,.2f}" for cell in cells)
        print(f"| {C:,} | {shown} | {errors(every, sums):.3f} | {spread(every) / np.sqrt(q):.3f} |", flush=True)
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    print(f"\ntime ~ C^{exponent:.2f} with q = {q} sums (at most {LIMIT})")
    return exponent


def images(folder: Path, labels: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """All images of class folders, normalised, and the outputs that they belong to."""
    found = torchvision.datasets.ImageFolder(
        str(folder), v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)])
    )
    some = range(0, len(found), max(1, len(found) // 1500))
    pairs = [found[i] for i in some]
    return torch.stack([image for image, _ in pairs]), torch.tensor([labels[c] for _, c in pairs])


def real(weights: Path, folder: Path, labels: list[int], counts: list[int], inputs: int, exact: list[int]) -> None:
    """Print both parts of a trained network of 1000 logits."""
    network = torchvision.models.mobilenet_v2()
    network.load_state_dict(torch.load(weights, weights_only=True))
    network.eval()
    train, test = (images(folder / part, labels) for part in ("train", "val"))
    few = train[0][:: max(1, len(train[0]) // 4)][:4]
    every, whole = taken(network, few)
    print(
        f"every class, {len(few)} inputs: {whole / len(few):.2f} s and {4e-6 * len(every) * PROJECTION.k:.2f} MB each"
    )
    for q in counts:
        sums = combinations(len(every), q, 0, ())
        _, seconds = taken(Sketched(network, "logits", sums), few)
        print(
            f"q = {q}: {seconds / len(few):.3f} s ({whole / seconds:.1f} times less), {4e-6 * q * PROJECTION.k:.3f} MB "
            f"({len(every) / q:.1f} times less), error of K̄ {errors(every, sums):.3f} "
            f"({spread(every) / np.sqrt(q):.3f} expected)",
            flush=True,
        )
    names = [f"output {c}" for c in range(1000)]
    with tempfile.TemporaryDirectory() as place:
        started = process_time()
        settings = {"kernel_inputs": inputs, "test_inputs": inputs, "class_sketch": max(counts)}
        run = study(network, train, test, classes=names, classes_exact=exact, store=Store(place), **settings)
        print(
            f"run of {inputs} + {inputs} inputs, q = {max(counts)}: {process_time() - started:.0f} s of processor time"
        )
        report(run, exact)


def report(run: Run, exact: list[int]) -> None:
    """What the shared kernel reads out of all classes, and own kernels of the exact ones."""
    scores = evaluate(run.problem, None, RIDGE)
    print(f"error of K̄: {run.class_sketch}; projection: {run.projection_error}")
    print(f"shared kernel, all {run.targets.shape[1]} logits: fidelity {scores.fidelity:.3f}, MSE {scores.mse:.4f}")
    kernels, lam = run.kernels, absolute_ridge(run.kernels, RIDGE)
    if exact:
        shared = np.stack([f[:, 0] for f in kernels.predict(kernels.solve(run.targets, lam)[..., None])], axis=1)
        theirs = kernels.theirs
        own = np.stack([f[:, 0] for f in theirs.predict(theirs.solve(run.targets[:, exact], lam)[..., None])], axis=1)
        for i, c in enumerate(exact):
            wanted = run.test_logits[:, c]
            pair = (np.mean((found - wanted) ** 2) / np.var(wanted) for found in (shared[:, c], own[:, i]))
            print("class {}: unexplained variance {:.3f} shared, {:.3f} by its own kernel".format(c, *pair))


def main() -> int:
    """Print one of the tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--q", type=int, nargs="+", default=[16])
    options.add_argument("--weights", type=Path)
    options.add_argument("--images", type=Path)
    options.add_argument("--outputs", default="")
    options.add_argument("--inputs", type=int, default=500)
    options.add_argument("--exact", type=int, nargs="*", default=[])
    arguments = options.parse_args()
    torch.set_num_threads(1)
    if arguments.weights:
        labels = [int(number) for number in arguments.outputs.split(",")]
        real(arguments.weights, arguments.images, labels, arguments.q, arguments.inputs, arguments.exact)
        return 0
    return int(synthetic(arguments.q[0]) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())

"""One and two ranks here, and what 8, 64 and 512 GPUs would take for ImageNet.

    python -m benchmarks.scaling [--repeats 3] [--logits 1000] [--sums 32]

Here: the features stage of the digits run under torchrun with 1 and 2 ranks of one thread each, alternately, and the
analyses of synthetic features by as many; features must agree bit for bit. The same analyses asked for again find all
there: what that takes is their start, and is taken off. On busy cores the processor time per rank says more than the
clock: half of it for two ranks is all that sharing can do. There: ResNet-50 at 224 px, so many sums of
so many logits (0: every logit). Its cost per input is counted in operations, times what the engine was measured to need
beyond the signal back-propagation (in processor time, on this machine); the hardware is that of HARDWARE. Beside
gradients all else is counted: images read, shards written and hashed by each rank, and hashed once more by whoever
first reads them; and the analyses on the processors beside the GPUs, whose speed at one thread, at hashing and at
k-means is measured here: products of Lanczos and what it reads, sums between ranks, orthogonalisation (which every rank
does for itself), what test inputs see of the eigenvectors, the embedding, clusters and the eigenpairs within them,
second moments of exact classes, and the readout of all logits.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter, process_time

import numpy as np
import torch
import torchvision

from benchmarks.engine import limit
from dntk_core.base.memory import peak_bytes
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.cache.store import Store
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import project_batch, projector
from dntk_core.kernels.clusters import LANDMARKS
from dntk_core.kernels.kmeans import kmeans
from dntk_core.run.from_features import from_features
from dntk_core.run.pipeline import open_run
from dntk_core.run.stages.features import forward_flops

ROOT = Path(__file__).resolve().parent.parent
SPEC = RunSpec(model=ModelSpec(epochs=0), inputs=InputSpec(kernel=1200, test=500))
# Classes, inputs and dimensions of the features that are analysed.
SYNTHETIC = 10, 12_000, 512
IMAGES, IMAGE_BYTES = 1_281_167, 110_000
# A GPU like an A100: float32 products through tensor cores (TF32, 156 TFLOP/s), 35 % of it in practice, 40 GB;
# storage that all ranks share.
# Eight cores and 128 GB beside every GPU, half of it for features, and a network of 100 Gbit/s.
HARDWARE = {
    "flops": 156e12,
    "share": 0.35,
    "memory": 40e9,
    "storage": 10e9,
    "cores": 8,
    "ram": 128e9,
    "network": 12.5e9,
}
# Of Lanczos: vectors at a time, and in all.
BLOCK, BASIS = 128, 2048
TESTS, CLUSTERS, EXACT = 50_000, 20, 20
GPUS = (8, 64, 512)


@dataclass(frozen=True)
class Rates:
    """What one thread does here in a second: bytes hashed, float64 operations of products, points in k-means."""

    hashed: float
    products: float
    clustered: float


def main() -> None:
    """Print both tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--logits", type=int, default=1000)
    options.add_argument("--sums", type=int, default=32)
    options.add_argument("--peak-of", type=int, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    torch.set_num_threads(1)
    if arguments.peak_of:
        print_peak(arguments.peak_of)
        return
    here(arguments.repeats)
    there(arguments.logits, arguments.sums or arguments.logits)


def here(repeats: int) -> None:
    """Measure 1 and 2 ranks alternately."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    analysed: dict[int, list[np.ndarray]] = {1: [], 2: []}
    found = []
    for _ in range(repeats):
        for ranks in seconds:
            with tempfile.TemporaryDirectory() as folder:
                artifact = build(Path(folder), ranks)
                seconds[ranks].append(artifact.note["seconds"])
                found.append(np.array(artifact["features"]))
                analysed[ranks].append(analyse(Path(folder), ranks))
    same = all(np.array_equal(found[0], each) for each in found[1:])
    print(f"digits, {SPEC.inputs.kernel} + {SPEC.inputs.test} inputs, {os.cpu_count()} cores; bit for bit: {same}")
    print("analyses: {} classes, {:,} inputs, k = {}, leading eigenpairs and 5 and 10 clusters".format(*SYNTHETIC))
    print("| ranks | features, s | speed-up | analyses, s | speed-up | processor s per rank | speed-up |")
    print("|---" * 7 + "|")
    columns = {ranks: np.column_stack([seconds[ranks], analysed[ranks]]) for ranks in seconds}
    for ranks, each in columns.items():
        times, gains = np.median(each, axis=0), np.median(columns[1] / each, axis=0)
        shown = [f"{time:.1f} | {gain:.2f}" for time, gain in zip(times, gains, strict=True)]
        print(f"| {ranks} | {' | '.join(shown)} |", flush=True)


def build(folder: Path, ranks: int):
    """Build the run's features in a folder of their own, and return their artifact."""
    (folder / "spec.json").write_text(SPEC.to_json())
    launched(folder, ranks, "build", "--spec", str(folder / "spec.json"), "--batch", "50")
    return open_run(SPEC.key, Store(folder)).artifacts["features"]


def analyse(folder: Path, ranks: int) -> np.ndarray:
    """Seconds of all analyses for 5 and 10 clusters without their start: by the clock, of a processor per rank."""
    C, m, k = SYNTHETIC
    rng = np.random.default_rng(0)
    phi = (rng.standard_normal((C, m + 100, k)) / np.arange(1, k + 1)).astype(np.float32)
    logits = phi.sum(axis=2).T
    labels = logits.argmax(axis=1)
    parts = phi[:, :m], phi[:, m:], logits[:m], logits[m:], labels[:m], labels[m:]
    key = from_features(*parts, store=Store(folder)).key
    spent = []
    for _ in range(2):
        clock, own = perf_counter(), processor()
        launched(folder, ranks, "analyse", key, "--clusters", "5", "10")
        spent.append([perf_counter() - clock, (processor() - own) / ranks])
    # The second finds all there.
    return np.subtract(*spent)


def processor() -> float:
    """Processor seconds of all processes that were started and have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def launched(folder: Path, ranks: int, *command: str) -> None:
    """Run a command under torchrun, of one thread each."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    environment = os.environ | {"DNTK_CACHE_DIR": str(folder), "OMP_NUM_THREADS": "1"}
    subprocess.run([*launcher, "-m", "dntk_core", *command], env=environment, cwd=ROOT, check=True, capture_output=True)


def there(logits: int, sums: int) -> None:
    """Predict ImageNet with ResNet-50, `EXACT` classes beside the sums."""
    torch.manual_seed(0)
    # What the engine takes beyond the signals does not depend on how many there are.
    module, x = torchvision.models.resnet50(num_classes=10).eval(), torch.randn(2, 3, 224, 224)
    network = prepare(module, x)
    through = projector(network, ProjectionSpec(), x.device)
    ratios = [timed(lambda: project_batch(network, through, x)) / timed(signals(module, x)) for _ in range(3)]
    beyond = np.median(ratios)
    forward = forward_flops(network, x[:1])
    each = sums * (peak(6) - peak(2)) / 4
    rates = measured()
    print(f"\nImageNet ({IMAGES:,} images), ResNet-50 at 224 px, {sums} sums of {logits} logits, k = {through.k}")
    print(f"forward {forward / 1e9:.1f} GFLOP; the engine takes {beyond:.2f} × the signal back-propagation (measured)")
    print(f"memory per input at most {each / 1e6:.0f} MB: measured for one logit, times all, as GPUs take them at once")
    print(
        f"one thread here: hashing {rates.hashed / 1e9:.2f} GB/s, float64 products {rates.products / 1e9:.0f} GFLOP/s, "
        f"k-means {rates.clustered:,.0f} points/s at H = {CLUSTERS} (measured)"
    )
    flops = forward * (1 + (sums + EXACT) * beyond)
    terms = {gpus: minutes(gpus, logits, sums, through.k, flops, rates) for gpus in GPUS}
    print("| minutes | " + " | ".join(f"{gpus} GPUs" for gpus in GPUS) + " |\n" + "|---" * (len(GPUS) + 1) + "|")
    for name in terms[GPUS[0]]:
        print(f"| {name} | " + " | ".join(f"{terms[gpus][name]:.1f}" for gpus in GPUS) + " |")
    print("| all | " + " | ".join(f"{sum(terms[gpus].values()):.1f}" for gpus in GPUS) + " |")
    largest = {gpus: max(terms[gpus], key=lambda name, gpus=gpus: terms[gpus][name]) for gpus in GPUS}
    print("largest: " + "; ".join(f"{gpus} GPUs: {name}" for gpus, name in largest.items()))


def minutes(gpus: int, logits: int, sums: int, k: int, flops: float, rates: Rates) -> dict[str, float]:
    """What every part takes, one after the other, for m = all images as kernel inputs."""
    m, width, blocks = IMAGES, sums * k, BASIS // BLOCK
    read, written, own = 4.0 * m * width, 4.0 * (m + TESTS) * (sums + EXACT) * k, 4.0 * m * EXACT * k
    storage, network, ours = HARDWARE["storage"], HARDWARE["network"], HARDWARE["cores"] * rates.products
    exchanged = blocks * (2 * 8 * width * BLOCK + 8 * m * BLOCK) + 2 * 8 * width * BASIS + 2 * 8 * EXACT * k**2
    # Inputs of all clusters that one rank decomposes: never less than one cluster.
    within = max(m / CLUSTERS, m / gpus)
    # Rows that fit are read once for all products.
    held = read / gpus <= HARDWARE["ram"] / 2
    seconds = {
        "gradients": (m + TESTS) / gpus * flops / (HARDWARE["flops"] * HARDWARE["share"]),
        "reading images": (m + TESTS) * IMAGE_BYTES / storage,
        "writing shards": written / storage,
        "hashing shards, each rank its own": written / gpus / rates.hashed,
        "verifying shards when first read, each rank its own": written / gpus / rates.hashed,
        "Lanczos: products": blocks * 4 * m * width * BLOCK / gpus / ours,
        "Lanczos: reading features": (1 if held else 2 * blocks) * read / storage,
        "Lanczos: orthogonalisation, every rank": 4 * m * BASIS**2 / ours,
        "sums between ranks": exchanged / network,
        "what test inputs see": 2 * (m + TESTS) * width * BASIS / gpus / ours + (not held) * read / storage,
        f"second moments of {EXACT} exact classes": (EXACT * m * k**2 / gpus + ceil(EXACT / gpus) * 10 * k**3) / ours
        + own / storage,
        "embedding by landmarks": 2 * (m + LANDMARKS) * LANDMARKS * width / gpus / ours + read / storage,
        f"k-means, H = {CLUSTERS}": m / gpus / rates.clustered,
        f"within {CLUSTERS} clusters, each on one rank": 4 * within * (width + BASIS) * BASIS / ours + read / storage,
        "readout of all logits, one process": 4 * (m + TESTS) * BASIS * logits / ours,
    }
    return {name: value / 60 for name, value in seconds.items()}


def measured() -> Rates:
    """What one thread does here."""
    data, A = bytes(2**26), np.random.default_rng(0).standard_normal((1024, 1024))
    points = np.random.default_rng(0).standard_normal((10_000, CLUSTERS))
    return Rates(
        len(data) / timed(lambda: hashlib.sha256(data).digest()),
        2 * 1024**3 / timed(lambda: A @ A),
        len(points) / timed(lambda: kmeans(points, CLUSTERS, np.random.default_rng(0))),
    )


def peak(inputs: int) -> int:
    """Peak memory, in bytes, of a process of its own that projects the gradients of so many inputs at once."""
    command = [sys.executable, "-m", "benchmarks.scaling", "--peak-of", str(inputs)]
    return int(subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout)


def print_peak(inputs: int) -> None:
    x = torch.randn(inputs, 3, 224, 224)
    network = prepare(torchvision.models.resnet50(num_classes=10).eval(), x[:2])
    project_batch(network, projector(network, ProjectionSpec(), x.device), x)
    print(peak_bytes())


def signals(module, x):
    """Signal back-propagation alone."""
    return lambda: list(limit(module, x))


def timed(call) -> float:
    started = process_time()
    call()
    return process_time() - started


if __name__ == "__main__":
    main()

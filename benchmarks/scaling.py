"""One and two ranks here, and what 8, 64 and 512 GPUs would take for ImageNet.

    python -m benchmarks.scaling [--repeats 3] [--logits 10]

Here: the features stage of the digits run under torchrun with 1 and 2 ranks of one thread each, alternately; their
features must agree bit for bit. There: ResNet-50 at 224 px. Its cost per input is counted in operations, times what
the engine was measured to need beyond the signal back-propagation (in processor time, on this machine); the hardware
is that of HARDWARE. Ranks exchange nothing: each reads images and writes shards, and the kernels read the shards once.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import torch
import torchvision

from benchmarks.engine import limit
from dntk_core.base.memory import peak_bytes
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.cache.store import Store
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import project_batch, projector
from dntk_core.run.pipeline import open_run
from dntk_core.run.stages.features import forward_flops

ROOT = Path(__file__).resolve().parent.parent
SPEC = RunSpec(model=ModelSpec(epochs=0), inputs=InputSpec(kernel=1200, test=500))
IMAGES, IMAGE_BYTES = 1_281_167, 110_000
# A GPU like an A100: float32 products through tensor cores (TF32, 156 TFLOP/s), 35 % of it in practice, 40 GB;
# storage that all ranks share.
HARDWARE = {"flops": 156e12, "share": 0.35, "memory": 40e9, "storage": 10e9}


def main() -> None:
    """Print both tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--logits", type=int, default=10)
    options.add_argument("--peak-of", type=int, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    torch.set_num_threads(1)
    if arguments.peak_of:
        print_peak(arguments.peak_of)
        return
    here(arguments.repeats)
    there(arguments.logits)


def here(repeats: int) -> None:
    """Measure 1 and 2 ranks alternately."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    found = []
    for _ in range(repeats):
        for ranks in seconds:
            with tempfile.TemporaryDirectory() as folder:
                artifact = build(Path(folder), ranks)
                seconds[ranks].append(artifact.note["seconds"])
                found.append(np.array(artifact["features"]))
    same = all(np.array_equal(found[0], each) for each in found[1:])
    print(f"digits, {SPEC.inputs.kernel} + {SPEC.inputs.test} inputs, {os.cpu_count()} cores; bit for bit: {same}")
    print("| ranks | features, s | speed-up |\n|---|---|---|")
    for ranks, values in seconds.items():
        gain = np.median(np.array(seconds[1]) / np.array(values))
        print(f"| {ranks} | {np.median(values):.1f} | {gain:.2f} |", flush=True)


def build(folder: Path, ranks: int):
    """Build the run's features in a folder of their own, and return their artifact."""
    (folder / "spec.json").write_text(SPEC.to_json())
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(ranks), "--master-port", "0"]
    command = [sys.executable, *launcher, "-m", "dntk_core", "build", "--spec", str(folder / "spec.json")]
    environment = os.environ | {"DNTK_CACHE_DIR": str(folder), "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, "--batch", "50"], env=environment, cwd=ROOT, check=True, capture_output=True)
    return open_run(SPEC.key, Store(folder)).artifacts["features"]


def there(logits: int) -> None:
    """Predict ImageNet with ResNet-50."""
    torch.manual_seed(0)
    module, x = torchvision.models.resnet50(num_classes=logits).eval(), torch.randn(2, 3, 224, 224)
    network = prepare(module, x)
    through = projector(network, ProjectionSpec(), x.device)
    ratios = [timed(lambda: project_batch(network, through, x)) / timed(signals(module, x)) for _ in range(3)]
    beyond = np.median(ratios)
    forward = forward_flops(network, x[:1])
    per_input = forward * (1 + logits * beyond)
    written = IMAGES * logits * through.k * 4
    each = logits * (peak(6) - peak(2)) / 4
    batch = int(0.8 * HARDWARE["memory"] // each)
    print(f"\nImageNet ({IMAGES:,} images), ResNet-50 at 224 px, {logits} logits, k = {through.k}")
    print(f"forward {forward / 1e9:.1f} GFLOP; the engine takes {beyond:.2f} × the signal back-propagation (measured)")
    print(f"memory per input at most {each / 1e6:.0f} MB: measured for one logit, times all, as GPUs take them at once")
    speed, storage = HARDWARE["flops"] * HARDWARE["share"], HARDWARE["storage"]
    print(f"per GPU {speed / 1e12:.0f} TFLOP/s, {HARDWARE['memory'] / 1e9:.0f} GB; storage {storage / 1e9:.0f} GB/s")
    print("| GPUs | compute, min | storage, min | total, min | batch | read, GB | written, GB | between GPUs, GB |")
    print("|---" * 8 + "|")
    read = IMAGES * IMAGE_BYTES
    for gpus in (8, 64, 512):
        computing, moving = IMAGES / gpus * per_input / speed / 60, (read + written) / storage / 60
        # Reading, computing and writing overlap: the slowest sets the pace.
        times = f"{computing:.1f} | {moving:.1f} | {max(computing, moving):.1f}"
        print(f"| {gpus} | {times} | {batch} | {read / 1e9:.0f} | {written / 1e9:.0f} | 0 |")


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

"""All analyses of many inputs, from memory-mapped features, without ever holding an m × m array.

    python -m benchmarks.scale_m [--m 2500 5000 10000 20000]

Features are synthetic: C = 10 classes, k = 2048, clustered, with a decaying spectrum, and lie in a temporary folder.
Every m runs in a process of its own, of one thread; times are its processor time in seconds, memory its peak (VmHWM,
which counts the mapped features). The last line fits time ~ m^exponent. Exits with 1 if memory exceeds 8 GB or the
exponent 1.2. With fewer than LARGEST_DENSE inputs kernels would be dense; here all take the same path.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
from dntk_core.kernels.gram import Crosses, Grams

from dntk_core.kernels.class_kernels import Kernels
from dntk_core.readout.problem import Problem
from dntk_core.run.live import Live

ROOT = Path(__file__).resolve().parent.parent
C, K, TESTS, RIDGE = 10, 2048, 2000, 1e-4
LIMIT_MB, LIMIT_EXPONENT = 8000, 1.2


def write_features(path: Path, count: int, seed: int) -> np.ndarray:
    """Draw clustered features (C, count, k) into a file, class by class, and map it."""
    shared = np.random.default_rng(0)
    decay = np.exp(-np.arange(K) / 40) + 0.002
    centres = shared.standard_normal((20, K))
    rng = np.random.default_rng(seed)
    group = rng.integers(20, size=count)
    features = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(C, count, K))
    common = rng.standard_normal((count, K), dtype=np.float32)
    for c in range(C):
        own = rng.standard_normal((count, K), dtype=np.float32)
        features[c] = (centres[group] + 0.7 * common + 0.5 * own + 0.5) * decay
    features.flush()
    return np.load(path, mmap_mode="r")


def problem(folder: Path, m: int) -> Problem:
    """Features on disk, and nearly linear outputs."""
    train, test = write_features(folder / "train.npy", m, 1), write_features(folder / "test.npy", TESTS, 2)
    weights = np.random.default_rng(3).standard_normal((C, K)).astype(np.float32)
    targets, logits = (
        np.stack([np.sin(f[c] @ weights[c] / 20) for c in range(C)], axis=1).astype(np.float64) for f in (train, test)
    )
    return Problem(Kernels(Grams(train), Crosses(test, train)), targets, logits, logits.argmax(axis=1))


def measure(m: int) -> dict:
    """Processor seconds of every analysis, in the order a user would meet them, and the peak memory."""
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        live = Live(problem(Path(folder), m))
        steps = {
            "eigenpairs of K̄": lambda: live.spectrum(),
            "clusters, H = 10": lambda: live.decomposition(10),
            "properties (A), (B)": lambda: (live.containment(10, 0.05), live.coverage(10, 0.05)),
            "Algorithm 1, scored": lambda: live.local_global_scores(10, 0.8, 0.8, RIDGE),
            "slider: τ_v": lambda: live.local_global_scores(10, 0.7, 0.8, RIDGE),
            "slider: ridge": lambda: live.local_global_scores(10, 0.8, 0.8, 10 * RIDGE),
            "slider: H": lambda: live.local_global_scores(5, 0.8, 0.8, RIDGE),
            "grid, 1 × 3 × 3": lambda: live.grid([10], [0.6, 0.7, 0.8], [0.4, 0.6, 0.8], RIDGE),
            "full readout": lambda: live.scores(None, RIDGE),
            "slider: rank": lambda: live.rank_scores(100, RIDGE),
            "size curve, kernel PCA": lambda: live.size_curve("kernel PCA", [5, 20, 50], RIDGE),
        }
        for name, step in steps.items():
            started = process_time()
            step()
            seconds[name] = process_time() - started
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
    return {"seconds": seconds, "peak": peak}


def alone(m: int) -> dict:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale_m", "--child", str(m)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)


def main() -> int:
    """Print one column per m."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--m", type=int, nargs="+", default=[2500, 5000, 10000, 20000])
    options.add_argument("--child", type=int, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.child:
        print(json.dumps(measure(arguments.child)))
        return 0
    found = [alone(m) for m in arguments.m]
    print("| processor seconds | " + " | ".join(f"m = {m:,}" for m in arguments.m) + " |")
    print("|---" * (len(found) + 1) + "|")
    for name in found[0]["seconds"]:
        print(f"| {name} | " + " | ".join(f"{each['seconds'][name]:.1f}" for each in found) + " |")
    totals = [sum(each["seconds"].values()) for each in found]
    print("| all | " + " | ".join(f"{total:.1f}" for total in totals) + " |")
    print("| peak memory, MB | " + " | ".join(str(each["peak"]) for each in found) + " |")
    exponent = np.polyfit(np.log(arguments.m), np.log(totals), 1)[0] if len(found) > 1 else 0.0
    print(f"time ~ m^{exponent:.2f} (at most {LIMIT_EXPONENT}); memory at most {LIMIT_MB:,} MB")
    return int(exponent > LIMIT_EXPONENT or max(each["peak"] for each in found) > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())

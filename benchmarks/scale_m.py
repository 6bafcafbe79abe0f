"""All analyses of many inputs, from features on disk, without ever holding an m × m array.

    python -m benchmarks.scale_m [--m 2500 5000 10000 20000] [--spectra fast slow] [--k 2048] [--memory 8000]

Features are synthetic: C = 10 classes, k dimensions, clustered, with a spectrum that decays fast, or slowly as that
of a ResNet-18 on ImageNette (of 500 inputs some 300 directions hold 95 %), made a run in a temporary cache. Every m
runs in a process of its own, of one thread; times are its processor time in seconds, memory its peak (VmHWM; making
the run counts). "Ahead" is what pages compute by themselves in the background when such a run is first opened, here
for two of the H that they offer; a slider's move to an H reads what was found. Sliders are timed by the very calls that
pages make. The last line fits time ~ m^exponent. Exits with 1 if memory exceeds that many MB, the exponent 1.2, or, at
20,000 inputs, a slider 0.5 s (H: 2 s). With fewer than LARGEST_DENSE inputs kernels would be dense; here all take the
same path.
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

from dntk_core.cache.store import Store
from dntk_core.kernels import feature_kernels
from dntk_core.kernels.together import Alone
from dntk_core.run.analyses import analyse, live_of
from dntk_core.run.distillation import Distillation
from dntk_core.run.from_features import from_features
from dntk_core.run.pipeline import Run

ROOT = Path(__file__).resolve().parent.parent
C, TESTS, RIDGE = 10, 2000, 1e-4
LIMIT_EXPONENT = 1.2
# Seconds that a slider may take at so many inputs.
JUDGED, LIMIT, LIMIT_H = 20_000, 0.5, 2.0
DECAYS = {"fast": lambda j: np.exp(-j / 40) + 0.002, "slow": lambda j: (1.0 + j) ** -0.35}


def write_features(path: Path, count: int, seed: int, decay: np.ndarray) -> np.ndarray:
    """Draw clustered features (C, count, k) into a file, class by class, and map it."""
    shared, K = np.random.default_rng(0), len(decay)
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


def made(folder: Path, store: Store, m: int, spectrum: str, K: int) -> Run:
    """A run of features and nearly linear outputs."""
    decay = DECAYS[spectrum](np.arange(K))
    sizes = (("train", m, 1), ("test", TESTS, 2))
    train, test = (write_features(folder / f"{name}.npy", *size, decay) for name, *size in sizes)
    weights = np.random.default_rng(3).standard_normal((C, K)).astype(np.float32)
    outputs = [np.stack([np.sin(f[c] @ weights[c] / 20) for c in range(C)], axis=1) for f in (train, test)]
    run = from_features(train, test, *outputs, *(each.argmax(axis=1) for each in outputs), store=store)
    for name, *_ in sizes:
        (folder / f"{name}.npy").unlink()
    return run


def measure(m: int, spectrum: str, K: int) -> dict:
    """Processor seconds of every analysis, in the order a user would meet them, the peak memory, and what was found."""
    seconds = {}
    feature_kernels.LARGEST_DENSE = 0
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "cache")
        run = made(Path(folder), store, m, spectrum, K)
        live = live_of(run, store=store)

        def open_run():
            nonlocal live
            # Analysed by another process, as a page finds it: what is read is verified.
            live = live_of(run, store=Store(store.root))
            live.modes()
            live.decomposition(10)

        def place(**settings):
            return lambda: Distillation(**settings).scores(live)

        steps = {
            "ahead: eigenpairs of K̄, class spectra, embedding": lambda: analyse(run, [], Alone(), store=store),
            "ahead: clusters, H = 10": lambda: analyse(run, [10], Alone(), store=store),
            "ahead: clusters, H = 5": lambda: analyse(run, [5], Alone(), store=store),
            "opening the run": open_run,
            "properties (A), (B)": lambda: (live.containment(10, 0.05), live.coverage(10, 0.05)),
            "full readout": lambda: live.scores(None, RIDGE),
            "Algorithm 1, scored": place(),
            "slider: τ_v": place(tau_v=0.7),
            "slider: τ_g": place(tau_v=0.7, tau_g=0.9),
            "slider: ridge": place(ridge=10 * RIDGE),
            "slider: H": place(H=5),
            "grid, 1 × 3 × 3": lambda: live.grid([10], [0.6, 0.7, 0.8], [0.4, 0.6, 0.8], RIDGE),
            "slider: rank": lambda: live.rank_curve([10, 100, 1000], RIDGE),
            "size curve, kernel PCA": lambda: live.size_curve("kernel PCA", [5, 20, 50], RIDGE),
        }
        for name, step in steps.items():
            started = process_time()
            step()
            seconds[name] = process_time() - started
            print(f"m = {m:,}, {spectrum}: {name} {seconds[name]:.2f} s", file=sys.stderr, flush=True)
        ranks = f"K̄ {live.spectrum().rank(0.05):,}, class 0 {live.spectrum(0).rank(0.05):,}"
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
    return {"seconds": seconds, "peak": peak, "ranks": ranks}


def alone(m: int, spectrum: str, K: int) -> dict:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale_m", "--child", str(m), spectrum, "--k", str(K)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout)


def too_slow(seconds: dict[str, float]) -> list[str]:
    """The sliders that take longer than they may."""
    limits = {name: LIMIT_H if name.endswith("H") else LIMIT for name in seconds if name.startswith("slider")}
    return [name for name, limit in limits.items() if seconds[name] > limit]


def table(sizes: list[int], spectrum: str, K: int, most: int) -> bool:
    """Print one column per m; whether all limits are kept."""
    found = [alone(m, spectrum, K) for m in sizes]
    print(f"\n| {spectrum} spectrum, processor seconds | " + " | ".join(f"m = {m:,}" for m in sizes) + " |")
    print("|---" * (len(found) + 1) + "|")
    for name in found[0]["seconds"]:
        print(f"| {name} | " + " | ".join(f"{each['seconds'][name]:.2f}" for each in found) + " |")
    totals = [sum(each["seconds"].values()) for each in found]
    print("| all | " + " | ".join(f"{total:.1f}" for total in totals) + " |")
    print("| peak memory, MB | " + " | ".join(str(each["peak"]) for each in found) + " |")
    print("| rank at 95 % | " + " | ".join(each["ranks"] for each in found) + " |")
    slow = [slider for m, each in zip(sizes, found, strict=True) if m == JUDGED for slider in too_slow(each["seconds"])]
    if JUDGED in sizes:
        print(f"\nsliders above their limit at m = {JUDGED:,}: {', '.join(slow) or 'none'}")
    exponent = np.polyfit(np.log(sizes), np.log(totals), 1)[0] if len(found) > 1 else 0.0
    print(f"\ntime ~ m^{exponent:.2f} (at most {LIMIT_EXPONENT}); memory at most {most:,} MB", flush=True)
    return not slow and exponent <= LIMIT_EXPONENT and max(each["peak"] for each in found) <= most


def main() -> int:
    """Print a table per spectrum."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--m", type=int, nargs="+", default=[2500, 5000, 10000, 20000])
    options.add_argument("--spectra", nargs="+", choices=DECAYS, default=[*DECAYS])
    options.add_argument("--k", type=int, default=2048)
    options.add_argument("--memory", type=int, default=8000)
    options.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.child:
        m, spectrum = arguments.child
        print(json.dumps(measure(int(m), spectrum, arguments.k)))
        return 0
    return int(not all([table(arguments.m, spectrum, arguments.k, arguments.memory) for spectrum in arguments.spectra]))


if __name__ == "__main__":
    sys.exit(main())

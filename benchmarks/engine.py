"""Projected per-sample per-logit gradients: the limit, the yardstick, this engine, and its peers, in one run.

    python -m benchmarks.engine [--network resnet18 bert …] [--k 2048] [--rounds 5] [--peers] [--memory]
                                [--projections identity sparse hadamard structured]

    yardstick   C plain batched autograd.grad calls with respect to all parameters, no per-sample gradients
    limit       the gradients with respect to activations alone, no weight gradients at all
    identity … structured   this engine, through each of its projections; the others: see benchmarks/peers.py

In every round each way runs once, so that all see the same machine. Times are processor time of one thread, ratios
(to the yardstick, and to the limit) medians over rounds. A way that fails on a network has its error as its entry; one
that takes longer than --cap seconds is not repeated, one that takes PATIENCE times as long is stopped. Memory is the
peak (VmHWM) of a process of its own that does this one thing; "nothing" has only loaded the network. Errors are
relative Frobenius errors of the class kernels against the exact ones, over --seeds fresh seeds (one for ways beyond
the cap), beside √((1 + d)/k), which is to be expected.
"""

import argparse
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.graph import get_gradient_edge

from benchmarks.measured_networks import NETWORKS, subject
from benchmarks.peers import PEERS, Parts
from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.johnson_lindenstrauss import expected_error, relative_error
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import exact_kernels, project_batch, projector

ROOT = Path(__file__).resolve().parent.parent
CPU = torch.device("cpu")
PROJECTIONS = ("identity", "sparse", "hadamard", "structured")
FIRST_SEED = 1000
# Caps after which a way is stopped.
PATIENCE = 5


LAYERS = (nn.Conv2d, nn.BatchNorm2d, nn.Linear, nn.LayerNorm, nn.Embedding)


@dataclass(frozen=True)
class Way:
    """One way to do the work: run(x) yields parts, one per logit; its time counts `factor` times."""

    run: Callable[[Tensor], Parts]
    inputs: int
    factor: int = 1


@dataclass
class Measured:
    """Seconds per input and logit in every round, and the class kernels of the first; or why there are none."""

    seconds: list
    kernels: np.ndarray | None = None
    failure: str = ""


def yardstick(module: nn.Module, x: Tensor) -> Parts:
    y, parameters = module(x), list(module.parameters())
    for c in range(y.shape[1]):
        torch.autograd.grad(y[:, c].sum(), parameters, retain_graph=True)
        yield "nothing", None


def limit(module: nn.Module, x: Tensor) -> Parts:
    edges = []
    leaves = [part for part in module.modules() if next(part.parameters(recurse=False), None) is not None]
    handles = [
        part.register_forward_hook(lambda part, args, y: edges.append(get_gradient_edge(y)))
        for part in leaves
        if isinstance(part, LAYERS)
    ]
    y = module(x)
    for handle in handles:
        handle.remove()
    for c in range(y.shape[1]):
        torch.autograd.grad(y[:, c].sum(), edges, retain_graph=True)
        yield "nothing", None


def engine(network, through, x: Tensor) -> Parts:
    for features in project_batch(network, through, x)[0]:
        yield "gradients", features


def ways(module: nn.Module, x: Tensor, k: int, projections: tuple[str, ...]) -> dict[str, Way]:
    """Every way by name, the yardstick first."""
    network = prepare(module, x)
    found = {
        "yardstick": Way(lambda x: yardstick(module, x), len(x)),
        "limit": Way(lambda x: limit(module, x), len(x)),
    }
    for name in projections:
        through = projector(network, ProjectionSpec(name, k, FIRST_SEED), CPU)
        # Whole gradients of a large network take P numbers per input.
        count = len(x) if name == "structured" else min(len(x), 4)
        found[name] = Way(lambda x, through=through: engine(network, through, x), count)
    for name, (run, inputs, factor) in PEERS.items():
        found[name] = Way(lambda x, run=run: run(module, x, k), min(inputs, len(x)), factor)
    return found


def once(way: Way, x: Tensor) -> tuple[float, list]:
    """Seconds of processor time per input and logit, and the kernels where there are any."""
    x, kernels, seconds, parts = x[: way.inputs], [], 0.0, 0
    steps = way.run(x)
    while True:
        started = process_time()
        part = next(steps, None)
        seconds += process_time() - started
        if part is None:
            return way.factor * seconds / (len(x) * parts), kernels
        parts += 1
        what, array = part
        if what != "nothing":
            array = array.detach().double()
            kernels.append((array if what == "kernel" else array @ array.T).numpy())


def stopped(*_: object) -> None:
    raise TimeoutError("stopped, it takes too long")


def measure(found: dict[str, Way], x: Tensor, rounds: int, cap: float) -> dict[str, Measured]:
    """Run every way in every round; do not repeat those that fail, or take longer than the cap."""
    measured: dict[str, Measured] = {}
    for _ in range(rounds + 1):
        for name, way in found.items():
            known = measured.get(name)
            if known is not None and (known.failure or known.seconds[0] * way.inputs * 10 / way.factor > cap):
                continue
            try:
                # Of processor time.
                signal.setitimer(signal.ITIMER_PROF, PATIENCE * cap)
                seconds, kernels = once(way, x)
                signal.setitimer(signal.ITIMER_PROF, 0)
            except Exception as error:
                signal.setitimer(signal.ITIMER_PROF, 0)
                measured[name] = Measured([], failure=f"{type(error).__name__}: {str(error).splitlines()[0][:90]}")
                continue
            if known is None:
                known = measured[name] = Measured([], np.stack(kernels) if kernels else None)
            known.seconds.append(seconds)
    return measured


def error_over_seeds(module: nn.Module, x: Tensor, spec: ProjectionSpec, exact: np.ndarray, seeds: int) -> float:
    """Mean relative error of the class kernels over seeds that nothing was tuned on."""
    network, errors = prepare(module, x), []
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        through = projector(network, ProjectionSpec(spec.name, spec.k, seed), CPU)
        features = project_batch(network, through, x)[0].double()
        errors += [relative_error((F @ F.T).numpy(), K) for F, K in zip(features, exact, strict=True)]
    return float(np.mean(errors))


def table(name: str, k: int, options, projections: tuple[str, ...]) -> None:
    """Measure one network and print its table."""
    module, x = subject(name)
    found = ways(module, x, k, projections)
    if not options.peers:
        found = {way: found[way] for way in ("yardstick", "limit", *projections)}
    measured = measure(found, x, options.rounds, options.cap)
    exact = exact_kernels(prepare(module, x), x).numpy()
    expected = np.mean([expected_error(K, k) for K in exact])

    def memory(way: str) -> str:
        return peak(name, k, way) if options.memory else "–"

    P = sum(p.numel() for p in module.parameters())
    print(f"\n{name}: P = {P:,}, inputs {tuple(x.shape)}, C = 10, k = {k}; error to expect {expected:.4f}")
    print("| way | ms per (input, logit) | of yardstick | of limit | peak, MB | kernel error | of expected |")
    print("|---" * 7 + f"|\n| nothing | – | – | – | {memory('nothing')} | – | – |")
    yard, least = (np.array(measured[way].seconds) for way in ("yardstick", "limit"))
    for way, result in measured.items():
        if result.failure:
            print(f"| {way} | fails: {result.failure} | | | | | |", flush=True)
            continue
        seconds = np.array(result.seconds)
        # The first round warms up, where there is a second.
        warm = slice(1 if len(seconds) > 1 else 0, None)
        ratio, above = (np.median((seconds / base[: len(seconds)])[warm]) for base in (yard, least))
        quick = seconds[0] * found[way].inputs * 10 < options.cap
        if way in projections and way != "identity" and quick:
            b = found[way].inputs if way != "structured" else len(x)
            some = exact[:, :b, :b]
            error = error_over_seeds(module, x[:b], ProjectionSpec(way, k), some, options.seeds)
            share = f"{error / np.mean([expected_error(K, k) for K in some]):.2f}"
        elif result.kernels is not None:
            b = result.kernels.shape[1]
            pairs = zip(result.kernels, exact[:, :b, :b], strict=True)
            error, share = np.mean([relative_error(ours, K) for ours, K in pairs]), "–"
        else:
            error, share = None, "–"
        shown = "–" if error is None else f"{error:.4f}"
        cost = 1e3 * np.median(seconds[warm])
        print(f"| {way} | {cost:.3g} | {ratio:.2f} | {above:.2f} | {memory(way)} | {shown} | {share} |", flush=True)


def peak(name: str, k: int, way: str) -> str:
    """Peak memory in MB of a process that goes one way once."""
    command = [sys.executable, "-m", "benchmarks.engine", "--network", name, "--k", str(k), "--memory-of", way]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.split()[-1] if done.returncode == 0 else "–"


def print_peak(name: str, k: int, way: str) -> None:
    module, x = subject(name)
    if way != "nothing":
        projections = (way,) if way in PROJECTIONS else ()
        chosen = ways(module, x, k, projections)[way]
        once(Way(chosen.run, chosen.inputs), x)
    lines = Path("/proc/self/status").read_text().splitlines()
    print(next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")))


def main() -> None:
    """Print one table per network."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--network", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    options.add_argument("--k", type=int, default=2048)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--cap", type=float, default=20.0, help="seconds after which a way is not repeated")
    options.add_argument("--projections", nargs="+", default=["structured"], choices=PROJECTIONS)
    options.add_argument("--peers", action="store_true", help="other libraries, too: see benchmarks/peers.py")
    options.add_argument("--memory", action="store_true", help="measure peaks, too, in processes of their own")
    options.add_argument("--memory-of", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    signal.signal(signal.SIGPROF, stopped)
    for name in arguments.network:
        if arguments.memory_of:
            print_peak(name, arguments.k, arguments.memory_of)
        else:
            table(name, arguments.k, arguments, tuple(arguments.projections))
    if not arguments.memory_of and "resnet18" in arguments.network and arguments.k == 2048:
        arguments.peers = False
        table("resnet18", 8192, arguments, ("structured",))


if __name__ == "__main__":
    main()

"""Peak memory of the engine over batch size and number of inputs, each in a process of its own.

    python -m benchmarks.memory [--network resnet18 mobilenet_v2 vit mlp]

Peak (VmHWM) of the whole process, where batch 0 has only prepared the network; the estimate by which a batch is chosen;
and P × batch × C numbers, which is what whole gradients would take. More inputs in batches of the same size must not
take more.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import torch

from benchmarks.measured_networks import NETWORKS, subject
from dntk_core.base.compute import Compute
from dntk_core.base.memory import peak_bytes
from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import bytes_per_input, projector, stream

ROOT = Path(__file__).resolve().parent.parent
BATCHES, INPUTS = (0, 1, 4, 16, 64), (64, 128)


def child(name: str, batch: int, inputs: int) -> None:
    """Print peak, estimate and whole gradients, in MB."""
    torch.set_num_threads(1)
    module, x = subject(name)
    network = prepare(module, x[:2])
    through = projector(network, ProjectionSpec(k=2048), x.device)
    x = x.repeat(-(-inputs // len(x)), 1, 1, 1)[:inputs]
    for _ in stream(network, through, x, Compute("cpu", batch=batch)) if batch else ():
        pass
    whole = 4 * network.P * batch * network.classes
    print(*(value // 2**20 for value in (peak_bytes(), batch * bytes_per_input(network, through), whole)))


def main() -> None:
    """Print one row per network, batch and number of inputs."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--network", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    options.add_argument("--child", nargs=2, type=int, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.child:
        child(arguments.network[0], *arguments.child)
        return
    print("| network | batch | inputs | peak, MB | estimate, MB | whole gradients, MB |\n" + "|---" * 6 + "|")
    for name in arguments.network:
        for batch in BATCHES:
            for inputs in INPUTS:
                command = [
                    sys.executable,
                    "-m",
                    "benchmarks.memory",
                    "--network",
                    name,
                    "--child",
                    str(batch),
                    str(inputs),
                ]
                done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
                print(f"| {name} | {batch} | {inputs} | {' | '.join(done.stdout.split())} |", flush=True)


if __name__ == "__main__":
    main()

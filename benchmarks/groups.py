"""What it costs to keep groups of parameters apart: time of gradients with groups over without, at equal total k.

    python -m benchmarks.groups [--rounds 5] [--inputs 32]

Both ways take turns on the same inputs, processor time of one thread; the median of rounds counts.
"""

import argparse
import time
from statistics import median

import torch
import torchvision

from dntk_core.base.compute import Compute
from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.network import Network
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import projector, stream
from dntk_core.models.small_resnet import SmallResNet

CPU = torch.device("cpu")
NETWORKS = {
    "small_resnet, 8 px": (lambda: SmallResNet(1, 10), (1, 8, 8)),
    "resnet18, 64 px": (lambda: torchvision.models.resnet18(num_classes=10), (3, 64, 64)),
}


def seconds(network: Network, x: torch.Tensor, spec: ProjectionSpec) -> float:
    """Processor time of all gradients of some inputs."""
    through = projector(network, spec, CPU)
    started = time.process_time()
    for _ in stream(network, through, x, Compute("cpu", batch=16)):
        pass
    return time.process_time() - started


def main() -> None:
    """Print a row per network and kind of groups."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inputs", type=int, default=32)
    parser.add_argument("--k", type=int, default=2048)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("| network | groups | without, s | with, s | ratio |")
    print("|---|---|---|---|---|")
    for name, (make, shape) in NETWORKS.items():
        torch.manual_seed(0)
        x = torch.randn(arguments.inputs, *shape)
        network = prepare(make().eval(), x[:4])
        plain = ProjectionSpec(k=arguments.k)
        for groups in ("blocks", "layers"):
            apart = ProjectionSpec(k=arguments.k, groups=groups)
            pairs = [(seconds(network, x, plain), seconds(network, x, apart)) for _ in range(arguments.rounds)]
            before, after = (median(times) for times in zip(*pairs, strict=True))
            ratio = median(b / a for a, b in pairs)
            print(f"| {name} | {groups} | {before:.2f} | {after:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()

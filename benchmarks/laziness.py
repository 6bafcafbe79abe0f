"""Wide against narrow: how far the tangent at initialisation predicts the embedded network at 1 x and 4 x width.

    python -m benchmarks.laziness [--epochs 2] [--widths 1 4] [--rates 0.2 0.02] [--seeds 3]

Gradients grow with width, so that the same step moves a wide network's outputs further. What theory says of wide
networks holds at a rate that falls as 1/width; both are printed. Before training the running statistics of batch norms
are set to those of the data, so that the first network is a network. "statistics following": batch norms have the
statistics of the test inputs, in tangent and networks alike. Means over seeds, and what the seeds lie between.
"""

import argparse
import copy
import time
from collections.abc import Sequence

import numpy as np
import torch

from dntk_core.base.progress import ignore
from dntk_core.base.spec import DataSpec, ModelSpec
from dntk_core.data.dataset import load_data
from dntk_core.gradients.linearisation import linearised
from dntk_core.models.seen import Seen
from dntk_core.models.small_resnet import SmallResNet
from dntk_core.models.training import accuracy, label_objective, train

WIDTH, TESTED = 32, 100
CPU = torch.device("cpu")


def with_statistics(network: torch.nn.Module, x: torch.Tensor) -> torch.nn.Module:
    """Set the running statistics of batch norms to those of some inputs."""
    norms = [part for part in network.modules() if isinstance(part, torch.nn.BatchNorm2d)]
    usual = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 1.0
    with torch.no_grad():
        network.train()(x)
    for norm, momentum in zip(norms, usual, strict=True):
        norm.momentum = momentum
    return network.eval()


def followed(width: int, rate: float, epochs: int, seed: int) -> tuple[float, float, float, float]:
    """Train at a width: both errors of the tangent at initialisation, relative change of weights, accuracy."""
    data = load_data(DataSpec())
    inputs, test = Seen(data, data.train_inputs), Seen(data, data.test_inputs)
    torch.manual_seed(seed)
    network = with_statistics(SmallResNet(data.channels, len(data.class_names), WIDTH * width), inputs[:256])
    first = copy.deepcopy(network)
    objective = label_objective(torch.from_numpy(data.train_labels), CPU)
    spec = ModelSpec(epochs=epochs, rate=rate, decay=0.0, seed=seed)
    last = train(network, inputs, objective, spec, ignore, CPU, augment=None)
    found, pairs = linearised(first, last, test[:TESTED]), list(zip(first.parameters(), last.parameters(), strict=True))
    with torch.no_grad():
        moved = sum(float((there - here).norm() ** 2) for here, there in pairs) ** 0.5
        size = sum(float(here.norm() ** 2) for here, _ in pairs) ** 0.5
    return found.error, found.following, moved / size, accuracy(last, test, torch.from_numpy(data.test_labels))


def shown(values: Sequence[float]) -> str:
    """A mean, and what the values lie between."""
    return f"{np.mean(values):.3f} ({min(values):.3f}–{max(values):.3f})"


def main() -> None:
    """Print a row per rate and width."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--widths", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--rates", type=float, nargs="+", default=[0.2, 0.02])
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    head = ("width", "rate", "linearisation error", "statistics following", "weights moved", "accuracy", "seconds")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for rate in arguments.rates:
        # The same rate for all first, then one that falls as 1/width.
        same = [(width, rate) for width in arguments.widths]
        for width, each in dict.fromkeys([*same, *((width, rate / width) for width in arguments.widths)]):
            started = time.process_time()
            runs = [followed(width, each, arguments.epochs, seed) for seed in range(arguments.seeds)]
            error, following, moved, right = map(shown, zip(*runs, strict=True))
            row = (f"{width} x", f"{each:g}", error, following, moved, right, f"{time.process_time() - started:.0f}")
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()

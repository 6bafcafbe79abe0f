"""Kernel error of every projection over k, beside what the lemma and theory say.

    python benchmarks/projection.py [--inputs 48] [--seeds 5]

Error = relative Frobenius error of the class kernels against the exact ones (mean over classes and seeds) on the
default run's network and its kernel inputs. "expected" is √((1 + d)/k), d = tr(K)²/‖K‖_F²; "JL ε" is the distance
error that the lemma guarantees for as many points. The last column is the exponent fitted to error ~ k^exponent.
"""

import argparse

import numpy as np
import torch

from dntk_core import Compute, RunSpec, load_or_build
from dntk_core.base.spec import ProjectionSpec
from dntk_core.data.dataset import load_data
from dntk_core.gradients.johnson_lindenstrauss import expected_error, guaranteed_epsilon, relative_error
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import exact_kernels, project_batch, projector
from dntk_core.models.artifact import load_network

SIZES = (256, 512, 1024, 2048, 4096)
# Orthonormalising a dense P × k matrix takes 2Pk² operations: minutes beyond this.
LARGEST = {"orthonormal": 512}


def main() -> None:
    """Print one row per projection."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--inputs", type=int, default=48)
    options.add_argument("--seeds", type=int, default=5)
    arguments = options.parse_args()
    run = load_or_build(RunSpec.default())
    data = load_data(run.spec.data)
    index = run.artifacts["inputs"]["kernel_index"][:: len(run.targets) // arguments.inputs][: arguments.inputs]
    x = torch.from_numpy(data.normalise(data.train_inputs[index]))
    network = prepare(load_network(run.spec, data, run.artifacts["model"], Compute("cpu")), x)
    exact = exact_kernels(network, x).numpy()
    print(f"{len(x)} inputs, P = {network.P:,}, {arguments.seeds} seeds")
    print("| projection | " + " | ".join(f"k = {k}" for k in SIZES) + " | exponent |")
    print("|---" * (len(SIZES) + 2) + "|")
    for name in ("orthonormal", "hadamard", "sparse", "structured"):
        errors = {
            k: np.mean([error(network, x, exact, ProjectionSpec(name, k, seed)) for seed in range(arguments.seeds)])
            for k in SIZES
            if k <= LARGEST.get(name, SIZES[-1])
        }
        slope = np.polyfit(np.log(list(errors)), np.log(list(errors.values())), 1)[0]
        cells = [f"{errors[k]:.4f}" if k in errors else "–" for k in SIZES]
        print(f"| {name} | " + " | ".join(cells) + f" | {slope:.2f} |")
    expected = [np.mean([expected_error(K, k) for K in exact]) for k in SIZES]
    print("| expected | " + " | ".join(f"{value:.4f}" for value in expected) + " | -0.50 |")
    print("| JL ε | " + " | ".join(f"{guaranteed_epsilon(len(x), k):.4f}" for k in SIZES) + " | -0.50 |")


def error(network, x, exact: np.ndarray, spec: ProjectionSpec) -> float:
    """Mean relative error of the class kernels under one projection."""
    features = project_batch(network, projector(network, spec, x.device), x)[0].double().numpy()
    return float(np.mean([relative_error(F @ F.T, K) for F, K in zip(features, exact, strict=True)]))


if __name__ == "__main__":
    main()

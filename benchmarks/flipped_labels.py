"""Finding wrong labels: 5 % of the digits' labels are flipped, a network is trained on them, its kernel finds them.

    python -m benchmarks.flipped_labels

Prints, for three seeds, the AUROC of the left-out margin (what the dashboard ranks suspicious labels by), of
self-influence, and of the network's own loss, which has seen every label.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from dntk_core import Live, RunSpec, load_or_build
from dntk_core.base.spec import DataSpec, InputSpec
from dntk_core.base.terminal import Bar
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.readout.probabilities import softmax
from dntk_core.run.checkup import suspicious_labels
from dntk_core.run.insight import Insight
from dntk_core.uses.calibration import auroc

SHARE = 0.05


def flipped(labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of which a share is another class's, and which."""
    generator = np.random.default_rng(seed)
    wrong = np.zeros(len(labels), dtype=bool)
    wrong[generator.permutation(len(labels))[: round(SHARE * len(labels))]] = True
    return np.where(wrong, (labels + generator.integers(1, 10, len(labels))) % 10, labels), wrong


def main() -> None:
    """Print one line for each seed."""
    data = load_data(RunSpec.default().data)
    print(f"{'seed':>4} {'network':>8} {'margin':>8} {'influence':>10} {'loss':>8}")
    for seed in range(3):
        labels, wrong = flipped(data.train_labels, seed)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "flipped.npz"
            np.savez(
                path,
                train_images=np.asarray(data.train_inputs[:], np.float32),
                train_labels=labels,
                test_images=np.asarray(data.test_inputs[:], np.float32),
                test_labels=data.test_labels,
            )
            spec = replace(
                RunSpec.default(),
                data=DataSpec("npz", str(path)),
                inputs=InputSpec(kernel=500, test=100, seed=seed),
                model=replace(RunSpec.default().model, seed=seed),
            )
            run = load_or_build(spec, Bar(), store=Store(Path(folder) / "cache"))
            there = wrong[np.array(run.artifacts["inputs"]["kernel_index"])]
            found = suspicious_labels(Insight(run, Live(run.problem)))
            own = softmax(run.targets)[np.arange(len(there)), run.train_labels]
            scores = (-found.margin, found.influence, -np.log(np.maximum(own, 1e-300)))
            shown = " ".join(f"{auroc(score, there):8.4f}" for score in scores)
            print(f"{seed:4} {run.test_accuracy:8.1%} {shown}  ({there.sum()} of {len(there)})", flush=True)


if __name__ == "__main__":
    main()

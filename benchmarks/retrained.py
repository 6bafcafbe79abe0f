"""Networks retrained on random halves of the digits, the truth that attributions are judged by; kept in a file."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from dntk_core import RunSpec
from dntk_core.base.progress import Progress, ignore
from dntk_core.base.randomness import generator
from dntk_core.base.terminal import Bar
from dntk_core.data.dataset import Dataset, load_data
from dntk_core.models.architectures import build_model
from dntk_core.models.seen import Seen
from dntk_core.models.training import label_objective, train

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Retrained:
    """What n networks make of t test inputs, each having seen its half.

    seen:    (n, m)  whether a training input was in the half
    margins: (n, t)  log p/(1 - p) of the test inputs' labels
    """

    seen: np.ndarray
    margins: np.ndarray


def retrained(spec: RunSpec, test_index: np.ndarray, networks: int, kept: Path) -> Retrained:
    """Retrain networks, or take those that a file has kept."""
    data = load_data(spec.data)
    margins = np.load(kept)["margins"] if kept.exists() else np.empty((0, len(test_index)))
    bar, n = Bar(), len(data.train_labels)
    for i in range(len(margins), networks):
        bar(Progress("retraining", i, networks))
        margins = np.vstack([margins, _margins(spec, data, np.flatnonzero(_half(i, n)), test_index, i)])
        np.savez(kept, margins=margins)
    bar(Progress("retraining", networks, networks))
    return Retrained(np.stack([_half(i, n) for i in range(networks)]), margins[:networks])


def _half(i: int, n: int) -> np.ndarray:
    """The i-th random half of n inputs: (n,) bool."""
    return generator(i, "halves").permutation(n) < n // 2


def _margins(spec: RunSpec, data: Dataset, chosen: np.ndarray, test_index: np.ndarray, seed: int) -> np.ndarray:
    # The run's own network has seed 0.
    network = replace(spec.model, seed=seed + 1)
    model = build_model(network, data.channels, data.class_names)
    objective = label_objective(torch.from_numpy(data.train_labels[chosen]), CPU)
    model = train(
        model, Seen(data, data.train_inputs, chosen), objective, replace(spec.model, seed=seed + 1), ignore, CPU
    )
    return margins_of(model.eval(), data, test_index)


@torch.no_grad()
def margins_of(model: torch.nn.Module, data: Dataset, test_index: np.ndarray) -> np.ndarray:
    """log p/(1 - p) of the labels of test inputs (t,)."""
    logits = model(Seen(data, data.test_inputs, test_index)[:]).double()
    own = torch.from_numpy(data.test_labels[test_index])[:, None]
    rest = logits.scatter(1, own, -torch.inf)
    return (logits.gather(1, own)[:, 0] - rest.logsumexp(1)).numpy()

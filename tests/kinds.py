"""Small runs on inputs that are not images, with networks as a user would bring them."""

from pathlib import Path

import numpy as np

from dntk_core.base.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec

NETWORKS = '''
import torch
from torch import nn


def table(classes):
    return nn.Sequential(nn.Linear(5, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, classes))


class Texts(nn.Module):
    """A bag of words: the mean embedding of the tokens that are there."""

    def __init__(self, classes):
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.mix = nn.Linear(8, 12)
        self.head = nn.Linear(12, classes)

    def forward(self, ids, mask=None):
        mask = torch.ones_like(ids) if mask is None else mask
        x = self.words(ids) * mask.unsqueeze(-1)
        return self.head(torch.relu(self.mix(x.sum(1) / mask.sum(1, keepdim=True))))
'''
COLUMNS = ("length", "width", "age", "<b>mass</b>", "pulse")
WORDS = ("<pad>", "the", "cat", "sat", *(f"word{i}" for i in range(4, 20)))
CLASSES = ("low", "middle", "high")


def write_networks(folder: Path) -> None:
    """The user's module `own_kinds`; its folder must be on the path."""
    (folder / "own_kinds.py").write_text(NETWORKS)


def table_spec(folder: Path) -> RunSpec:
    """Rows of five numbers in three classes, far from [0, 1]."""
    return _spec("table", folder, np.repeat([-30.0, 0.0, 40.0], 40), lambda rng, shift: _rows(rng, shift), COLUMNS)


def _rows(rng, shift):
    return {"inputs": rng.normal(size=(len(shift), 5)) * 5 + shift[:, None]}


def tokens_spec(folder: Path, masked: bool = True) -> RunSpec:
    """Texts of up to six words in three classes, each with favourite words, padded with zeros."""

    def texts(rng, first):
        ids = rng.integers(1, 8, (len(first), 6)) + first.astype(int)[:, None]
        mask = np.arange(6) < rng.integers(2, 7, len(first))[:, None]
        return {"inputs.ids": ids * mask, "inputs.mask": mask.astype(np.int64)} if masked else {"inputs": ids}

    return _spec("Texts", folder, np.repeat([0.0, 6.0, 12.0], 40), texts, WORDS)


def _spec(factory, folder, what, make, words):
    labels = np.repeat(np.arange(3), 40)
    arrays = {"class_names": np.array(CLASSES), "vocabulary": np.array(words)}
    for seed, part in enumerate(("train", "test")):
        made = make(np.random.default_rng(seed), what)
        arrays |= {f"{part}_{name}": array for name, array in made.items()} | {f"{part}_labels": labels}
    path = folder / f"{factory}.npz"
    np.savez(path, **arrays)
    return RunSpec(
        data=DataSpec("npz", str(path)),
        model=ModelSpec(f"own_kinds:{factory}", epochs=8, rate=0.1, batch=20),
        inputs=InputSpec(kernel=60, test=40),
        projection=ProjectionSpec(k=256),
    )

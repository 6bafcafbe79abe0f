"""Training: the same with and without an interruption, the best epoch kept, lazily decoded images."""

import numpy as np
import pytest
import torch
from torch import nn

from dntk_core.base.errors import Cancelled
from dntk_core.base.progress import ignore
from dntk_core.base.spec import DataSpec, ModelSpec
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import load_data
from dntk_core.models.training import RATE, Seen, accuracy, batches, label_objective, one_cycle
from dntk_core.models.training import train as train_on

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def problem():
    rng = torch.Generator().manual_seed(0)
    images = torch.randn(200, 1, 4, 4, generator=rng)
    return images, (images.mean((1, 2, 3)) > 0).long()


def train(model, images, labels, spec, report, *rest, **more):
    return train_on(model, images, label_objective(labels, CPU), spec, report, CPU, *rest, **more)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))


def test_it_learns(problem):
    model = train(network(), *problem, ModelSpec(epochs=15), ignore)
    assert accuracy(model, *problem) > 0.95 and not model.training


def stop_after(epochs):
    def report(event):
        if event.done == epochs:
            raise Cancelled

    return report


@pytest.mark.parametrize(("every", "left"), [(1, [6]), (2, [5, 6])])
def test_interrupted_and_resumed_it_ends_the_same(problem, tmp_path, monkeypatch, every, left):
    monkeypatch.setattr("dntk_core.models.training.STEPS_BETWEEN_CHECKPOINTS", every * batches(len(problem[0])))
    spec = ModelSpec(epochs=6, seed=3)
    undisturbed = train(network(), *problem, spec, ignore, Workbench(tmp_path / "a"))
    for epochs in (2, 5):
        with pytest.raises(Cancelled):
            train(network(), *problem, spec, stop_after(epochs), Workbench(tmp_path / "b"))
    done = []
    resumed = train(network(), *problem, spec, lambda event: done.append(event.done), Workbench(tmp_path / "b"))
    assert done == left
    for name, value in undisturbed.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], value), name
    assert len(list((tmp_path / "b").glob("epoch-*.json"))) == 1


def test_the_best_epoch_is_kept_and_training_stops_early(problem):
    scores = iter([0.5, 0.9] + [0.1] * 50)
    weights, events = [], []

    def judge(model):
        weights.append(model[1].weight.detach().clone())
        return next(scores)

    model = train(network(), *problem, ModelSpec(epochs=40), events.append, judge=judge)
    assert torch.equal(model[1].weight, weights[1])
    assert len(events) == 10 and "held-out accuracy" in events[0].note


def test_the_rate_rises_and_falls():
    rates = [one_cycle(share) for share in np.linspace(0, 1, 11)]
    assert max(rates) == rates[3] == RATE and rates[-1] == 0 and rates[0] < 0.01 * RATE + 1e-9


def test_seen_images_are_normalised_and_narrowed():
    data = load_data(DataSpec())
    seen = Seen(data, data.train_images, np.array([5, 3]))
    assert len(seen) == 2
    np.testing.assert_allclose(seen[[1]].numpy(), data.normalise(data.train_images[[3]]), rtol=1e-6)

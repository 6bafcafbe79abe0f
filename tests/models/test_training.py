"""Training: the same with and without an interruption, the best epoch kept, lazily decoded images."""

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load
from torch import nn

from dntk_core.base.errors import Cancelled
from dntk_core.base.progress import ignore
from dntk_core.base.spec import DataSpec, ModelSpec
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import Dataset, load_data
from dntk_core.data.images import ImageFiles
from dntk_core.models.architectures import build_model
from dntk_core.models.seen import Seen, example
from dntk_core.models.training import accuracy, batches, label_objective, one_cycle, save_weights, settled_threads
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
    monkeypatch.setattr("dntk_core.models.training.STEPS_BETWEEN_CHECKPOINTS", every * batches(len(problem[0]), 64))
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
    rates = [one_cycle(share, 0.2) for share in np.linspace(0, 1, 11)]
    assert max(rates) == rates[3] == 0.2 and rates[-1] == 0 and rates[0] < 0.002 + 1e-9


def test_seen_images_are_normalised_and_narrowed():
    data = load_data(DataSpec())
    seen = Seen(data, data.train_inputs, np.array([5, 3]))
    assert len(seen) == 2
    np.testing.assert_allclose(seen[[1]].numpy(), data.normalise(data.train_inputs[[3]]), rtol=1e-6)


def test_a_last_batch_of_one_input_is_no_batch(problem):
    images, labels = problem
    for n in (65, 129):
        assert batches(n, 64) == n // 64
        train(network(), images[:n], labels[:n], ModelSpec(epochs=1), ignore)


def test_rate_batch_and_decay_are_those_of_the_spec(problem, monkeypatch):
    images, labels = problem
    used = []
    step = torch.optim.SGD.step

    def spy(self, *args):
        used.append((self.param_groups[0]["lr"], self.param_groups[0]["weight_decay"]))
        return step(self, *args)

    monkeypatch.setattr(torch.optim.SGD, "step", spy)
    train(network(), images, labels, ModelSpec(epochs=2, rate=0.05, batch=20, decay=0.01), ignore)
    assert len(used) == 2 * 10 and {decay for _, decay in used} == {0.01}
    assert max(rate for rate, _ in used) == pytest.approx(0.05)


def test_nothing_is_moved_unless_asked(problem):
    images, labels = problem
    seen = []

    class Spy(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(16, 2)

        def forward(self, x):
            seen.append(x)
            return self.head(x.flatten(1)), "an answer may hold more than logits"

    train(Spy(), images, labels, ModelSpec(epochs=1), ignore, augment=None)
    rows = torch.cat(seen).flatten(1)
    assert {tuple(row) for row in rows.tolist()} == {tuple(row) for row in images.flatten(1).tolist()}


def test_broken_files_cost_no_training(tmp_path):
    for i in range(70):
        Image.fromarray(np.full((4, 4, 3), 200 * (i % 2), np.uint8)).save(tmp_path / f"{i}.png")
    for i in (0, 1, 7):
        (tmp_path / f"{i}.png").write_bytes(b"broken")
    files = ImageFiles(tuple(tmp_path / f"{i}.png" for i in range(70)), 4, 4)
    labels = np.arange(70) % 2
    data = Dataset(files, labels, files, labels, ("dark", "bright"), (0.5,) * 3, (0.5,) * 3)
    model = nn.Sequential(nn.Flatten(), nn.Linear(48, 2), nn.BatchNorm1d(2))
    seen = Seen(data, files)
    # A batch of two broken files is no batch at all.
    model = train(model, seen, torch.from_numpy(labels), ModelSpec(epochs=3, batch=2, rate=0.02), ignore)
    done = []
    assert accuracy(model, seen, torch.from_numpy(labels), done.append) == 1.0 and done[-1] == 70
    assert [name.rpartition("/")[2] for name in data.unreadable] == ["0.png", "1.png", "7.png"]
    assert len(example(data)) == 2


@pytest.mark.parametrize("change", ["tied", "channels last"])
def test_weights_of_any_layout_are_kept(change):
    model = nn.Sequential(nn.Conv2d(3, 3, 3), nn.Conv2d(3, 3, 3))
    if change == "tied":
        model[1].weight = model[0].weight
    else:
        model = model.to(memory_format=torch.channels_last)
    kept = load(save_weights(model))
    assert all(torch.equal(kept[name], value) for name, value in model.state_dict().items())


def test_a_bundled_network_is_the_same_on_any_number_of_threads():
    data, index = load_data(DataSpec()), np.arange(130)
    spec, seen = ModelSpec(epochs=1), Seen(data, data.train_inputs, index)
    labels, before, states = torch.from_numpy(data.train_labels[index]), torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            model = build_model(spec, data.channels, data.class_names)
            with settled_threads(spec, CPU) as note:
                assert note == {} and torch.get_num_threads() == 1
                states.append(train(model, seen, labels, spec, ignore).state_dict())
            assert torch.get_num_threads() == threads
        with settled_threads(ModelSpec("resnet18"), CPU) as note:
            assert note == {"threads": 2}
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])

"""A network and data at hand become a run like any other."""

import numpy as np
import pytest
import torch
from jacobians import jacobian
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from dntk_core import Cancelled, DNTKError, Live, from_features, load_or_build, open_run, runs, study
from dntk_core.cache.store import Store
from dntk_core.run.asked import known

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(40, 5, generator=G), torch.arange(40) % 3
TRAIN, TEST = DataLoader(TensorDataset(X, Y), shuffle=True, batch_size=7), TensorDataset(X[:12] + 0.1, Y[:12])


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3))


def small(model, store, **settings):
    settings = {"kernel_inputs": 30, "k": 60, "report": lambda event: None} | settings
    return study(model, TRAIN, TEST, store=store, **settings)


def stop_at(stage):
    """A listener that cancels the first step of a stage."""

    def listen(event):
        if event.stage == stage and event.done:
            raise Cancelled

    return listen


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_its_kernels_are_those_of_the_network_and_it_is_given_back_as_it_was(store):
    model = network()
    run = small(model, store, projection="identity", classes=["a", "b", "c"])
    assert model.training and model[2].training
    assert run.class_names == ("a", "b", "c") and run.kind == "table" and len(run.test_labels) == 12
    assert np.bincount(run.train_labels).tolist() == [10, 10, 10] and run.artifacts["inputs"].note["n"] == 40
    inputs = torch.from_numpy(np.array(run.inputs[:]))
    exact = jacobian(model.eval(), inputs)
    np.testing.assert_allclose(run.kernels.train, exact @ exact.mT, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(run.targets, model(inputs).detach(), rtol=1e-4, atol=1e-5)
    # No name could load them again.
    tested = known(run, "test_inputs", store)
    assert tested and np.array_equal(tested["inputs-0"], TEST.tensors[0][run.artifacts["inputs"]["test_index"]])


def test_a_second_call_opens_it_and_so_does_its_key(store):
    stages = []
    first = small(network(), store)
    again = small(network(), store, name="other words", report=lambda event: stages.append(event.stage))
    assert again.key == first.key and set(stages) == {"reading"}
    assert open_run(first.key, store).test_accuracy == first.test_accuracy
    assert load_or_build(first.spec, store=store).key == first.key
    assert [info.key for info in runs(store)] == [first.key]


def test_other_weights_code_inputs_or_settings_are_another_run(store):
    moved = network()
    with torch.no_grad():
        moved[0].bias[0] += 1e-3
    other = network()
    other[1] = nn.Tanh()
    changes = [
        (network(), {}),
        (moved, {}),
        (other, {}),
        (network(), {"forward": lambda m, x: 2 * m(x)}),
        (network(), {"kernel_inputs": 29}),
        (network(), {"k": 50}),
    ]
    for model, settings in changes:
        with pytest.raises(Cancelled):
            small(model, store, report=stop_at("inputs"), **settings)
    assert len(runs(store)) == len(changes)


def test_stopped_and_called_again_it_goes_on(store):
    with pytest.raises(Cancelled):
        small(network(), store, report=stop_at("features"))
    (left,) = runs(store)
    assert not left.finished
    with pytest.raises(DNTKError, match="was made in Python"):
        load_or_build(left.spec, store=store)
    done = []
    run = small(network(), store, report=lambda event: event.stage == "features" and done.append(event.done))
    assert run.key == left.key and min(done) >= 30


class Words(nn.Module):
    """A classifier of token ids under a mask that answers with a dict, as those of transformers do."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(20, 6), nn.Linear(6, 3)

    def forward(self, ids, mask):
        mean = (self.embed(ids) * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return {"loss": None, "logits": self.head(mean)}


def test_batches_may_be_dicts_and_be_called_as_the_user_says(store):
    ids = torch.randint(0, 20, (40, 7), generator=G)
    rows = [{"ids": i, "mask": (i > 3).float() + 0.1, "labels": y} for i, y in zip(ids, Y, strict=True)]
    torch.manual_seed(2)
    model = Words()
    settings = {"store": store, "kernel_inputs": 21, "test_inputs": 6, "k": 90, "report": lambda event: None}
    plain = study(model, rows, DataLoader(rows, batch_size=4), **settings)
    said = study(model, rows, rows, forward=lambda m, b: m(b["ids"], b["mask"])["logits"], **settings)
    assert plain.kind == "tokens" and plain.key != said.key
    np.testing.assert_allclose(plain.targets, said.targets, atol=1e-6)


@pytest.mark.parametrize(
    "model, settings, says",
    [
        (nn.Linear(5, 7), {"classes": ["a", "b", "c"]}, "7 outputs, the data have 3 classes"),
        (nn.Linear(5, 7), {}, "class '3' has no kernel inputs"),
        (nn.Linear(4, 3), {}, "cannot be called on a batch of the data: RuntimeError"),
        (network(), {"kind": "sound"}, "kind must be one of"),
        (network(), {"k": 0}, "k must be at least 1"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_leaves_nothing(model, settings, says, store):
    with pytest.raises(DNTKError, match=says):
        small(model, store, **settings)
    assert not runs(store) and model.training


def test_some_outputs_of_a_larger_head(store):
    torch.manual_seed(3)
    run = small(nn.Linear(5, 7), store, forward=lambda m, x: m(x)[:, [6, 1, 4]])
    assert run.targets.shape == (30, 3)


def test_features_that_are_there_make_the_same_run(store):
    run = small(network(), store)
    held = run.artifacts["features"]
    arrays = [torch.from_numpy(np.array(held[name])) for name in ("features", "test_features")]
    logits = (held["outputs"], held["test_outputs"])
    made = from_features(*arrays, *logits, run.train_labels, run.test_labels, store=store, parameters=75)
    ours, theirs = (Live(each.problem).scores(None, ridge=1e-4) for each in (made, run))
    assert ours == theirs and made.parameters == 75 and made.test_accuracy == run.test_accuracy
    opened = open_run(made.key, store)
    assert opened.kind == "table" and opened.vocabulary == ("number",) and opened.class_names == ("0", "1", "2")
    again = from_features(*arrays, *logits, run.train_labels, run.test_labels, store=store, parameters=75)
    assert again.key == made.key
    for wrong, says in (
        ((arrays[0], arrays[1][:, :, 1:], *logits), r"test_phi must be \(3, 12, 60\)"),
        ((arrays[0][0], arrays[1], *logits), r"phi must be \(C, m, k\)"),
        ((arrays[0] / 0, arrays[1], *logits), "must be finite"),
    ):
        with pytest.raises(DNTKError, match=says):
            from_features(*wrong, run.train_labels, run.test_labels, store=store)
    with pytest.raises(DNTKError, match=r"labels must lie in 0\.\.2"):
        from_features(*arrays, *logits, run.train_labels + 1, run.test_labels, store=store)

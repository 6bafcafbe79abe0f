"""Groups of parameters: they sum to the whole, the last layer is the features' Gram matrix plus the bias."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dntk_core import RunSpec, load_or_build
from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.data.inputs import opened
from dntk_core.models.artifact import load_network
from dntk_core.models.parameters import group_names
from dntk_core.models.seen import Seen
from dntk_core.run.layers import layers

SMALL = RunSpec(model=ModelSpec(epochs=1), inputs=InputSpec(kernel=20, test=12), projection=ProjectionSpec(k=3000))


def apart(**settings) -> RunSpec:
    return replace(SMALL, projection=replace(SMALL.projection, **settings))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("layers"))


@pytest.fixture(scope="module")
def blocks(store):
    events = []
    run = load_or_build(apart(groups="blocks"), events.append, store=store)
    said = next(event.note for event in events if event.stage == "groups")
    assert said.startswith("5 groups share k = 3,000, no more time or disk: 2 kept exactly")
    return run


def test_groups_sum_to_the_whole(store, blocks):
    names = [columns.group for columns in blocks.columns]
    assert names == ["stem", "blocks.0", "blocks.1", "blocks.2", "head"]
    assert sum(columns.P for columns in blocks.columns) == blocks.parameters and blocks.features.shape[2] == 3000
    Phi = np.asarray(blocks.features[4], dtype=np.float64)
    parts = [Phi[:, columns.part] @ Phi[:, columns.part].T for columns in blocks.columns]
    np.testing.assert_allclose(sum(parts), np.array(blocks.artifacts["kernels"]["train"][4]), rtol=1e-10)
    # Exactly kept, they are the exact kernel's parts, whatever the order of columns.
    exact = load_or_build(apart(name="identity"), store=store)
    split = load_or_build(apart(name="identity", groups="conv head"), store=store)
    assert [columns.group for columns in split.columns] == ["conv", "head", "others"]
    np.testing.assert_allclose(
        split.artifacts["kernels"]["train"], exact.artifacts["kernels"]["train"], rtol=1e-4, atol=1e-4
    )
    whole = np.array(exact.artifacts["kernels"]["train"]).mean(0)
    found = np.array(blocks.artifacts["kernels"]["train"]).mean(0)
    assert np.linalg.norm(found - whole) < 0.2 * np.linalg.norm(whole)


def test_the_last_layer_is_the_gram_matrix_of_its_features_plus_the_bias(store, blocks):
    head = load_or_build(apart(parameters="^head"), store=store)
    assert head.parameters == 650 == head.features.shape[2] and head.columns[0].exact
    data = load_data(head.spec.data)
    network = load_network(head.spec, data, head.artifacts["model"], Compute())
    assert sum(p.requires_grad for p in network.parameters()) == 2
    inputs = head.artifacts["inputs"]
    x = Seen(data, opened(inputs, inputs.note))[np.arange(20)]
    with torch.no_grad():
        h = network.blocks(network.stem(x)).mean((2, 3)).double().numpy()
    for c in (0, 7):
        np.testing.assert_allclose(head.artifacts["kernels"]["train"][c], h @ h.T + 1, rtol=1e-4)
        Phi = np.asarray(blocks.features[c][:, blocks.columns[-1].part], dtype=np.float64)
        assert blocks.columns[-1].exact
        np.testing.assert_allclose(Phi @ Phi.T, h @ h.T + 1, rtol=1e-4)


def test_every_group_is_judged(blocks):
    found = layers(blocks, 1e-4)
    assert np.isclose(found.trace.sum(), 1) and np.isclose(found.fit.sum(), 1)
    assert np.allclose(np.diag(found.between), 1) and found.between.shape == (5, 5)
    assert found.alone.shape == found.without.shape == (5,) and 0 <= found.full <= 1
    one = layers(blocks, 1e-4, c=3)
    y = blocks.targets[:, 3] - blocks.targets[:, 3].mean()
    part = np.asarray(blocks.features[3][:, blocks.columns[4].part], dtype=np.float64)
    centred = part - part.mean(axis=0)
    aligned = np.sum((y @ centred) ** 2) / (np.linalg.norm(centred @ centred.T) * (y @ y))
    np.testing.assert_allclose(one.targets[4], aligned, rtol=1e-6)
    K = np.array(blocks.artifacts["kernels"]["train"][3])
    Phi = np.asarray(blocks.features[3][:, blocks.columns[1].part], dtype=np.float64)
    np.testing.assert_allclose(one.trace[1], np.sum(Phi**2) / np.trace(K))


def test_keys_know_of_groups_only_where_there_are_any():
    assert set(ProjectionSpec().content) == {"name", "k", "seed"}
    assert len({SMALL.key, apart(groups="blocks").key, apart(parameters="^head").key}) == 3


def test_bad_groups_are_one_sentence(store, blocks):
    names = ("stem.0.weight", "head.weight")
    with pytest.raises(DNTKError, match=r"the group 'tail' is empty.*stem\.0\.weight"):
        group_names(names, "head tail")
    with pytest.raises(DNTKError, match="is no regular expression"):
        group_names(names, "(")
    with pytest.raises(DNTKError, match="no parameter's name matches 'adapter'"):
        load_or_build(apart(parameters="adapter"), store=store)
    with pytest.raises(DNTKError, match="k = 3 dimensions cannot be shared by 5 groups"):
        load_or_build(apart(groups="blocks", k=3), store=store)
    with pytest.raises(DNTKError, match="kept no groups"):
        layers(load_or_build(apart(parameters="^head"), store=store))

"""Projected gradients of many images: shards join to what one batch gives, each is verified once."""

import numpy as np
import pytest
import torch
from jacobians import CPU, IDENTITY
from networks import make

from dntk_core.base.compute import Compute
from dntk_core.base.progress import Steps
from dntk_core.cache import files
from dntk_core.cache.workbench import Workbench
from dntk_core.gradients import extraction
from dntk_core.gradients.extraction import project_images, share_images
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import project_batch, projector

COMPUTE = Compute("cpu")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A network, a projection, seven images in three shards, and a workbench."""
    monkeypatch.setattr(extraction, "SHARD", 3)
    module, x, _ = make("convolutions", b=7)
    network = prepare(module, x)
    return network, projector(network, IDENTITY, CPU), x, Workbench(tmp_path / "bench")


def extract(work, bench=None):
    network, through, x, own = work
    events = []
    steps = Steps(events.append, "features", 10, 17)
    return project_images(network, through, x, COMPUTE, bench or own, "s", steps), [event.done for event in events]


def test_shards_join_to_what_one_batch_gives(work):
    network, through, x, bench = work
    found, done = extract(work)
    features, outputs = project_batch(network, through, x)
    torch.testing.assert_close(torch.from_numpy(np.asarray(found.features)), features, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(torch.from_numpy(found.outputs), outputs)
    assert found.seconds > 0 and done == [13, 16, 17, 17]
    assert sorted(path.name for path in bench.folder.glob("*.json")) == ["s-0.json", "s-3.json", "s-6.json"]


def test_a_shard_is_read_to_verify_it_only_if_another_process_wrote_it(work, monkeypatch):
    hashed = []
    real = files.sha256
    monkeypatch.setattr(files, "sha256", lambda path: hashed.append(path.name) or real(path))
    first, _ = extract(work)
    assert hashed == []
    again, _ = extract(work, Workbench(work[3].folder))
    assert len(hashed) == len(set(hashed)) == 9
    assert np.array_equal(np.asarray(first.features), np.asarray(again.features))


def test_a_damaged_shard_is_projected_again(work):
    first, _ = extract(work)
    kept = np.asarray(first.features)
    shard = work[3].folder / "s-3.features.npy"
    shard.write_bytes(shard.read_bytes()[:-4])
    assert np.array_equal(np.asarray(extract(work)[0].features), kept)


def test_helpers_leave_shards_for_the_one_who_joins_them(work, monkeypatch):
    network, through, x, bench = work
    share_images(network, through, x, COMPUTE, bench, "s", Steps(lambda event: None, "features", 0, 7))
    monkeypatch.setattr(extraction, "_project", lambda *work: pytest.fail("a shard was projected twice"))
    assert extract(work)[0].features.shape == (network.classes, 7, network.P)


def test_every_process_begins_with_shards_of_its_own(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    orders = []
    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        orders.append(extraction._own_first(["a", "b", "c"]))
    assert orders == [["a", "c", "b"], ["b", "a", "c"]]

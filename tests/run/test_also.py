"""Other inputs beside a run's own: added once, told apart, swept with their run; bad ones refused in a sentence."""

import numpy as np
import pytest

from dntk_core import DNTKError, RunSpec, collect_garbage, delete_run, load_or_build
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.run.also import add_inputs, added
from dntk_core.run.doubt import FULL, Doubt, foreign, told_apart
from dntk_core.run.insight import Insight
from dntk_core.run.live import Live

SMALL = RunSpec(model=ModelSpec(epochs=1), inputs=InputSpec(kernel=40, test=20), projection=ProjectionSpec(k=256))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("also"))
    return store, load_or_build(SMALL, store=store)


def test_inputs_of_another_shape_or_kind_are_refused(place, tmp_path):
    store, run = place
    shape = run.images.shape[1:]
    for name, array, said in (
        ("large", np.zeros((3, 1, 99, 99), np.uint8), "the run's inputs are"),
        ("bright", np.full((3, *shape), 7.0), "8-bit or in"),
        ("none", np.zeros((0, *shape), np.uint8), "holds no images"),
    ):
        np.savez(tmp_path / f"{name}.npz", images=array)
        with pytest.raises(DNTKError, match=said):
            add_inputs(run, name, tmp_path / f"{name}.npz", store=store)
    with pytest.raises(DNTKError, match="neither a folder"):
        add_inputs(run, "gone", tmp_path / "gone", store=store)
    with pytest.raises(DNTKError, match="needs a name"):
        add_inputs(run, "", tmp_path / "large.npz", store=store)
    assert not added(run, store)


def test_other_inputs_are_kept_with_the_run_and_told_apart(place, tmp_path):
    store, run = place
    index = np.array(run.artifacts["inputs"]["test_index"])
    own = np.asarray(load_data(run.spec.data).test_inputs[index], np.float32)
    np.savez(tmp_path / "same.npz", images=own)
    np.savez(tmp_path / "noise.npz", images=np.random.default_rng(0).random(own.shape).astype(np.float32))
    for name in ("same", "noise"):
        add_inputs(run, name, tmp_path / f"{name}.npz", store=store)
    (tmp_path / "noise.npz").unlink()
    collect_garbage(store)
    found = added(run, store)
    assert set(found) == {"same", "noise"}
    np.testing.assert_allclose(
        found["same"]["features"], run.artifacts["features"]["test_features"], rtol=1e-3, atol=1e-3
    )
    live = Live(run.problem)
    doubt = Doubt(Insight(run, live), live.distil("kernel PCA", 8, 1e-4))
    assert told_apart(doubt, found["same"])[f"{FULL}, deviation"] == pytest.approx(0.5, abs=0.05)
    assert foreign(doubt, found["noise"]).logits.shape == (20, 10)
    delete_run(run.key, store)
    assert not added(run, store)

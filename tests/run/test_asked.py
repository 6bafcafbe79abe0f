"""What is computed only when asked for: kept with the run, part of no key, swept with its run."""

import numpy as np
import pytest

from dntk_core import RunSpec, collect_garbage, delete_run, load_or_build
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.data.images import as_images
from dntk_core.data.shifts import SHIFTS, STRENGTHS
from dntk_core.run.asked import ask, known

SMALL = RunSpec(model=ModelSpec(epochs=1), inputs=InputSpec(kernel=20, test=12), projection=ProjectionSpec(k=64))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("asked"))
    return store, load_or_build(SMALL, store=store)


def test_test_inputs_are_kept_with_the_run_in_8_bits_and_outlive_garbage_collection(place):
    store, run = place
    assert "test_inputs" not in run.spec.stages
    collect_garbage(store)
    found = known(run, "test_inputs", store)
    assert found is not None and found["images"].dtype == np.uint8
    index = np.array(run.artifacts["inputs"]["test_index"])
    shown = as_images(found["images"])[np.arange(12)]
    np.testing.assert_allclose(shown, load_data(run.spec.data).test_inputs[index], atol=0.51 / 255)


def test_a_run_from_before_test_inputs_were_kept_with_it_gets_them_when_asked(place):
    store, run = place
    before = np.array(ask(run, "test_inputs", store=store)["images"])
    store.delete("test_inputs", run.spec.stage_key("test_inputs"))
    assert known(run, "test_inputs", store) is None
    assert np.array_equal(ask(run, "test_inputs", store=store)["images"], before)


def test_shifted_inputs_go_through_the_run_s_own_network_and_projection(place):
    store, run = place
    events = []
    found = ask(run, "shifts", events.append, store=store)
    count, n = len(SHIFTS) * len(STRENGTHS), len(found["index"])
    assert found["features"].shape == (10, count * n, 64) and found["outputs"].shape == (count * n, 10)
    assert found.note["names"] == list(SHIFTS) and events[-1].done == events[-1].total == count * n
    # The mildest contrast hardly changes an input: its gradients are nearly those of the test input.
    at = (list(SHIFTS).index("contrast") * len(STRENGTHS)) * n
    own, changed = run.artifacts["features"]["test_features"][:, found["index"]], found["features"][:, at : at + n]
    cosine = np.sum(own * changed) / (np.linalg.norm(own) * np.linalg.norm(changed))
    assert cosine > 0.9
    delete_run(run.key, store)
    assert known(run, "shifts", store) is None

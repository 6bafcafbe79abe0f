"""The network's stage: weights as they are, and the accuracy they have."""

import numpy as np
import pytest
from safetensors.torch import load

from dntk_core.base.spec import ModelSpec
from dntk_core.data.dataset import load_data
from dntk_core.models.architectures import build_model
from dntk_core.models.seen import Seen
from dntk_core.run.stages import model


def test_without_epochs_the_weights_are_as_drawn_and_judged_on_the_test_inputs(default_run, rebuild):
    contents, note = rebuild(default_run, "model", model=ModelSpec(epochs=0, seed=3))
    data = load_data(default_run.spec.data)
    drawn = build_model(ModelSpec(epochs=0, seed=3), data.channels, data.class_names).eval()
    for name, value in load(contents["weights.safetensors"]).items():
        assert np.array_equal(value, drawn.state_dict()[name])
    right = drawn(Seen(data, data.test_inputs)[:]).argmax(1).numpy() == data.test_labels
    assert note["test_accuracy"] == pytest.approx(right.mean())


def test_only_many_inputs_spare_some_to_tell_the_best_epoch():
    learnt, spared = model._held_out(model.ENOUGH - 1)
    assert len(learnt) == model.ENOUGH - 1 and len(spared) == 0
    learnt, spared = model._held_out(6000)
    assert len(spared) == 300 and sorted([*learnt, *spared]) == list(range(6000))

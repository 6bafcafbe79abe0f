"""A network of distilled images alone takes as many steps as the one of real images took, and is judged as it is."""

import pytest
from safetensors.torch import load

from dntk_core.base.spec import DatasetSpec, ModelSpec
from dntk_core.data.dataset import load_data
from dntk_core.models.architectures import build_model
from dntk_core.models.seen import Seen


def test_it_trains_for_as_many_steps_as_on_real_images(distilled_run, rebuild):
    events = []
    contents, note = rebuild(
        distilled_run,
        "student",
        events.append,
        model=ModelSpec(epochs=2),
        dataset=DatasetSpec("wmdd", "distilled", per_class=2, iterations=30),
    )
    # 1,297 real images are 21 batches of 64, 20 distilled ones a batch: 21 epochs for one.
    assert {event.stage for event in events} == {"student"} and events[-1].total == 2 * 21
    network = build_model(ModelSpec(), 1, distilled_run.class_names).eval()
    network.load_state_dict(load(contents["weights.safetensors"]))
    data = load_data(distilled_run.spec.data)
    right = network(Seen(data, data.test_inputs)[:]).argmax(1).numpy() == data.test_labels
    assert note["test_accuracy"] == pytest.approx(right.mean())

"""Which inputs a run is about: labels and pictures are those of the indices it keeps."""

import numpy as np

from dntk_core.base.spec import InputSpec
from dntk_core.data.dataset import load_data


def test_labels_and_images_belong_to_the_indices(default_run, rebuild):
    contents, note = rebuild(default_run, "inputs", inputs=InputSpec(kernel=30, test=20, seed=5))
    data = load_data(default_run.spec.data)
    kernel, test = contents["kernel_index"], contents["test_index"]
    assert len(np.unique(kernel)) == 30 and len(np.unique(test)) == 20
    assert np.array_equal(contents["train_labels"], data.train_labels[kernel])
    assert np.array_equal(contents["test_labels"], data.test_labels[test])
    assert np.array_equal(contents["images"], data.train_inputs[kernel])
    assert note["class_names"] == list(data.class_names) and note["n"] == len(data.train_labels)


def test_of_a_distilled_run_the_kernel_inputs_are_the_distilled_ones(distilled_run, rebuild):
    contents, _ = rebuild(distilled_run, "inputs")
    made = distilled_run.distillation
    assert np.array_equal(contents["images"], made["images"])
    assert np.array_equal(contents["train_labels"], made["labels"])
    assert np.array_equal(contents["kernel_index"], made["origin"])

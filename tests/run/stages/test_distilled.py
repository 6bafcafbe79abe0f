"""The distilled images: a selection's are real ones as they are, and all carry the network's own logits."""

import numpy as np
import pytest

from dntk_core.base.spec import DatasetSpec
from dntk_core.data.dataset import load_data


def test_a_selection_takes_real_images_as_they_are(distilled_run, rebuild, monkeypatch):
    monkeypatch.setattr("dntk_core.dataset.classes.CANDIDATES", 30)  # as when the run was made
    contents, _ = rebuild(distilled_run, "distilled", dataset=DatasetSpec("herding", per_class=2))
    data, selected = load_data(distilled_run.spec.data), distilled_run.artifacts["selected"]
    row = selected.note["names"].index("herding")
    assert np.array_equal(contents["origin"], selected["index"][row])
    assert np.array_equal(contents["images"], data.train_inputs[contents["origin"]])
    assert contents["losses"].shape == (0, 10, 2)


def test_soft_labels_are_the_logits_of_the_images_that_were_made(distilled_run):
    made = distilled_run.distillation
    np.testing.assert_allclose(made["soft_labels"], distilled_run.targets, rtol=1e-3, atol=1e-3)
    assert made["labels"].tolist() == [c for c in range(10) for _ in range(2)]
    assert made["losses"].shape == (30, 10, 2) and made["losses"][-1].mean() < made["losses"][0].mean()
    assert distilled_run.artifacts["distilled"].note["batch_norm_layers"] == pytest.approx(9, abs=8)

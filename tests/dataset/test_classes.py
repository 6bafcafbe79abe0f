"""Real images class by class: features, gradients, and what a selection chooses among."""

import numpy as np
import pytest

from dntk_core import Compute
from dntk_core.data.dataset import load_data
from dntk_core.dataset import classes as module
from dntk_core.dataset.classes import Classes


@pytest.fixture(scope="module")
def classes(distilled_run):
    spec = distilled_run.spec
    return Classes(spec, load_data(spec.data), distilled_run.artifacts["model"], Compute("cpu"))


def test_members_are_all_images_of_a_class_and_no_other(classes):
    assert sorted(np.concatenate([classes.members(c) for c in range(len(classes))])) == list(range(1297))
    assert set(classes.data.train_labels[classes.members(4)]) == {4}


def test_features_and_logits_do_not_depend_on_the_batch(classes):
    index = classes.members(2)[:9]
    together, alone = classes.encode(classes.images(index)), classes.encode(classes.images(index[3:4]))
    for all_of_them, one in zip(together, alone, strict=True):
        np.testing.assert_allclose(all_of_them[3:4], one, rtol=1e-4, atol=1e-5)


def test_gradients_stand_side_by_side_by_logit(classes):
    found = classes.gradients(classes.members(1)[:5])
    assert found.shape == (5, 10 * 512)
    assert np.linalg.norm(found, axis=1).min() > 0


@pytest.mark.parametrize("name", ["k-center", "pivoted Cholesky"])
def test_choices_are_among_few_candidates_of_the_class(classes, name, monkeypatch):
    monkeypatch.setattr(module, "CANDIDATES", 6)
    chosen = [classes.choose(name, 7) for _ in range(2)]
    assert np.array_equal(chosen[0].index, chosen[1].index) and len(np.unique(chosen[0].index)) == 2
    assert set(classes.data.train_labels[chosen[0].index]) == {7}
    # No more candidates than are asked for: all of them are chosen.
    monkeypatch.setattr(module, "CANDIDATES", 2)
    few = classes.choose("random", 7)
    assert set(few.index) == set(classes.choose("herding", 7).index)

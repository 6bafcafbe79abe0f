"""What a readout is fitted to must fit together."""

from dataclasses import replace

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import evaluate
from tests.synthetic import draw


def test_a_class_missing_among_the_test_labels_is_fine():
    problem = draw(0).problem
    some = Problem(problem.kernels, problem.targets, problem.logits, np.where(problem.labels == 2, 0, problem.labels))
    assert 0.0 <= evaluate(some, None, 1e-4).accuracy <= 1.0


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("targets", lambda targets: targets.T),
        ("logits", lambda logits: logits[:-1]),
        ("labels", lambda labels: labels + 1),
        ("labels", lambda labels: labels - 1),
        ("classes", lambda classes: classes[:-1]),
    ],
)
def test_what_does_not_fit_the_kernels_is_refused_by_name(name, change):
    problem = draw(0).problem
    with pytest.raises(DNTKError, match=name):
        replace(problem, **{name: change(getattr(problem, name))})


def test_inputs_without_classes_have_those_that_the_network_chooses():
    problem = draw(0).problem
    alone = Problem(problem.kernels, problem.targets, problem.logits, problem.labels)
    np.testing.assert_array_equal(alone.classes, problem.targets.argmax(axis=1))

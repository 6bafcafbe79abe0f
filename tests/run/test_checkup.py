"""A kernel's check-up: left-out sizes against refits, averages over classes, wrong labels outvoted."""

import numpy as np
import pytest

from dntk_core.readout.ridge import predict
from dntk_core.run.checkup import alignments, left_out_sizes, suspicious_labels, where
from dntk_core.run.insight import Insight
from dntk_core.run.live import Live


@pytest.fixture
def insight(tiny_run):
    return Insight(tiny_run, Live(tiny_run.problem))


def test_where_targets_lie_on_average_is_the_mean_of_the_classes(insight):
    each = [where(insight, c=c) for c in range(3)]
    for part in ("targets", "kernel"):
        whole = getattr(where(insight), part)
        np.testing.assert_allclose(whole, np.mean([getattr(one, part)[: len(whole)] for one in each], axis=0))
        assert whole[-1] == pytest.approx(1) and (np.diff(whole) >= -1e-12).all()


def test_alignment_is_larger_for_targets_that_the_kernel_made(insight):
    found = alignments(insight)
    assert found.shape == (3,) and (found > 0).all() and (found <= 1).all()


def test_left_out_errors_of_distilled_sets_shrink_to_those_of_all_gradients(insight):
    found = left_out_sizes(insight, "kernel PCA", [2, 8, 24], 1e-2)
    assert list(found.sizes) == [2, 8, 24] and found.mse[0] > found.mse[-1]
    whole = insight.fit("logits", None, 1e-2, "paper").left_out
    assert found.mse[-1] == pytest.approx(np.mean(whole**2), rel=1e-6)
    # Fitted with the target, an input is predicted better than without.
    problem = insight.run.problem
    fitted = predict(type(problem.kernels)(problem.kernels.train, problem.kernels.train), problem.targets, None, 1e-2)
    assert np.mean((fitted - problem.targets) ** 2) < found.mse[-1]


def test_suspects_are_ordered_by_margin(insight):
    found = suspicious_labels(insight)
    assert (np.diff(found.margin[found.order]) >= 0).all() and sorted(found.order) == list(range(24))

"""Every method of the table, and each against its definition on materialised gradients."""

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.distill import METHODS, Source, TooFew
from dntk_core.readout.ridge import evaluate
from tests.synthetic import draw, source_of, with_kernel


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", [2, 5, 24])
def test_every_method_keeps_to_its_size_and_its_seed(name, size):
    source = source_of(draw(0).problem)
    if size < 5 and "paper's H" in name:
        with pytest.raises(TooFew, match="5 or more"):
            METHODS[name].distil(source, size, 1e-3)
        return
    mixing = METHODS[name].distil(source, size, 1e-3, seed=4)
    assert 1 <= mixing.size <= size and mixing.matrix.shape[1] == 24
    np.testing.assert_array_equal(mixing.matrix, METHODS[name].distil(source, size, 1e-3, seed=4).matrix)
    other = METHODS[name].distil(source, size, 1e-3, seed=5)
    if size == 5:
        assert np.array_equal(other.matrix, mixing.matrix) != METHODS[name].random


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].nested])
def test_nested_methods_are_nested(name):
    source = source_of(draw(1).problem)
    large = METHODS[name].distil(source, 20, 1e-3, seed=1)
    small = METHODS[name].distil(source, 6, 1e-3, seed=1)
    assert large.nested and small.nested
    np.testing.assert_array_equal(large.head(6).matrix, small.matrix)
    assert large.head(6).origin == small.origin


@pytest.mark.parametrize("name", METHODS)
def test_only_methods_that_say_so_look_at_the_targets(name):
    problem = draw(2).problem
    changed = Source(problem.kernels, problem.targets[::-1] ** 2, problem.classes)
    size = 2 if METHODS[name].uses_targets else 5
    before = METHODS[name].distil(source_of(problem), size, 1e-3).matrix
    after = METHODS[name].distil(changed, size, 1e-3).matrix
    assert np.array_equal(before, after) != METHODS[name].uses_targets


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kernel", [np.zeros((6, 6)), np.ones((6, 6)), np.diag([1.0, 1, 1, 0, 0, 0])])
@pytest.mark.parametrize("ridge", [0.0, 1e-4])
def test_degenerate_kernels_give_finite_scores(name, kernel, ridge):
    problem = with_kernel(kernel)
    for size in (5, 6):
        mixing = METHODS[name].distil(source_of(problem), size, ridge)
        assert np.all(np.isfinite(mixing.matrix))
        assert np.isfinite(evaluate(problem, mixing, ridge).mse)


@pytest.mark.parametrize("size", [0, 25])
def test_impossible_sizes_are_refused(size):
    with pytest.raises(DNTKError, match=r"1\.\.24"):
        METHODS["random"].distil(source_of(draw(0).problem), size, 1e-3)

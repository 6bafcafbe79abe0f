"""What methods share of a problem: computed once, in whose memory one likes."""

import numpy as np

from dntk_core.distill.source import PAPER_H, Source
from dntk_core.kernels.clusters import spectral_clusters
from tests.synthetic import draw, source_of


def test_clusterings_are_those_of_the_mean_kernel_as_far_as_there_are_inputs():
    source = source_of(draw(0, m=12).problem)
    found = source.decompositions(PAPER_H)
    assert [each.H for each in found] == [5, 10]
    np.testing.assert_array_equal(found[0].labels, spectral_clusters(source.kernel, 5))
    assert [each.H for each in source_of(draw(0, m=3).problem).decompositions(PAPER_H)] == [1]
    # Computed once.
    assert source.decompositions((10,))[0] is found[1] and found[0].spectrum is source.spectrum


def test_a_lent_memory_is_used_and_shared():
    problem, memory = draw(0).problem, {}

    def remember(key, compute):
        if key not in memory:
            memory[key] = compute()
        return memory[key]

    one, two = (Source(problem.kernels, problem.targets, None, remember) for _ in range(2))
    assert one.decompositions((3,))[0] is two.decompositions((3,))[0] and one.spectrum is two.spectrum
    assert set(memory) == {("spectrum", None), ("embedding", None), ("decomposition", 3, None)}


def test_without_classes_inputs_are_drawn_by_the_networks_choice():
    problem = draw(0).problem
    np.testing.assert_array_equal(Source(problem.kernels, problem.targets).by_class, problem.targets.argmax(axis=1))
    assert Source(problem.kernels, problem.targets, problem.classes).by_class is problem.classes

"""Algorithm 1 within a number of rows."""

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.distill import METHODS, local_global
from dntk_core.distill.budget import local_global_within
from dntk_core.distill.source import ANY_H
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.subspace import subspace_coverage
from tests.synthetic import draw, source_of


def test_one_gradient_is_too_few_for_two_clusters():
    with pytest.raises(DNTKError, match="too few"):
        METHODS["local-global"].distil(source_of(draw(0).problem), 1, 1e-3)


def test_the_budgeted_local_global_beats_each_setting_it_could_have_chosen():
    source = source_of(draw(3).problem)
    kernel, decompositions = source.kernel, source.decompositions(ANY_H)
    for size in (3, 6, 12):
        best = local_global_within(kernel, decompositions, size)
        covered = subspace_coverage([kernel], best.matrix, [size]).coverage[0]
        for parts in decompositions:
            if parts.H <= size:
                alone = local_global_within(kernel, [parts], size)
                assert covered >= subspace_coverage([kernel], alone.matrix, [size]).coverage[0] - 1e-9
        assert best.size <= size and set(best.counts) <= {"local", "gap"}


def test_the_budgeted_local_global_is_algorithm_1_at_the_setting_it_names():
    source = source_of(draw(3).problem)
    for name, size in (("local-global", 7), ("local-global, paper's H", 12)):
        found = METHODS[name].distil(source, size, 1e-3)
        setting = found.setting
        labels = spectral_clusters(source.kernel, setting.H)
        again = local_global(source.kernel, labels, setting.tau_v, setting.tau_g, setting.rule)
        np.testing.assert_allclose(found.matrix, again.matrix, atol=1e-12)
        assert str(setting) in found.description
    assert setting.H in (5, 10, 15, 20)

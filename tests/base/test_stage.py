"""What a stage costs: known rates scale, an unknown one stays unknown, and nothing takes no time."""

import pytest

from dntk_core.base.spec import DatasetSpec, RunSpec
from dntk_core.base.stage import Rates, Sizes
from dntk_core.base.stages import STAGES

SIZES = Sizes(C=10, m=500, t=500, k=2048, n=500)


def test_training_scales_with_images_and_is_unknown_without_a_rate():
    known, unknown = Rates(1e-3, 1e-2, 1000), Rates(None, 1e-2, 1000)
    assert known.training(2000) == pytest.approx(2) and unknown.training(2000) is None
    assert unknown.training(0) == 0


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_says_what_it_costs(name):
    run = RunSpec(dataset=DatasetSpec("wmdd"))
    more = Sizes(C=10, m=1000, t=1000, k=2048, n=1000)
    writes, takes = STAGES[name].writes, STAGES[name].takes
    rates = Rates(1e-3, 1e-2, 1000)
    assert 0 <= writes(SIZES) <= writes(more) and 0 <= takes(run, SIZES, rates) <= takes(run, more, rates)


def test_kernels_that_are_never_formed_take_no_disk():
    assert STAGES["kernels"].writes(SIZES) > 0 == STAGES["kernels"].writes(Sizes(10, 10**5, 500, 2048, 500, False))

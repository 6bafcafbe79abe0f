"""What a run writes, from its spec alone."""

import pytest

from dntk_core.base.spec import DatasetSpec, InputSpec, ProjectionSpec, RunSpec
from dntk_core.run.sizes import disk, live_bytes, sizes_of


def test_a_distilled_run_has_as_many_kernel_inputs_as_images():
    spec = RunSpec(dataset=DatasetSpec("wmdd", per_class=7), inputs=InputSpec(kernel=300, test=50))
    sizes = sizes_of(spec, 10, 64)
    assert (sizes.m, sizes.t, sizes.n, sizes.k) == (70, 50, 300, 64)


@pytest.mark.parametrize("m, formed", [(4000, True), (4001, False)])
def test_beyond_some_inputs_kernels_are_not_formed(m, formed):
    spec = RunSpec(inputs=InputSpec(kernel=m), projection=ProjectionSpec(k=512))
    sizes = sizes_of(spec, 10, 512)
    features = 4 * 10 * (m + 500) * 512
    assert disk(spec, sizes) == features + (8 * 10 * m * (m + 500) if formed else 0)
    assert (live_bytes(sizes) > 0) is formed

"""What a stage is built with: the network under study, and the module that its row names."""

from dataclasses import replace

import pytest

from dntk_core import Compute
from dntk_core.base.progress import ignore
from dntk_core.base.spec import DatasetSpec, RunSpec
from dntk_core.base.stages import STAGES
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import load_data
from dntk_core.run.work import Work, builder


@pytest.mark.parametrize(
    "dataset, network",
    [(DatasetSpec(), "model"), (DatasetSpec("wmdd"), "model"), (DatasetSpec("wmdd", "distilled"), "student")],
)
def test_the_network_is_the_one_the_kernels_are_of(dataset, network, default_run, tmp_path):
    spec = replace(RunSpec.default(), dataset=dataset)
    made = {name: default_run.artifacts["model"] for name in ("model", network)}
    work = Work(spec, load_data(spec.data), made, Compute("cpu"), ignore, Workbench(tmp_path))
    assert work.network is made[network]


def test_a_builder_is_the_module_that_the_row_names():
    assert {name: builder(name).__name__ for name in STAGES} == {name: stage.build for name, stage in STAGES.items()}

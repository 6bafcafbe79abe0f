"""What a stage is built with, and by which module."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from dntk_core.base.compute import Compute
from dntk_core.base.progress import Report
from dntk_core.base.spec import RunSpec
from dntk_core.base.stages import STAGES
from dntk_core.cache.artifact import Artifact
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import Dataset


@dataclass(frozen=True)
class Work:
    """One stage under way.

    data:  the run's images, loaded once for all stages
    made:  artifacts of the stages that its key holds, by name
    bench: for shards that outlive a crash
    """

    spec: RunSpec
    data: Dataset
    made: Mapping[str, Artifact]
    compute: Compute
    report: Report
    bench: Workbench

    @property
    def network(self) -> Artifact:
        """The network whose kernels the run is about."""
        return self.made[self.spec.network_stage]


@dataclass(frozen=True)
class Sizes:
    """What a run's cost follows from: C classes, m kernel and t test inputs, k dimensions, n real inputs to judge."""

    C: int
    m: int
    t: int
    k: int
    n: int


def builder(stage: str) -> ModuleType:
    """Import the module that builds a stage; most of them load PyTorch."""
    return import_module(STAGES[stage].build)

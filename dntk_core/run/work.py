"""What a stage is built with, and by which module."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from dntk_core.base.compute import Compute
from dntk_core.base.progress import Report
from dntk_core.base.spec import RunSpec
from dntk_core.base.stages import STAGES
from dntk_core.cache.artifact import Artifact
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import Dataset


@dataclass(frozen=True)
class Given:
    """A network (torch.nn.Module) and data that Python has at hand, for a run that no name could load."""

    network: Any
    data: Dataset


@dataclass(frozen=True)
class Work:
    """One stage under way.

    data:  the run's inputs, loaded once for all stages
    made:  artifacts of the stages that its key holds, by name
    bench: for shards that outlive a crash
    given: what Python gave instead of names
    """

    spec: RunSpec
    data: Dataset
    made: Mapping[str, Artifact]
    compute: Compute
    report: Report
    bench: Workbench
    given: Given | None = None

    @property
    def network(self) -> Artifact:
        """The network whose kernels the run is about."""
        return self.made[self.spec.network_stage]


def builder(stage: str) -> ModuleType:
    """Import the module that builds a stage; most of them load PyTorch."""
    return import_module(STAGES[stage].build)

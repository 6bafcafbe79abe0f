"""What determines a run: its parts, the stages it goes through, and a content key for each."""

import json
from dataclasses import asdict, dataclass

from dntk_core.base.dataset import BASES, STARTS, WEIGHTS, DatasetSpec, dataset_methods
from dntk_core.base.errors import DNTKError
from dntk_core.base.naming import summary
from dntk_core.base.parts import (
    AUGMENTATIONS,
    KINDS,
    OUTPUTS,
    DataSpec,
    InputSpec,
    ModelSpec,
    Parts,
    ProjectionSpec,
)
from dntk_core.base.schema import read
from dntk_core.base.sketching import KEPT, SketchSpec
from dntk_core.base.stages import stage_key, stages_of

__all__ = [
    "AUGMENTATIONS",
    "BASES",
    "KEPT",
    "KINDS",
    "OUTPUTS",
    "STARTS",
    "WEIGHTS",
    "DataSpec",
    "DatasetSpec",
    "InputSpec",
    "ModelSpec",
    "ProjectionSpec",
    "RunSpec",
    "SketchSpec",
    "dataset_methods",
]


@dataclass(frozen=True)
class RunSpec(Parts):
    """All that determines a run; equal specs give equal kernels.

    >>> spec = RunSpec.default()
    >>> RunSpec.from_json(spec.to_json()) == spec
    True
    """

    @classmethod
    def default(cls) -> "RunSpec":
        """The embedded run: scikit-learn's digits and a small residual network."""
        return cls()

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages this run goes through, in order."""
        return stages_of(self)

    @property
    def key(self) -> str:
        """The key of the whole run: that of its kernels."""
        return self.stage_key("kernels")

    def stage_key(self, stage: str) -> str:
        """The content key of one stage."""
        return stage_key(self, stage)

    @property
    def summary(self) -> str:
        """The run in one line, for people; two runs never share it."""
        return summary(self)

    def to_json(self) -> str:
        """Write the spec as JSON with sorted keys."""
        return json.dumps(asdict(self), indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "RunSpec":
        """Read a spec; anything unknown or of the wrong type is an error."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DNTKError(f"a run spec must be JSON: {error}") from None
        return read(cls, value, "spec")

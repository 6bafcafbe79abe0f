"""How n training images become the m kernel inputs: not at all, by dataset distillation, or by a selection."""

from dataclasses import dataclass
from math import inf

from dntk_core.base.compute import PRECISIONS
from dntk_core.base.schema import given, require, require_one_of, without
from dntk_core.base.selections import SELECTIONS

BASES = ("real", "distilled")
WEIGHTS = ("free", "uniform")
STARTS = ("medoids", "noise")


@dataclass(frozen=True)
class DatasetSpec:
    """How n training images become the m kernel inputs: not at all, synthesised (`wmdd`), or selected.

    base: which network the kernels are of, trained on `real` images or only on the `distilled` ones
    iterations, rate, bn_weight, weights, start: of WMDD alone; weights of its barycenters are free or uniform
    precision: of the network's products while WMDD descends, and while a network learns from few images; images and
        weights are kept in float32
    """

    method: str = "none"
    base: str = "real"
    per_class: int = 10
    iterations: int = 300
    rate: float = 0.1
    bn_weight: float = 10.0
    weights: str = "free"
    start: str = "medoids"
    seed: int = 0
    precision: str = "float32"

    @property
    def content(self) -> dict:
        """What keys hold of images that are synthesised, whichever network is studied on them."""
        return without(given(self, "precision"), "base")


def dataset_methods() -> tuple[str, ...]:
    """How n training images become the kernel inputs: not at all, synthesised, or selected."""
    return ("none", "wmdd", *SELECTIONS)


def check_dataset(spec: DatasetSpec) -> None:
    """Refuse settings that no images come from."""
    require_one_of("dataset method", spec.method, dataset_methods())
    require_one_of("base", spec.base, BASES)
    require_one_of("barycenter weights", spec.weights, WEIGHTS)
    require_one_of("start", spec.start, STARTS)
    require_one_of("precision of dataset distillation", spec.precision, PRECISIONS)
    require(spec.per_class >= 1, f"images per class must be at least 1, got {spec.per_class}")
    require(spec.iterations >= 1, f"iterations must be at least 1, got {spec.iterations}")
    require(0 < spec.rate < inf, f"rate must be a positive number, got {spec.rate}")
    require(0 <= spec.bn_weight < inf, f"bn_weight must be a number >= 0, got {spec.bn_weight}")

"""What a run will take of time, memory and disk, said while it is being described: nothing is loaded or computed.

Bytes follow from sizes. Times are scaled from a finished run of the same network on the same data, by two rates that it
measured on this machine: seconds per image of a training epoch, and per gradient (an input and a logit).
"""

from dataclasses import dataclass
from pathlib import Path

from dntk_core.base.spec import RunSpec
from dntk_core.base.stage import Rates, Sizes
from dntk_core.base.stages import STAGES
from dntk_core.cache.index import RunInfo
from dntk_core.cache.store import Store
from dntk_core.run.pipeline import Run, open_run, runs
from dntk_core.run.sizes import disk, live_bytes, sizes_of

# Classes of the datasets that are known by name.
CLASSES = {"digits": 10, "mnist": 10, "fashion_mnist": 10, "kmnist": 10, "cifar10": 10, "cifar100": 100}
CLASSES |= {"imagenette": 10}
# What PyTorch and a batch of gradients take beside the kernels, where no run has told.
BASE = 2**30


@dataclass(frozen=True)
class Forecast:
    """seconds: None where no run of this network on these data has been timed here; bytes of memory and disk."""

    seconds: float | None
    memory: int
    disk: int


def forecast(spec: RunSpec, classes: int = 0, store: Store | None = None) -> Forecast | None:
    """Foretell a run; None where nobody has counted the classes of its data. `classes`: how many, if that is known."""
    near = _nearest(spec, store)
    C = len(near.class_names) if near else classes or CLASSES.get(spec.data.name, 0)
    if not C:
        return None
    k = near.parameters if near and spec.projection.name == "identity" else spec.projection.k
    sizes = sizes_of(spec, C, k)
    peak = max(artifact.note["peak_bytes"] for artifact in near.artifacts.values()) if near else BASE
    seconds = _seconds(spec, sizes, _rates(near), store or Store()) if near else None
    return Forecast(seconds, max(peak, live_bytes(sizes)), disk(spec, sizes))


def _nearest(spec: RunSpec, store: Store | None) -> Run | None:
    """A finished run with the same network and data: if possible one that trained it, and the largest."""

    def alike(info: RunInfo) -> bool:
        own, other = spec, info.spec
        return info.finished and _data(own) == _data(other) and own.model.name == other.model.name

    def worth(info: RunInfo) -> tuple[bool, int]:
        return info.spec.model.epochs > 0, info.spec.inputs.test + (
            0 if info.spec.distilled else info.spec.inputs.kernel
        )

    found = sorted(filter(alike, runs(store)), key=worth, reverse=True)
    return open_run(found[0].key, store) if found else None


def _data(spec: RunSpec) -> tuple[str, Path, int]:
    return spec.data.name, Path(spec.data.path).absolute(), spec.data.size


def _rates(run: Run) -> Rates:
    sizes = sizes_of(run.spec, len(run.class_names), run.k)
    n, epochs = run.artifacts["inputs"].note["n"], run.spec.model.epochs
    trained = epochs and not run.spec.model.weights
    return Rates(
        run.seconds["model"] / (epochs * n) if trained else None,
        run.seconds["features"] / (sizes.C * (sizes.m + sizes.t)),
        n,
    )


def _seconds(spec: RunSpec, sizes: Sizes, rates: Rates, store: Store) -> float | None:
    """All stages that are not in the cache yet."""
    missing = [stage for stage in spec.stages if not store.size(stage, spec.stage_key(stage))]
    found = [STAGES[stage].takes(spec, sizes, rates) for stage in missing]
    known = [seconds for seconds in found if seconds is not None]
    return sum(known) if len(known) == len(found) else None

"""The stage graph: load_or_build(spec) → Run, each stage computed once and cached."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.memory import forget_peak, out_of_memory, peak_bytes
from dntk_core.base.progress import Report, ignore
from dntk_core.base.spec import RunSpec
from dntk_core.base.stages import STAGES, all_needs
from dntk_core.base.text import html_table
from dntk_core.cache.artifact import Artifact, Contents
from dntk_core.cache.index import Index, RunInfo
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.data.class_names import in_words
from dntk_core.data.images import ImageArray, as_images
from dntk_core.dataset.judgement import Judgement
from dntk_core.kernels.class_kernels import FeatureKernels, Kernels, kernels_by_size
from dntk_core.readout.problem import Problem
from dntk_core.run.cautions import cautions
from dntk_core.run.pinning import pin
from dntk_core.run.work import Work, builder


@dataclass(frozen=True)
class Run:
    """A finished run: kernels and all that is read off them; big arrays are memory-mapped, read-only."""

    spec: RunSpec
    artifacts: dict[str, Artifact]

    @property
    def key(self) -> str:
        return self.spec.key

    @cached_property
    def kernels(self) -> Kernels | FeatureKernels:
        """K (C, m, m) and K* (C, t, m); of many inputs kept as features."""
        if not self.dense:
            return kernels_by_size(self.features, self.artifacts["features"]["test_features"])
        return Kernels(np.array(self._kernels["train"]), np.array(self._kernels["cross"]))

    @cached_property
    def targets(self) -> np.ndarray:
        """The network's own outputs at the kernel inputs, (m, C)."""
        return np.array(self._kernels["targets"])

    @cached_property
    def test_logits(self) -> np.ndarray:
        """The network's own outputs at the test inputs, (t, C)."""
        return np.array(self._kernels["test_logits"])

    @cached_property
    def train_labels(self) -> np.ndarray:
        """Labels of the kernel inputs, (m,)."""
        return np.array(self._kernels["train_labels"])

    @cached_property
    def test_labels(self) -> np.ndarray:
        """Labels of the test inputs, (t,)."""
        return np.array(self._kernels["test_labels"])

    @cached_property
    def problem(self) -> Problem:
        """What readouts are fitted to and judged on."""
        return Problem(self.kernels, self.targets, self.test_logits, self.test_labels, self.train_labels)

    @property
    def images(self) -> np.ndarray | ImageArray:
        """Kernel inputs as images in [0, 1] when indexed, (m, channels, height, width)."""
        return as_images(self.artifacts["inputs"]["images"])

    @property
    def features(self) -> np.ndarray:
        """Projected gradients Φ of the kernel inputs, (C, m, k)."""
        return self.artifacts["features"]["features"]

    @property
    def dense(self) -> bool:
        """Whether the kernels are arrays, or, beyond a few thousand inputs, products of features."""
        return self._kernels.note.get("dense", True)

    @property
    def class_names(self) -> tuple[str, ...]:
        return tuple(map(in_words, self.artifacts["inputs"].note["class_names"]))

    @property
    def parameters(self) -> int:
        """P, the number of parameters that require a gradient."""
        return self.artifacts["features"].note["parameters"]

    @property
    def test_accuracy(self) -> float:
        """The network's own accuracy on all test images."""
        return self.artifacts[self.spec.network_stage].note["test_accuracy"]

    @property
    def general_path(self) -> list[str]:
        """Parameters whose gradients no fast rule gives."""
        return self.artifacts["features"].note["general_path"]

    @property
    def projection_error(self) -> dict:
        """Relative Frobenius error of the class kernels: measured on a few inputs, and as expected of k."""
        return self.artifacts["features"].note["projection_error"]

    @property
    def distillation(self) -> Artifact | None:
        """The distilled images and all that was written beside them; None for a run on real images."""
        return self.artifacts.get("distilled")

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """What the gradients of each selection of images span; none for a run on real images."""
        judged = self.artifacts["judged"].note["judgements"] if self.spec.distilled else ()
        return tuple(Judgement.from_json(value) for value in judged)

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds that each stage took when it was computed."""
        return {stage: artifact.note["seconds"] for stage, artifact in self.artifacts.items()}

    def _repr_html_(self) -> str:
        names = self.class_names
        shown = {
            "Run": self.key,
            "What": self.spec.summary,
            "Classes": f"{len(names):,}: {', '.join(names[:10])}{' …' if len(names) > 10 else ''}",
            "Inputs": f"{len(self.train_labels):,} kernel inputs, {len(self.test_labels):,} test inputs",
            "Parameters": f"{self.parameters:,}",
            "Network's test accuracy": f"{self.test_accuracy:.1%}",
            "Seconds": f"{sum(self.seconds.values()):,.1f}",
        }
        return html_table(["", ""], shown.items())

    @property
    def _kernels(self) -> Artifact:
        return self.artifacts["kernels"]


def load_or_build(
    spec: RunSpec, report: Report = ignore, compute: Compute | None = None, store: Store | None = None
) -> Run:
    """Return the run of a spec; compute and cache whatever of it is missing.

    report: called with a Progress at every step; may raise Cancelled, and the next call goes on from there
    """
    store, spec = store or Store(), pin(spec)
    compute = replace(compute or Compute(), precision=spec.precision)
    if (run := _cached(spec, store)) is not None:
        return run
    return Run(spec, _build(spec, spec.stages, report, compute, store))


def train_network(
    spec: RunSpec, report: Report = ignore, compute: Compute | None = None, store: Store | None = None
) -> Artifact:
    """Return the network of a spec alone: its weights (weights.safetensors) and test accuracy, trained if need be."""
    return _build(pin(spec), ("model",), report, compute or Compute(), store or Store())["model"]


def _build(spec: RunSpec, stages: Sequence[str], report: Report, compute: Compute, store: Store) -> dict[str, Artifact]:
    """Compute what is missing of some stages, in order, on data that are loaded once."""
    # Loading torch takes seconds; a cached run does without.
    from dntk_core.run.estimate import check

    data = check(spec, compute, store.root)
    for sentence in cautions(spec, len(data.class_names)):
        warnings.warn(sentence, stacklevel=3)
    Index(store).begin(spec)
    made: dict[str, Artifact] = {}
    for stage in stages:
        needed = {name: made[name] for name in all_needs(spec, stage)}
        work = partial(Work, spec, data, needed, compute, report)
        made[stage] = store.load_or_build(
            stage,
            spec.stage_key(stage),
            spec.to_json(),
            lambda bench, stage=stage, work=work: _timed(stage, work(bench)),
            _helper(stage, work),
            STAGES[stage].holds,
        )
    return made


def _helper(stage: str, work: Callable[[Workbench], Work]) -> Callable[[Workbench], None] | None:
    """What this process can do while another one builds the stage, if there is anything."""
    help = getattr(builder(stage), "help", None)
    return help and (lambda bench: help(work(bench)))


def _timed(stage: str, work: Work) -> Contents:
    """Build a stage; its note tells what that took."""
    started = time.perf_counter()
    forget_peak()
    try:
        contents, note = builder(stage).build(work)
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        raise DNTKError(
            f"memory ran out at the stage {stage!r}; choose a smaller --memory or --batch, fewer inputs or smaller "
            "images, then start again: what is finished is kept"
        ) from error
    return contents, note | {"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()}


def open_run(key: str, store: Store | None = None) -> Run:
    """Open a finished run by its key, or by the start of it that no other run shares."""
    store = store or Store()
    info = find_run(key, store)
    run = _cached(info.spec, store)
    if run is None:
        raise DNTKError(f"run {info.key} is not finished; build it again to resume")
    return run


def find_run(key: str, store: Store | None = None) -> RunInfo:
    """Look a run up by the start of its key."""
    found = [info for info in runs(store) if info.key.startswith(key)]
    if len(found) != 1:
        which = "no run" if not found else f"{len(found)} runs"
        raise DNTKError(f"{which} in the cache with a key that starts with {key!r}; `runs` lists them")
    return found[0]


def runs(store: Store | None = None) -> list[RunInfo]:
    """All runs in the cache, newest first."""
    return Index(store or Store()).all()


def delete_run(key: str, store: Store | None = None) -> int:
    """Delete a run and the stages no other run needs; returns the bytes freed."""
    store = store or Store()
    Index(store).drop(find_run(key, store).key)
    return collect_garbage(store)


def collect_garbage(store: Store | None = None) -> int:
    """Delete what no run in the index needs; returns the bytes freed."""
    store = store or Store()
    needed = {(stage, info.spec.stage_key(stage)) for info in runs(store) for stage in info.spec.stages}
    return store.sweep(lambda stage, key: (stage, key) in needed)


def _cached(spec: RunSpec, store: Store) -> Run | None:
    artifacts = {stage: store.get(stage, spec.stage_key(stage), STAGES[stage].holds) for stage in spec.stages}
    found = {stage: artifact for stage, artifact in artifacts.items() if artifact is not None}
    return Run(spec, found) if len(found) == len(artifacts) else None

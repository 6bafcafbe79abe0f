"""The stage graph: load_or_build(spec) → Run, each stage computed once and cached."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.memory import forget_peak, out_of_memory, peak_bytes
from dntk_core.base.processes import rank
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.base.spec import RunSpec
from dntk_core.base.stages import STAGES, all_needs
from dntk_core.cache.artifact import Artifact, Contents
from dntk_core.cache.index import Index, RunInfo
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import Dataset, load_data
from dntk_core.run.cautions import cautions
from dntk_core.run.finished import Run
from dntk_core.run.pinning import pin, pin_code, pin_own_data
from dntk_core.run.work import Given, Work, builder


def load_or_build(
    spec: RunSpec,
    report: Report = ignore,
    compute: Compute | None = None,
    store: Store | None = None,
    given: Given | None = None,
) -> Run:
    """Return the run of a spec; compute and cache whatever of it is missing.

    report: called with a Progress at every step; may raise Cancelled, and the next call goes on from there
    given: network and data of a run made in Python, which no name could load
    """
    store, compute = store or Store(), compute or Compute()
    spec, data = tied(spec, compute)
    compute = replace(compute, precision=spec.precision)
    if (run := _cached(spec, store)) is not None:
        return run
    if spec.from_python and given is None:
        raise DNTKError(f"run {spec.key} was made in Python; give its network and data to `study` again to resume it")
    return Run(spec, _build(spec, data, spec.stages, report, compute, store, given))


def load_or_build_kernels(
    spec: RunSpec, report: Report = ignore, compute: Compute | None = None, store: Store | None = None
) -> Run:
    """Return a run as far as its kernels need, without what only its distilled images are judged by."""
    store, compute = store or Store(), compute or Compute()
    spec, data = tied(spec, compute)
    compute = replace(compute, precision=spec.precision)
    if (run := _cached(spec, store, kernel_stages(spec))) is not None:
        return run
    return Run(spec, _build(spec, data, kernel_stages(spec), report, compute, store))


def cached_kernels(spec: RunSpec, store: Store | None = None) -> Run | None:
    """The same from the cache alone; None if any of it is missing."""
    spec = pin(spec)
    return _cached(spec, store or Store(), kernel_stages(spec))


def kernel_stages(spec: RunSpec) -> tuple[str, ...]:
    """The stages that a run's kernels are made of."""
    needed = {*all_needs(spec, "kernels"), "kernels"}
    return tuple(stage for stage in spec.stages if stage in needed)


def train_network(
    spec: RunSpec, report: Report = ignore, compute: Compute | None = None, store: Store | None = None
) -> Artifact:
    """Return the network of a spec alone: its weights (weights.safetensors) and test accuracy, trained if need be.

    Where the spec keeps weights after some epochs, these are there as well (epoch-000.safetensors, …).
    """
    compute = compute or Compute()
    spec, data = tied(spec, compute)
    stage = "checkpoints" if spec.model.keep else "model"
    return _build(spec, data, (stage,), report, compute, store or Store())[stage]


def tied(spec: RunSpec, compute: Compute) -> tuple[RunSpec, Dataset | None]:
    """A spec tied to the files and the code it names; its data, if they had to be loaded for that."""
    spec = pin(spec)
    if spec.data.own and compute.own_code:
        spec = pin_own_data(spec)
    if not (spec.model.own and compute.own_code):
        return spec, None
    data = load_data(spec.data, compute.own_code)
    return pin_code(spec, data), data


def _build(
    spec: RunSpec,
    data: Dataset | None,
    stages: Sequence[str],
    report: Report,
    compute: Compute,
    store: Store,
    given: Given | None = None,
) -> dict[str, Artifact]:
    """Compute what is missing of some stages, in order, on data that are loaded once."""
    # Loading torch takes seconds; a cached run does without.
    from dntk_core.run.estimate import check

    data = given.data if given else load_data(spec.data, compute.own_code) if data is None else data
    groups = check(spec, data, stages, compute, store.root, given)
    for sentence in cautions(spec, len(data.class_names)):
        warnings.warn(sentence, stacklevel=3)
    report(Progress("data", 1, 1, data.preprocessing))
    if groups:
        report(Progress("groups", 1, 1, groups))
    Index(store).begin(spec)
    made: dict[str, Artifact] = {}
    for stage in stages:
        made[stage] = build_stage(spec, stage, data, made, report, compute, store, given)
        if stage == "inputs":
            # For pages to show: later, or on a server, the files may be out of reach.
            build_stage(spec, "test_inputs", data, made, report, compute, store, given)
    if bad := data.unreadable:
        files = f"{len(bad):,} files" if len(bad) > 1 else "1 file"
        warnings.warn(f"{files} could not be read and stayed out: {', '.join(bad)}", stacklevel=3)
    return made


def build_stage(
    spec: RunSpec,
    stage: str,
    data: Dataset,
    made: Mapping[str, Artifact],
    report: Report,
    compute: Compute,
    store: Store,
    given: Given | None = None,
) -> Artifact:
    """Return the artifact of one stage, computed if need be from those that are made."""
    needed = {name: made[name] for name in all_needs(spec, stage)}
    work = partial(Work, spec, data, needed, compute, report, given=given)
    if compute.shard == "static" and rank() > 0:
        return store.follow(stage, spec.stage_key(stage), _helper(stage, work), STAGES[stage].holds)
    return store.load_or_build(
        stage,
        spec.stage_key(stage),
        spec.to_json(),
        lambda bench: _timed(stage, work(bench)),
        _helper(stage, work),
        STAGES[stage].holds,
    )


def _helper(stage: str, work: Callable[[Workbench], Work]) -> Callable[[Workbench], None] | None:
    """What this process can do while another one builds the stage, if there is anything."""
    help = getattr(builder(stage), "help", None)
    return help and (lambda bench: help(work(bench)))


def _timed(stage: str, work: Work) -> Contents:
    """Build a stage; its note tells what that took."""
    from dntk_core.base.device import on_free_cores

    started, worked = time.perf_counter(), time.process_time()
    forget_peak()
    try:
        with on_free_cores(work.report) as report:
            contents, note = builder(stage).build(replace(work, report=report))
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        raise DNTKError(
            f"memory ran out at the stage {stage!r}; choose a smaller --memory or --batch, fewer inputs or smaller "
            "images, then start again: what is finished is kept"
        ) from error
    cost = {"seconds": time.perf_counter() - started, "processor_seconds": time.process_time() - worked}
    return contents, note | cost | {"peak_bytes": peak_bytes()}


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
    index, before = Index(store), store.bytes()
    found = find_run(key, store)
    # What could not be cleaned up afterwards is refused now.
    index.needed()
    index.drop(found.key)
    collect_garbage(store)
    return before - store.bytes()


def leftovers(store: Store | None = None) -> list[str]:
    """Keys of the runs that are not finished and that no process is computing."""
    store = store or Store()
    return [
        info.key
        for info in runs(store)
        if not info.finished
        and not any(store.under_way(stage, info.spec.stage_key(stage)) for stage in info.spec.stages)
    ]


def collect_garbage(store: Store | None = None) -> int:
    """Delete what no run needs; returns the bytes freed. If the files of one run cannot be read, nothing is deleted."""
    store = store or Store()
    return store.sweep(Index(store).needed)


def _cached(spec: RunSpec, store: Store, stages: Sequence[str] | None = None) -> Run | None:
    stages = spec.stages if stages is None else stages
    artifacts = {stage: store.get(stage, spec.stage_key(stage), STAGES[stage].holds) for stage in stages}
    found = {stage: artifact for stage, artifact in artifacts.items() if artifact is not None}
    return Run(spec, found) if len(found) == len(artifacts) else None

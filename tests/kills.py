"""A run through every stage, killed with SIGKILL again and again until it is finished."""

import os
import shutil
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import numpy as np

from dntk_core import RunSpec, load_or_build
from dntk_core.base.compute import Compute
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.base.spec import DatasetSpec, DataSpec, InputSpec, ModelSpec, ProjectionSpec
from dntk_core.base.stages import STAGES
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.run.pinning import pin
from dntk_core.run.pipeline import Run, open_run

# Processes start from one that has loaded what a run needs, also what is loaded late.
server = get_context("forkserver")
LATE = ("torch._dynamo", "sklearn.cluster", "sklearn.datasets", "ot")
server.set_forkserver_preload([*(stage.build for stage in STAGES.values()), *LATE])


@dataclass
class Outcome:
    """What was tried and found: kills by the stage they struck, runs finished, faults in words."""

    kills: Counter = field(default_factory=Counter)
    finished: int = 0
    faults: list[str] = field(default_factory=list)


def short_run(folder: Path) -> RunSpec:
    """A run with every stage there is, each of them short, on some of the digits."""
    digits = load_data(DataSpec())
    arrays = {"train_images": digits.train_inputs[:120], "train_labels": digits.train_labels[:120]}
    arrays |= {"test_images": digits.test_inputs[:60], "test_labels": digits.test_labels[:60]}
    np.savez(folder / "digits.npz", **arrays)
    return pin(
        RunSpec(
            DataSpec("npz", str(folder / "digits.npz")),
            ModelSpec(epochs=4, keep="0,3", at=3),
            DatasetSpec("wmdd", per_class=2, iterations=20, base="distilled"),
            InputSpec(kernel=60, test=60),
            ProjectionSpec(k=128),
        )
    )


def build(spec: RunSpec, cache: Path, report: Report = ignore, batch: int = 0) -> Run:
    """Compute the run on one thread."""
    import torch

    torch.set_num_threads(1)
    return load_or_build(spec, report, Compute("cpu", batch=batch), Store(cache))


def started(work, *arguments):
    """Start a process; whatever posed as the main module of this one is not run again in it."""
    process = server.Process(target=work, args=arguments)
    with patch.dict(sys.modules, {"__main__": sys.modules[__name__]}):
        process.start()
    return process


def build_together(spec: RunSpec, cache: Path, processes: int) -> dict[str, set[int]]:
    """Ask for one run in several processes at once; which of them reported each stage."""
    logs = [cache.with_name(f"log-{i}") for i in range(processes)]
    workers = [started(build_and_tell, spec, cache, log) for log in logs]
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * processes
    lines = {i: log.read_text().splitlines() if log.exists() else [] for i, log in enumerate(logs)}
    told = {i: {line.rpartition(" ")[0] for line in lines[i]} for i in lines}
    return {stage: {i for i in told if stage in told[i]} for stage in set().union(*told.values())}


def build_and_tell(spec: RunSpec, cache: Path, log: Path, last: tuple[str, int] | None = None) -> None:
    """Compute the run and log every step; the process kills itself at the step `last`, if one is named."""

    def report(event: Progress) -> None:
        with open(log, "a") as file:
            file.write(f"{event.stage} {event.done}\n")
        if last is not None and event.stage == last[0] and event.done >= last[1]:
            os.kill(os.getpid(), signal.SIGKILL)

    build(spec, cache, report)


def kill_at(spec: RunSpec, cache: Path, stage: str, done: int) -> list[int]:
    """Compute a run in a process that is killed at this step; the steps of the stage that it told of."""
    log = cache / "log"
    log.unlink(missing_ok=True)
    process = started(build_and_tell, spec, cache, log, (stage, done))
    process.join()
    assert process.exitcode == -signal.SIGKILL
    return [int(at) for name, _, at in (line.rpartition(" ") for line in log.read_text().splitlines()) if name == stage]


def kill_again_and_again(folder: Path, rounds: int, seed: int) -> Outcome:
    """Kill a run `rounds` times, each time at a random moment after a stage, all in turn, has begun; then finish it."""
    rng, outcome, spec = np.random.default_rng(seed), Outcome(), short_run(folder)
    expected, cache = contents(build(spec, folder / "undisturbed")), folder / "killed"
    turns = cycle(spec.stages)
    while sum(outcome.kills.values()) < rounds:
        left = [name for name in spec.stages if not published(spec, cache, name)]
        stage = next(name for name in turns if name in (left or spec.stages))
        before = finished_files(cache)
        struck = kill_once(spec, cache, stage, rng.exponential(0.1))
        outcome.faults += [f"computed again: {path}" for path in changed(before)]
        if struck:
            outcome.kills[struck] += 1
        else:
            finish(spec, cache, expected, outcome)
    finish(spec, cache, expected, outcome)
    return outcome


def kill_once(spec: RunSpec, cache: Path, stage: str, delay: float) -> str:
    """Start a process and kill it some time after a stage has begun: the stage it was at, or none if it was done."""
    lock = cache / "locks" / f"{stage}-{spec.stage_key(stage)}.lock"
    lock.unlink(missing_ok=True)
    process = started(build, spec, cache)
    while process.is_alive() and not lock.exists() and not published(spec, cache, stage):
        time.sleep(0.001)
    process.join(delay)
    # It may have ended by itself at any moment until now.
    process.kill()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), "the process ended by itself"
    if process.exitcode == 0:
        return ""
    return next((name for name in spec.stages if not published(spec, cache, name)), "after the last")


def published(spec: RunSpec, cache: Path, stage: str) -> bool:
    return (cache / "artifacts" / f"{stage}-{spec.stage_key(stage)}").is_dir()


def finish(spec: RunSpec, cache: Path, expected: dict[str, bytes], outcome: Outcome) -> None:
    """Let the run finish, compare it with the undisturbed one, look for leftovers, and begin anew."""
    build(spec, cache)
    # Opened anew, every checksum is verified.
    found = contents(open_run(spec.key, Store(cache)))
    outcome.faults += [f"differs: {name}" for name in expected if found.get(name) != expected[name]]
    left = [path for kind in ("scratch", "partial", "damaged") for path in (cache / kind).glob("*")]
    outcome.faults += [f"left over: {path}" for path in left]
    outcome.finished += 1
    shutil.rmtree(cache)


def contents(run: Run) -> dict[str, bytes]:
    """Every file of a run, byte for byte, but for dates and seconds."""
    return {
        f"{stage}/{name}": (artifact.folder / name).read_bytes()
        for stage, artifact in run.artifacts.items()
        for name in artifact.meta["files"]
    }


def finished_files(cache: Path) -> dict[Path, int]:
    """Descriptions of all artifacts and shards that are complete, and when they were written."""
    found = [*cache.glob("artifacts/*/meta.json"), *cache.glob("partial/*/*.json")]
    return {path: path.stat().st_mtime_ns for path in found}


def changed(before: dict[Path, int]) -> list[Path]:
    """What was complete and has been made again."""
    return [path for path, then in before.items() if path.exists() and path.stat().st_mtime_ns != then]

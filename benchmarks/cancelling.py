"""Cancel jobs at moments when they hear nothing; print the time until each has ended.

    python -m benchmarks.cancelling

A job of the dashboard is cancelled while it loads, trains, takes one batch of gradients of a ResNet-18, decodes an
image of 80 megapixels, and waits for another process's lock. Exits with 1 if any takes more than a second.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from dntk_core.base.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.cache.folder import make_folders
from dntk_core.cache.locks import locked
from dntk_core.dashboard.computing.jobs import Job, Jobs
from dntk_core.dashboard.computing.task import Task

DIGITS = RunSpec.default()
LONG = 10**5


def noise(folder: Path, side: int) -> Path:
    """A folder of two classes with large images of noise."""
    for part in ("train", "val"):
        for name in ("a", "b"):
            (folder / part / name).mkdir(parents=True)
    pixels = np.random.default_rng(0).integers(0, 256, (side, 10 * side // 9, 3), np.uint8)
    Image.fromarray(pixels).save(first := folder / "train" / "a" / "0.png", compress_level=1)
    for part, name, i in (("train", "b", 0), ("val", "a", 0), ("val", "b", 0), ("train", "a", 1), ("train", "b", 1)):
        (folder / part / name / f"{i}.png").hardlink_to(first)
    return folder


def moments(folder: Path, stack: ExitStack) -> Iterator[tuple[str, Task, Callable[[Job], bool]]]:
    """What is cancelled, its task, and whether the moment has come."""
    cache = folder / "cache"
    make_folders(cache)

    def at(stage: str) -> Callable[[Job], bool]:
        return lambda job: (event := job.status().event) is not None and event.stage == stage

    def begun(job: Job) -> bool:
        return job.status().event is not None

    yield "loading", Task(DIGITS, cache=cache), lambda job: job.status().elapsed > 0.5
    training = replace(DIGITS, model=ModelSpec(epochs=LONG))
    yield "training", Task(training, cache=cache), at("model")
    # One shard of gradients takes many seconds: nothing is reported before it is done.
    resnet = replace(
        DIGITS,
        data=replace(DIGITS.data, size=64),
        model=ModelSpec("resnet18", epochs=0),
        inputs=InputSpec(500, 100),
        projection=ProjectionSpec(k=2048),
    )
    yield "a batch of gradients", Task(resnet, cache=cache), at("inputs")
    large = DataSpec("folder", str(noise(folder / "images", 8400)), size=32)
    decoding = RunSpec(large, ModelSpec(epochs=0), inputs=InputSpec(4, 2), projection=ProjectionSpec(k=64))
    yield "decoding", Task(decoding, folders=(folder,), cache=cache), begun
    other = replace(DIGITS, model=ModelSpec(epochs=0))
    stack.enter_context(locked(cache / "locks" / f"model-{other.stage_key('model')}.lock", wait=False))
    yield "waiting for a lock", Task(other, cache=cache), begun


def main() -> int:
    """Print a row for each moment."""
    jobs, slowest = Jobs(), 0.0
    print("| cancelled while | s until it has ended |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for name, task, ready in moments(Path(folder), stack):
            job = jobs.start(name, name, task)
            while not ready(job) and job.status().active:
                time.sleep(0.01)
            # Into the middle of it.
            time.sleep(1)
            if not job.status().active:
                print(f"| {name} | it had ended before: {job.status().error} |")
                return 1
            began = time.monotonic()
            job.cancel()
            job.join()
            took = time.monotonic() - began
            slowest = max(slowest, took)
            print(f"| {name} | {took:.3f} |", flush=True)
            assert job.status().state == "cancelled"
    return int(slowest > 1)


if __name__ == "__main__":
    sys.exit(main())

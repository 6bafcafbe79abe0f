"""The newest state of a long iteration, kept on the workbench: a killed process goes on from there."""

from collections.abc import Callable

import numpy as np

from dntk_core.cache.workbench import Workbench


def newest(bench: Workbench, name: str) -> tuple[int, dict[str, np.ndarray]] | None:
    """Return the last step kept under a name that is undamaged, and its arrays; None if there is none."""
    for step in reversed(_steps(bench, name)):
        if (state := bench.find(f"{name}-{step}")) is not None:
            return step, state
    return None


def keep(bench: Workbench, name: str, step: int, state: Callable[[], dict[str, np.ndarray]]) -> None:
    """Keep the state after a step, then drop those of earlier steps."""
    bench.shard(f"{name}-{step}", state)
    for earlier in _steps(bench, name):
        if earlier < step:
            bench.drop(f"{name}-{earlier}")


def _steps(bench: Workbench, name: str) -> list[int]:
    """Steps with a state under this name, ascending."""
    ends = [path.stem.removeprefix(f"{name}-") for path in bench.folder.glob(f"{name}-*.json")]
    return sorted(int(end) for end in ends if end.isdecimal())

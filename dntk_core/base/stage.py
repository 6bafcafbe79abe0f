"""What a stage of a run is: what it depends on, which module builds it, what it costs."""

from collections.abc import Callable
from dataclasses import dataclass

from dntk_core.base.parts import Parts


@dataclass(frozen=True)
class Sizes:
    """What a run's cost follows from: C classes, m kernel and t test inputs, k dimensions, n real inputs to judge.

    dense: kernels are formed, as they are up to some number of inputs
    width: bytes that a number of the features is kept in
    """

    C: int
    m: int
    t: int
    k: int
    n: int
    dense: bool = True
    width: int = 4


@dataclass(frozen=True)
class Rates:
    """Seconds per image of an epoch (None if no training was timed) and per gradient; n training images."""

    epoch: float | None
    gradient: float
    n: int

    def training(self, images: float) -> float | None:
        """Seconds for as many images of epochs, if the rate is known or there are none."""
        return 0.0 if not images else None if self.epoch is None else self.epoch * images


def _nothing(sizes: Sizes) -> int:
    return 0


def _no_time(run: Parts, sizes: Sizes, rates: Rates) -> float | None:
    return 0.0


def always(run: Parts) -> bool:
    """Every run goes through the stage."""
    return True


@dataclass(frozen=True)
class Stage:
    """One step of a run, computed once and cached.

    version:  raise it when the algorithm changes: old artifacts are then no longer found
    needs:    the stages it is built from, by the name its key has them under; of these and what they need in turn the
              builder gets the artifacts, and of no others
    settings: all else it depends on, as JSON
    build:    a module with build(work), and where there is any help(work), what other processes can do meanwhile
    when:     which runs go through it
    holds:    arrays, files and notes that are read later; an artifact without them is not one of this stage
    asked:    a run is finished without; computed when someone asks for it, test inputs while the data are at hand
    writes:   bytes on disk
    takes:    seconds, None where a rate that it needs is not known
    """

    name: str
    version: int
    needs: Callable[[Parts], dict[str, str]]
    settings: Callable[[Parts], dict]
    build: str
    when: Callable[[Parts], bool] = always
    holds: tuple[str, ...] = ()
    asked: bool = False
    writes: Callable[[Sizes], int] = _nothing
    takes: Callable[[Parts, Sizes, Rates], float | None] = _no_time

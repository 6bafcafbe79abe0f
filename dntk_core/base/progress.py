"""Progress of long stages: one small event per step, for whoever listens."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """`done` of `total` steps of `stage`; `note` is for people (a loss, a file name)."""

    stage: str
    done: int
    total: int
    note: str = ""


# A listener may raise `Cancelled` to stop the stage at this step.
Report = Callable[[Progress], None]


def ignore(event: Progress) -> None:
    """Listen to nothing."""


@dataclass(frozen=True)
class Steps:
    """Report a part of a stage: `done` of its steps as `before` + done of `total`."""

    report: Report
    stage: str
    before: int
    total: int

    def __call__(self, done: int, note: str = "") -> None:
        self.report(Progress(self.stage, self.before + done, self.total, note))

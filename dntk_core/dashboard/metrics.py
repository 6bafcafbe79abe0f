"""How scores are presented: every figure and table that shows scores loops over METRICS."""

from typing import Any, Protocol

from dntk_core.readout.metrics import METRICS, Metric

__all__ = ["FIRST", "METRICS", "Measure", "Metric", "is_share", "of", "words"]

# The score that is looked at first.
FIRST = "fidelity"


class Measure(Protocol):
    """What a figure needs to know of anything measured, a score or not."""

    @property
    def title(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def log(self) -> bool: ...


def of(result: Any, name: str) -> Any:
    """The score `name`, or another measure, of scores, a curve or a grid."""
    return result[name] if name in METRICS else getattr(result, name)


def words(measure: Measure) -> str:
    """A title inside a sentence: "Logit MSE" is "logit MSE"."""
    return measure.title[0].lower() + measure.title[1:]


def is_share(measure: Measure) -> bool:
    """Whether it lies in [0, 1] and is written in percent."""
    return measure.format.endswith("%")

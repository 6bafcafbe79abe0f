"""How scores are presented: every figure and table that shows scores loops over METRICS."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True)
class Metric:
    """One score: its title, number format, which way is better, whether its axis is logarithmic."""

    title: str
    format: str
    better: Literal["higher", "lower"]
    log: bool
    function: Callable | None = None


METRICS: dict[str, Metric] = {
    "accuracy": Metric("Accuracy", ".1%", "higher", log=False),
    "fidelity": Metric("Fidelity", ".1%", "higher", log=False),
    "mse": Metric("Logit MSE", ".3g", "lower", log=True),
}
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
    return getattr(result, name)


def words(measure: Measure) -> str:
    """A title inside a sentence: "Logit MSE" is "logit MSE"."""
    return measure.title[0].lower() + measure.title[1:]


def is_share(measure: Measure) -> bool:
    """Whether it lies in [0, 1] and is written in percent."""
    return measure.format.endswith("%")

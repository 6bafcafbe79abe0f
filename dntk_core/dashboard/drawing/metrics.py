"""How scores are presented: every figure and table that shows scores loops over METRICS."""

from typing import Any, Protocol

from dntk_core.readout.intervals import share_interval
from dntk_core.readout.metrics import METRICS, Metric

__all__ = [
    "FIRST",
    "METRICS",
    "Measure",
    "Metric",
    "interval",
    "is_share",
    "of",
    "power",
    "rounded",
    "titles",
    "words",
    "written",
]

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


def titles() -> dict[str, str]:
    """Every score by the name that people read."""
    return {name: metric.title for name, metric in METRICS.items()}


def of(result: Any, name: str) -> Any:
    """The score `name`, or another measure, of scores, a curve or a grid."""
    return result[name] if name in METRICS else getattr(result, name)


def words(measure: Measure) -> str:
    """A title inside a sentence: "Logit MSE" is "logit MSE"."""
    return measure.title[0].lower() + measure.title[1:]


def interval(metric: Metric, value: float, t: int) -> str:
    """The 95% interval of a share of t test inputs; empty for other scores.

    >>> interval(METRICS["accuracy"], 0.9, 100)
    '82.6–94.5%'
    """
    if not metric.share:
        return ""
    low, high = (format(end, metric.format) for end in share_interval(value, t))
    return f"{low.removesuffix('%')}–{high}"


def written(metric: Metric, value: float, t: int) -> str:
    """A score in a table or sentence, with its interval if it has one.

    >>> written(METRICS["accuracy"], 0.9, 100), written(METRICS["mse"], 0.5, 100)
    ('90.0% (82.6–94.5%)', '0.5')
    """
    found = interval(metric, value, t)
    return format(value, metric.format) + (f" ({found})" if found else "")


def power(value: float) -> str:
    """A ridge, which is 1 or 3 times a power of ten, as axes write it.

    >>> power(1e-04), power(0.003), power(0.03), power(3.0)
    ('1e-4', '3e-3', '0.03', '3')
    """
    digit, _, exponent = f"{value:.0e}".partition("e")
    return f"{value:g}" if int(exponent) > -3 else f"{digit}e{int(exponent)}"


def rounded(count: float) -> str:
    """A large count to two digits.

    >>> rounded(559_615.0), rounded(7.0)
    ('560,000', '7')
    """
    return f"{float(f'{count:.2g}'):,.0f}"


def is_share(measure: Measure) -> bool:
    """Whether it lies in [0, 1] and is written in percent."""
    return measure.format.endswith("%")

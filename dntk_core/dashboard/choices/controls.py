"""Every slider and choice that pages share, a row each: CONTROLS. Drawing, links and defaults follow from a row."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

from dntk_core.dashboard.drawing.metrics import power
from dntk_core.distill import GAP_RULES, METHODS
from dntk_core.kernels.spectrum import ENERGIES
from dntk_core.readout.leave_one_out import RIDGES
from dntk_core.readout.ridge import READOUTS
from dntk_core.run.distillation import Distillation


@dataclass(frozen=True)
class Limits:
    """What a run allows: its number of kernel inputs, its classes, and which of them have kernels (None = all)."""

    inputs: int
    classes: tuple[str, ...]
    chosen: tuple[int, ...] | None = None

    @property
    def kernels(self) -> tuple[int, ...]:
        """The classes that have kernels of their own."""
        return tuple(range(len(self.classes))) if self.chosen is None else self.chosen


@dataclass(frozen=True)
class Slider:
    """A number between two bounds.

    label:   plain text: screen readers are given it as it is
    help:    what it sets, in Markdown
    default: where it first stands, cut to the bounds
    bounds:  lowest and highest value that a run allows
    parse:   from the text of a link; ValueError if that is no number
    format:  of the value beside the slider, as printf has it
    """

    label: str
    help: str
    default: float
    bounds: Callable[[Limits], tuple[float, float]]
    step: float
    parse: Callable[[str], float]
    format: str | None = None

    def start(self, limits: Limits) -> float:
        """The value that a person sees first."""
        low, high = self.bounds(limits)
        return min(max(self.default, low), high)

    def allows(self, value: float, limits: Limits) -> bool:
        """Whether a run can show this value."""
        low, high = self.bounds(limits)
        return isfinite(value) and low <= value <= high

    def shown(self, value: float, limits: Limits) -> str:
        """A value beside the slider."""
        return f"{value:.10g}"

    def describe(self, limits: Limits) -> str:
        """The allowed values, for a notice."""
        low, high = self.bounds(limits)
        return f"{low:g} to {high:g}"


@dataclass(frozen=True)
class Choice:
    """One of a few values.

    choices: the values that a run allows
    parse:   from the text of a link; ValueError if that is no value
    shown:   a value in words
    allowed: all values in words, for a notice; by default their list
    ordered: drawn as a slider, not as a list
    """

    label: str
    help: str
    default: Any
    choices: Callable[[Limits], tuple]
    parse: Callable[[str], Any] = str
    shown: Callable[[Any, Limits], str] = lambda value, limits: str(value)
    allowed: Callable[[Limits], str] | None = None
    ordered: bool = False

    def start(self, limits: Limits) -> Any:
        """The value that a person sees first."""
        return self.default

    def allows(self, value: Any, limits: Limits) -> bool:
        """Whether a run can show this value."""
        return value in self.choices(limits)

    def describe(self, limits: Limits) -> str:
        """The allowed values, for a notice."""
        return self.allowed(limits) if self.allowed else ", ".join(map(str, self.choices(limits)))


Control = Slider | Choice

# What Python and the command line start with, pages do too.
_START = Distillation()

# In the order in which they are drawn and stand in a link.
CONTROLS: dict[str, Control] = {
    "H": Slider(
        "Clusters H",
        "Number of spectral clusters of the mean kernel.",
        default=_START.H,
        bounds=lambda limits: (1, max(1, min(40, limits.inputs // 2))),
        step=1,
        parse=int,
    ),
    "tau_v": Slider(
        "Variance kept τ_v",
        "Share of variance that local and global eigenvectors must keep. Every stop changes the distilled set.",
        default=_START.tau_v,
        bounds=lambda limits: (0.05, 0.995),
        step=0.005,
        parse=float,
        format="%.3f",
    ),
    "tau_g": Slider(
        "Gap threshold τ_g",
        "A global direction covered less than this is a gap and gets its own gradient. Every stop adds gaps.",
        default=_START.tau_g,
        bounds=lambda limits: (0.0, 1.0),
        step=0.005,
        parse=float,
        format="%.3f",
    ),
    "epsilon": Slider(
        "Truncation ε",
        "Share of variance that truncation may drop. Every stop changes the rank.",
        default=0.05,
        bounds=lambda limits: (0.005, 0.5),
        step=0.005,
        parse=float,
        format="%.3f",
    ),
    "energy": Choice(
        "Energy",
        r"What ε and τ_v are shares of. The gradients: $\sum\lambda=\|\Phi\|_F^2$, as the paper defines it. "
        r"The kernel: $\sum\lambda^2=\|K\|_F^2$, as squared singular values of K give it.",
        default=_START.energy,
        choices=lambda limits: tuple(ENERGIES),
        shown=lambda value, limits: f"of the {value}, {'λ' if value == 'gradients' else 'λ²'}",
    ),
    "rank": Slider(
        "Rank r",
        "Number of leading global eigenvectors.",
        default=20,
        bounds=lambda limits: (1, limits.inputs),
        step=1,
        parse=int,
    ),
    "ridge": Choice(
        "Ridge",
        r"Ridge in units of the mean kernel diagonal: $\lambda = \mathrm{ridge}\cdot \mathrm{tr}(\bar K)/m$.",
        default=_START.ridge,
        choices=lambda limits: RIDGES,
        parse=float,
        shown=lambda value, limits: power(value),
        allowed=lambda limits: f"1 or 3 times a power of ten, {RIDGES[0]:g} to {RIDGES[-1]:g}",
        ordered=True,
    ),
    "kernel": Choice(
        "Kernel",
        "The class-averaged kernel or the kernel of one class.",
        default="mean",
        choices=lambda limits: ("mean", *limits.kernels),
        parse=lambda text: text if text == "mean" else int(text),
        shown=lambda value, limits: "Mean of all classes" if value == "mean" else limits.classes[value],
        allowed=lambda limits: (
            f'"mean" or a class number, 0 to {len(limits.classes) - 1}'
            if limits.chosen is None
            else f'"mean" or a class with gradients of its own: {", ".join(map(str, limits.chosen)) or "none"}'
        ),
    ),
    "method": Choice(
        "Method",
        "How the gradients are compressed.",
        default="local-global",
        choices=lambda limits: tuple(METHODS),
    ),
    "readout": Choice(
        "Readout",
        "paper: the distilled gradients are fitted to their s averaged targets. nystrom: to all m targets.",
        default="paper",
        choices=lambda limits: tuple(READOUTS),
        shown=lambda value, limits: READOUTS[value].title,
    ),
    "rule": Choice(
        "Gap rule",
        "ratio: best single cluster, as in the paper. union: all clusters together, property (B).",
        default="ratio",
        choices=lambda limits: tuple(GAP_RULES),
    ),
}

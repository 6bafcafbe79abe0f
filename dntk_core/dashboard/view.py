"""What the sliders say: one frozen value, to and from the text of a link."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite

RIDGES = tuple(float(f"{digit}e{power}") for power in range(-8, 1) for digit in (1, 3))
RULES = ("ratio", "union")


@dataclass(frozen=True)
class View:
    """The settings that all pages share; `kernel` is "mean" or a class index."""

    H: int = 10
    tau_v: float = 0.8
    tau_g: float = 0.8
    epsilon: float = 0.05
    rank: int = 20
    ridge: float = 1e-4
    kernel: str | int = "mean"
    method: str = "local-global"
    rule: str = "ratio"


NAMES = tuple(field.name for field in fields(View))


@dataclass(frozen=True)
class Limits:
    """What a run allows: its number of kernel inputs, its classes, the known methods."""

    inputs: int
    classes: tuple[str, ...]
    methods: tuple[str, ...]

    @property
    def default(self) -> View:
        """The view a person sees first: the defaults, cut to what this run allows."""
        start = View()
        return View(H=min(start.H, self.bounds["H"][1]), rank=min(start.rank, self.inputs))

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """Lowest and highest value of each number."""
        return {
            "H": (1, max(1, min(40, self.inputs // 2))),
            "tau_v": (0.05, 0.995),
            "tau_g": (0.0, 1.0),
            "epsilon": (0.005, 0.5),
            "rank": (1, self.inputs),
        }

    @property
    def choices(self) -> dict[str, tuple]:
        """The values each choice may take."""
        return {
            "ridge": RIDGES,
            "kernel": ("mean", *range(len(self.classes))),
            "method": self.methods,
            "rule": RULES,
        }

    def allows(self, name: str, value) -> bool:
        """Whether this run can show `value` for `name`."""
        if name in self.choices:
            return value in self.choices[name]
        low, high = self.bounds[name]
        return isfinite(value) and low <= value <= high

    def describe(self, name: str) -> str:
        """The allowed values of `name`, for a notice."""
        if name in self.bounds:
            low, high = self.bounds[name]
            return f"{low:g} to {high:g}"
        if name == "ridge":
            return f"1 or 3 times a power of ten, {RIDGES[0]:g} to {RIDGES[-1]:g}"
        if name == "kernel":
            return f'"mean" or a class number, 0 to {len(self.classes) - 1}'
        return ", ".join(self.choices[name])


def link(view: View) -> dict[str, str]:
    """The view as link parameters; every one is written, so that a link outlives a change of defaults."""
    return {name: str(value) for name, value in asdict(view).items()}


def parse(name: str, text: str):
    """Read one link parameter; ValueError if it is not even of the right kind."""
    kind = type(getattr(View, name))
    if name == "kernel":
        return text if text == "mean" else int(text)
    return kind(text)


def restore(link: Mapping[str, str], limits: Limits) -> tuple[View, list[str]]:
    """Read a link; what this run does not allow falls back to its default, with a notice each.

    >>> view, notices = restore({"H": "4", "tau_v": "7"}, Limits(100, ("cat", "dog"), ("local-global",)))
    >>> view.H, view.tau_v, notices
    (4, 0.8, ['The link asks for tau_v = 7; allowed is 0.05 to 0.995. Using 0.8.'])
    """
    values, notices = asdict(limits.default), []
    for name in NAMES:
        if name not in link:
            continue
        try:
            value = parse(name, link[name])
            fits = limits.allows(name, value)
        except (ValueError, OverflowError):
            fits = False
        if fits:
            values[name] = value
        else:
            asked = link[name][:20]
            notices.append(
                f"The link asks for {name} = {asked}; allowed is {limits.describe(name)}. Using {values[name]}."
            )
    return View(**values), notices

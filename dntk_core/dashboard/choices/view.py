"""What the sliders say: one frozen value, to and from the text of a link."""

from collections.abc import Iterator, Mapping
from typing import Any

from dntk_core.dashboard.choices.controls import CONTROLS, Limits


class View(Mapping[str, Any]):
    """A value for every row of CONTROLS, as view["H"] or view.H; frozen and hashable.

    >>> View(H=4).H, View(H=4) == View().replace(H=4), View().tau_v
    (4, True, 0.8)
    """

    def __init__(self, **values: Any):
        unknown = values.keys() - CONTROLS.keys()
        if unknown:
            raise TypeError(f"there is no control {', '.join(sorted(unknown))}; there are {', '.join(CONTROLS)}")
        vars(self).update({name: values.get(name, control.default) for name, control in CONTROLS.items()})

    def replace(self, **changes: Any) -> "View":
        """The same view with some values changed."""
        return View(**{**self, **changes})

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]

    # Attributes are the values themselves; this one only tells type checkers so.
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no control {name}; there are {', '.join(vars(self))}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a view is frozen; replace() returns a changed one")

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self))

    def __len__(self) -> int:
        return len(vars(self))

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    def __repr__(self) -> str:
        return f"View({', '.join(f'{name}={value!r}' for name, value in self.items())})"


def chosen_class(view: View) -> int | None:
    """The class whose kernel is looked at; None for the mean of all."""
    return None if view.kernel == "mean" else view.kernel


def first_view(limits: Limits) -> View:
    """The view that a person sees first: the defaults, cut to what a run allows."""
    return View(**{name: control.start(limits) for name, control in CONTROLS.items()})


def link(view: View) -> dict[str, str]:
    """The view as link parameters; every one is written, so that a link outlives a change of defaults."""
    return {name: str(value) for name, value in view.items()}


def restore(link: Mapping[str, str], limits: Limits) -> tuple[View, list[str]]:
    """Read a link; what this run does not allow falls back to its default, with a notice each.

    >>> view, notices = restore({"H": "4", "tau_v": "7"}, Limits(100, ("cat", "dog")))
    >>> view.H, view.tau_v, notices
    (4, 0.8, ['The link asks for tau_v = 7; allowed is 0.05 to 0.995. Using 0.8.'])
    """
    values, notices = dict(first_view(limits)), []
    for name, control in CONTROLS.items():
        if name not in link:
            continue
        try:
            value = control.parse(link[name])
            fits = control.allows(value, limits)
        except (ValueError, OverflowError):
            fits = False
        if fits:
            values[name] = value
        else:
            asked, allowed = link[name][:20], control.describe(limits)
            notices.append(f"The link asks for {name} = {asked}; allowed is {allowed}. Using {values[name]}.")
    return View(**values), notices

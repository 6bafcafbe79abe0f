"""The distilled set that the sliders describe."""

from dntk_core.dashboard.choices.view import View
from dntk_core.distill import Mixing
from dntk_core.readout.ridge import READOUTS
from dntk_core.run.distillation import Distillation
from dntk_core.run.live import Live

# The controls that decide on the distilled set and its readout.
USES = ("method", "H", "tau_v", "tau_g", "rule", "energy", "ridge", "readout")
READOUT = r"""
**Readouts** of the $s$ distilled gradients $A\Phi$, both $f^c(x_*)=k^c_*A^\top\beta^c$. *Averaged targets*, the
paper's, sees the $s$ mixed targets alone: $(AK^cA^\top+\lambda I)\,\beta^c=Ay_c$. *Every target* (Nyström) fits the
same gradients to all $m$ targets, minimising $\sum_i(f(x_i)-y_i)^2+\lambda\|f\|^2$ over their span:
$(AK^cK^cA^\top+\lambda AK^cA^\top)\,\beta^c=AK^cy_c$. With the first, a selection of inputs
sees $s$ targets and a mixture the average of many: part of a margin between methods is then the readout's. The second
judges the span alone.
"""


def other_readout(view: View) -> str:
    """The readout that is not chosen."""
    return next(name for name in READOUTS if name != view.readout)


def current_distillation(live: Live, view: View) -> Distillation:
    """The set that the view describes; methods other than the paper's get as many gradients as it makes there."""
    if view.method == "local-global":
        return Distillation(**{name: view[name] for name in USES})
    size = live.local_global(view.H, view.tau_v, view.tau_g, view.rule, view.energy).size
    return Distillation(view.method, ridge=view.ridge, readout=view.readout, size=size)


def current_mixing(live: Live, view: View) -> Mixing:
    """Distil as the view says."""
    return current_distillation(live, view).mixing(live)

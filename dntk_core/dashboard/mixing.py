"""The distilled set that the sliders describe."""

from dntk_core.dashboard.view import View
from dntk_core.distill import Mixing
from dntk_core.run.live import Live

# The controls that decide on the distilled set and its readout.
USES = ("method", "H", "tau_v", "tau_g", "rule", "ridge")


def current_mixing(live: Live, view: View) -> Mixing:
    """Distil as the view says; methods other than the paper's get as many gradients as it makes at these settings."""
    paper = live.local_global(view.H, view.tau_v, view.tau_g, view.rule)
    return paper if view.method == "local-global" else live.distil(view.method, paper.size, view.ridge)

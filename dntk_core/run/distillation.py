"""Which distilled set of a run is meant: Algorithm 1's at H, τ_v, τ_g, or any method's at a size."""

import shlex
from dataclasses import dataclass

from dntk_core.base.errors import DNTKError
from dntk_core.distill import Mixing
from dntk_core.readout.scores import Scores
from dntk_core.run.live import Live


@dataclass(frozen=True)
class Distillation:
    """size: the number of distilled gradients; with it, H, τ_v, τ_g, the rule and the energy do not count."""

    method: str = "local-global"
    H: int = 10
    tau_v: float = 0.8
    tau_g: float = 0.99
    rule: str = "ratio"
    ridge: float = 1e-4
    readout: str = "paper"
    size: int | None = None
    seed: int = 0
    energy: str = "gradients"

    def __post_init__(self):
        if self.size is None and self.method != "local-global":
            raise DNTKError(f"--method {self.method!r} needs --size, the number of distilled gradients")

    def mixing(self, live: Live) -> Mixing:
        """Distil a run's kernels; clusterings are those of the live object's own seed."""
        if self.size is not None:
            return live.distil(self.method, self.size, self.ridge, self.seed)
        return live.local_global(self.H, self.tau_v, self.tau_g, self.rule, self.energy)

    def scores(self, live: Live) -> tuple[Scores, Scores]:
        """Score the readout on this set, and the full one: what pages, command line and benchmarks all call."""
        return live.scores(self.mixing(live), self.ridge, self.readout), live.scores(None, self.ridge)

    @property
    def settings(self) -> dict[str, str | int | float]:
        """What counts, by name."""
        names = ("H", "tau_v", "tau_g", "rule", "energy") if self.size is None else ("size",)
        return {name: getattr(self, name) for name in ("method", *names, "ridge", "readout", "seed")}

    def command(self, key: str) -> str:
        """The command line that prints this set's scores on a run."""
        flags = [f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in self.settings.items()]
        return f"python -m dntk_core evaluate --run {key} {' '.join(flags)}"

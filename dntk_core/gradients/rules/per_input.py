"""A parameter that no layer owns: y_i = W for every input i."""

from torch import Tensor

from dntk_core.gradients.equivalents import PerInput
from dntk_core.gradients.rules.rule import Rule


class PerInputRule(Rule):
    """The signal at an input's own copy is its gradient."""

    def gradients(self, module: PerInput, side: Tensor, delta: Tensor) -> tuple[Tensor, None]:
        return delta.clone(), None

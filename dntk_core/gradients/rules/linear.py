"""Linear layers: y = W a + b over the last axis; every other axis is a position."""

import torch.nn.functional as F
from torch import Tensor, nn

from dntk_core.gradients.rules.rule import MatrixRule, bias_gradient


class LinearRule(MatrixRule):
    """∂f/∂W = Σ_positions δ ⊗ a; one group."""

    def patches(self, module: nn.Linear, x: Tensor) -> Tensor:
        return x.reshape(len(x), -1, x.shape[-1]).transpose(1, 2).unsqueeze(1)

    def signal(self, module: nn.Linear, delta: Tensor) -> Tensor:
        return delta.reshape(len(delta), -1, delta.shape[-1]).transpose(1, 2).unsqueeze(1)

    def projected(self, module: nn.Linear, x: Tensor, filters: Tensor) -> Tensor:
        return self.patches(module, F.linear(x, filters))

    def side(self, module: nn.Linear, x: Tensor) -> Tensor:
        return self.patches(module, x)

    def gradients(self, module: nn.Linear, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor | None]:
        signal = self.signal(module, delta)
        return signal @ side.transpose(-1, -2), bias_gradient(module, signal)

    def matrix_shape(self, module: nn.Linear) -> tuple[int, int, int]:
        return 1, module.weight.shape[0], module.weight.shape[1]

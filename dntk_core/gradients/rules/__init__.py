"""Layer kinds whose per-sample gradients have a closed form: one file for each, one row of RULES.

A kind that has no row takes the general path, which is slower and needs nothing.
"""

from torch import nn

from dntk_core.gradients.equivalents import FrozenBatchNorm, PerInput
from dntk_core.gradients.rules.convolution import Conv2dRule
from dntk_core.gradients.rules.embedding import EmbeddingRule
from dntk_core.gradients.rules.linear import LinearRule
from dntk_core.gradients.rules.norms import BatchNormRule, GroupNormRule, LayerNormRule
from dntk_core.gradients.rules.per_input import PerInputRule
from dntk_core.gradients.rules.rule import MatrixRule, Rule

__all__ = ["RULES", "MatrixRule", "Rule"]

RULES: dict[type[nn.Module], Rule] = {
    nn.Linear: LinearRule(),
    nn.Conv2d: Conv2dRule(),
    nn.BatchNorm1d: BatchNormRule(),
    nn.BatchNorm2d: BatchNormRule(),
    nn.BatchNorm3d: BatchNormRule(),
    FrozenBatchNorm: BatchNormRule(),
    nn.GroupNorm: GroupNormRule(),
    nn.LayerNorm: LayerNormRule(),
    nn.Embedding: EmbeddingRule(),
    PerInput: PerInputRule(),
}

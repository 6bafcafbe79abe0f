"""Operations whose parameters' per-sample gradients have a closed form: one file for each kind, rows of OPERATIONS.

An operation that has no row takes the general path, which is slower and needs nothing. Several rules of one
operation are tried in turn; COMPOSITES are functions made of several operations.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from dntk_core.gradients.rules.attention import multi_head_attention
from dntk_core.gradients.rules.convolution import Convolution, TransposedConvolution
from dntk_core.gradients.rules.elementwise import (
    Copies,
    Difference,
    PReLU,
    Scaling,
    ScalingFromLeft,
    Sum,
    SumFromLeft,
)
from dntk_core.gradients.rules.embedding import Embedding, EmbeddingBag, Indexed
from dntk_core.gradients.rules.linear import AddedRightProduct, LeftProduct, Linear, RightProduct
from dntk_core.gradients.rules.norms import BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RMSNorm
from dntk_core.gradients.rules.operation import Call, Leaf, MatrixOperation, Operation

__all__ = ["COMPOSITES", "OPERATIONS", "Call", "Leaf", "MatrixOperation", "Operation"]

_SUM, _PRODUCT, _MATMUL = (Sum(), SumFromLeft()), (Scaling(), ScalingFromLeft()), (RightProduct(), LeftProduct())

OPERATIONS: dict[Callable, tuple[Operation, ...]] = {
    F.linear: (Linear(),),
    torch.matmul: _MATMUL,
    Tensor.matmul: _MATMUL,
    Tensor.__matmul__: _MATMUL,
    torch.mm: _MATMUL,
    Tensor.mm: _MATMUL,
    torch.addmm: (AddedRightProduct(),),
    Tensor.addmm: (AddedRightProduct(),),
    F.conv1d: (Convolution(),),
    F.conv2d: (Convolution(),),
    F.conv3d: (Convolution(),),
    F.conv_transpose1d: (TransposedConvolution(),),
    F.conv_transpose2d: (TransposedConvolution(),),
    F.conv_transpose3d: (TransposedConvolution(),),
    F.batch_norm: (BatchNorm(),),
    F.group_norm: (GroupNorm(),),
    F.instance_norm: (InstanceNorm(),),
    F.layer_norm: (LayerNorm(),),
    F.rms_norm: (RMSNorm(),),
    F.embedding: (Embedding(),),
    F.embedding_bag: (EmbeddingBag(),),
    Tensor.__getitem__: (Indexed(),),
    torch.add: _SUM,
    Tensor.add: _SUM,
    Tensor.add_: _SUM,
    torch.sub: (Difference(),),
    Tensor.sub: (Difference(),),
    torch.mul: _PRODUCT,
    Tensor.mul: _PRODUCT,
    torch.prelu: (PReLU(),),
    Tensor.expand: (Copies(),),
}

COMPOSITES: dict[Callable, Callable] = {F.multi_head_attention_forward: multi_head_attention}

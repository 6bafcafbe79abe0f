"""Modules in an equivalent network: the same outputs, gradients that are cheap to take."""

import torch
from jacobians import features, jacobian
from torch import nn

from dntk_core.gradients.equivalents import FrozenBatchNorm, PerInput, equivalent
from dntk_core.gradients.preparation import prepare


def test_a_vision_transformer_is_fast_throughout():
    from torchvision.models import VisionTransformer

    torch.manual_seed(0)
    module, x = VisionTransformer(8, 4, 2, 2, 8, 16, num_classes=3).eval(), torch.randn(4, 3, 8, 8)
    nn.init.normal_(module.heads.head.weight)
    assert prepare(module, x).rest == ()
    torch.testing.assert_close(features(module, x), jacobian(module, x), rtol=1e-4, atol=1e-5)


def test_attention_that_is_more_than_plain_takes_the_general_path():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
            self.head = nn.Linear(6, 3)

        def forward(self, x):
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
            return self.head(self.attention(x, x, x, attn_mask=mask)[0].mean(1))

    torch.manual_seed(0)
    module, x = Masked().eval(), torch.randn(4, 5, 6)
    assert prepare(module, x).rest[:2] == ("attention.in_proj_weight", "attention.in_proj_bias")
    torch.testing.assert_close(features(module, x), jacobian(module, x), rtol=1e-4, atol=1e-5)


def test_batch_norm_becomes_one_product_with_the_same_outputs():
    torch.manual_seed(0)
    module, x = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)), torch.randn(6, 2, 5, 5)
    for _ in range(3):
        module(x)
    copy = equivalent(module.eval())
    assert type(copy[1]) is FrozenBatchNorm and type(module[1]) is nn.BatchNorm2d
    torch.testing.assert_close(copy(x), module(x))
    assert copy[1].weight is module[1].weight and copy[1].running_var is module[1].running_var


def test_batch_norm_without_parameters_or_statistics_stays():
    for norm in (nn.BatchNorm2d(4, affine=False), nn.BatchNorm2d(4, track_running_stats=False)):
        assert type(equivalent(norm)) is nn.BatchNorm2d


def test_a_bare_parameter_becomes_one_copy_per_input():
    x = torch.zeros(3, 2)
    token, table = nn.Parameter(torch.randn(1, 1, 4)), nn.Parameter(torch.randn(5, 4))
    assert PerInput(token)(x).shape == (3, 1, 4) and PerInput(table)(x).shape == (3, 5, 4)

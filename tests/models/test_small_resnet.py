"""The small residual network takes images of any small size."""

import pytest
import torch

from dntk_core.models.small_resnet import SmallResNet


@pytest.mark.parametrize(("channels", "size"), [(1, 8), (3, 32)])
def test_one_logit_per_class(channels, size):
    network = SmallResNet(channels, classes=7, width=4).eval()
    assert network(torch.zeros(2, channels, size, size)).shape == (2, 7)
    # Only where the shape changes has a shortcut parameters.
    assert [len(list(block.shortcut.parameters())) > 0 for block in network.blocks] == [False, True, False]

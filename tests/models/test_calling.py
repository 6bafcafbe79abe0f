"""Networks are called as their batch says, and answer with logits however they wrap them."""

from collections import namedtuple
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from dntk_core.base.errors import DNTKError
from dntk_core.models.calling import call, logits

Y = torch.arange(6.0).reshape(2, 3)
Named = namedtuple("Named", ["hidden", "logits"])
ANSWERS = {
    "tensor": Y,
    "tuple": (Y, Y + 1),
    "list": [Y],
    "named tuple": Named(Y + 1, Y),
    "dict with logits": {"loss": torch.zeros(()), "logits": Y},
    "dict": {"out": Y},
    "object": SimpleNamespace(logits=Y),
    "pixels": Y[:, :, None, None],
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_logits_are_found_in_every_answer(answer):
    assert torch.equal(logits(answer), Y)


def test_an_answer_without_tensors_is_refused():
    with pytest.raises(DNTKError, match=r"must return a tensor \(batch, C\), got str"):
        logits("no")


def test_a_batch_says_how_the_network_is_called():
    class Masked(nn.Module):
        def forward(self, ids, mask):
            return (ids * mask).sum(1)

    ids, mask = torch.ones(2, 4, 3), torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0]])[:, :, None]
    wanted = torch.tensor([[1.0] * 3, [2.0] * 3])
    assert torch.equal(call(Masked(), {"mask": mask, "ids": ids}), wanted)
    assert torch.equal(call(Masked(), (ids, mask)), wanted)


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float64])
def test_a_network_of_another_precision_gets_its_own(precision):
    network = nn.Linear(3, 2).to(precision)
    assert call(network, torch.ones(1, 3)).dtype == precision

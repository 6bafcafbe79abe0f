"""Code that no file holds is known by what it computes."""

from functools import partial

import torch
from torch import nn

from dntk_core.models.functions import functions_fingerprint

CLASS = """
class Net(nn.Module):
    def forward(self, x):
        return helper(x) * FACTOR
def helper(x):
    return x {operation} 1
FACTOR = {factor}
"""


def typed(operation="+", factor=2):
    """A class as it comes from a notebook's cell."""
    names = {"nn": nn, "__name__": "__main__"}
    exec(CLASS.format(operation=operation, factor=factor), names)
    return names["Net"]()


def test_another_forward_helper_or_constant_is_another_network():
    same = functions_fingerprint(typed(), None)
    assert functions_fingerprint(typed(), None) == same
    assert functions_fingerprint(typed("-"), None) != same
    assert functions_fingerprint(typed(factor=3), None) != same


def test_how_a_network_is_called_counts():
    network, rows = nn.Linear(2, 3), [0, 2]
    found = [
        functions_fingerprint(network, how)
        for how in (
            None,
            lambda m, x: m(x),
            lambda m, x: m(x)[:, :2],
            lambda m, x: m(x)[:, rows],
            partial(lambda c, m, x: m(x) + c, 1.0),
            partial(lambda c, m, x: m(x) + c, 2.0),
        )
    ]
    assert len(set(found)) == len(found)
    weights = torch.ones(2)
    one = functions_fingerprint(network, lambda m, x: m(x) * weights)
    weights = torch.zeros(2)
    assert functions_fingerprint(network, lambda m, x: m(x) * weights) != one

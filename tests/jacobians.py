"""Reference gradients by torch.func.jacrev, and this engine's own, for small networks."""

from collections.abc import Callable, Iterable

import pytest
import torch
from torch import nn
from torch.func import functional_call, jacrev

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import project_batch, projector

CPU = torch.device("cpu")
IDENTITY = ProjectionSpec("identity")


def jacobian(module: nn.Module, x: torch.Tensor, outputs: str = "logits") -> torch.Tensor:
    """Full Jacobians by torch.func.jacrev, one input at a time: (C, b, P)."""
    theta = {name: p.detach() for name, p in module.named_parameters() if p.requires_grad}

    def f(theta, x_i):
        y = functional_call(module, theta, (x_i.unsqueeze(0),))[0]
        return y.log_softmax(-1) if outputs == "log_softmax" else y

    each = [jacrev(f)(theta, x_i) for x_i in x]
    return torch.stack([torch.cat([j[name].flatten(1) for name in theta], dim=1) for j in each], dim=1)


def by_autograd(module: Callable, x: torch.Tensor, parameters: Iterable[torch.Tensor] = ()) -> torch.Tensor:
    """Full Jacobians by plain autograd, one input and logit at a time: (C, b, P)."""
    parameters = [p for p in parameters or module.parameters() if p.requires_grad]
    outputs = [module(x_i.unsqueeze(0))[0] for x_i in x]

    def gradient(value):
        found = torch.autograd.grad(value, parameters, retain_graph=True, allow_unused=True, materialize_grads=True)
        return torch.cat([g.flatten() for g in found])

    return torch.stack([torch.stack([gradient(y[c]) for y in outputs]) for c in range(len(outputs[0]))])


def features(module, x, spec=IDENTITY, outputs="logits", **how) -> torch.Tensor:
    network = prepare(module, x, outputs)
    return project_batch(network, projector(network, spec, CPU), x, **how)[0]


def refusal(module, x, spec=IDENTITY) -> str:
    with pytest.raises(DNTKError) as caught:
        features(module, x, spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)

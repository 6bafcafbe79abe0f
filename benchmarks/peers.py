"""The same work by other libraries, each as a function network, x, k → parts, one per logit.

A part is (what, array): "gradients" (b, p), "kernel" (b, b), or "nothing". A library that is not installed is left
out by benchmarks/engine.py, which says so. Install them beside the project, not into it:

    pip install --no-deps --target peers backpack-for-pytorch einops unfoldNd nngeometry traker asdfghjkl dattri tqdm
    PYTHONPATH=peers python -m benchmarks.engine --peers
"""

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jacrev, vmap

Parts = Iterator[tuple[str, Tensor | None]]
# Dense projectors draw P × k random numbers, which takes minutes: they are run with k/SLICE columns, and timed × SLICE.
SLICE = 64


def vmap_grad(module: nn.Module, x: Tensor, k: int) -> Parts:
    """torch.func: vmap(grad) of each logit."""
    theta = {name: p.detach() for name, p in module.named_parameters()}
    for c in range(module(x[:1]).shape[1]):
        per_sample = vmap(grad(lambda theta, x_i, c=c: functional_call(module, theta, (x_i[None],))[0, c]), (None, 0))
        yield "gradients", torch.cat([g.flatten(1) for g in per_sample(theta, x).values()], dim=1)


def vmap_jacrev(module: nn.Module, x: Tensor, k: int) -> Parts:
    """torch.func: vmap(jacrev), all logits at once."""
    theta = {name: p.detach() for name, p in module.named_parameters()}
    jacobians = vmap(jacrev(lambda theta, x_i: functional_call(module, theta, (x_i[None],))[0]), (None, 0))(theta, x)
    for c in range(next(iter(jacobians.values())).shape[1]):
        yield "gradients", torch.cat([j[:, c].flatten(1) for j in jacobians.values()], dim=1)


def backpack(module: nn.Module, x: Tensor, k: int) -> Parts:
    """BackPACK's BatchGrad."""
    from backpack import backpack, extend
    from backpack.extensions import BatchGrad

    module = copy.deepcopy(module)
    for part in module.modules():
        if isinstance(part, nn.ReLU):
            part.inplace = False
    module = extend(module, use_converter=not isinstance(module, nn.Sequential)).eval()
    y = module(x)
    for c in range(y.shape[1]):
        with backpack(BatchGrad(), retain_graph=True):
            y[:, c].sum().backward(retain_graph=True)
        yield "gradients", torch.cat([p.grad_batch.flatten(1) for p in module.parameters()], dim=1)


def asdl(module: nn.Module, x: Tensor, k: int) -> Parts:
    """ASDL's class-wise direct NTK, all logits at once."""
    from asdl.kernel import empirical_class_wise_direct_ntk

    # Its hooks stay behind.
    kernel = empirical_class_wise_direct_ntk(copy.deepcopy(module), x)
    for c in range(kernel.shape[-1]):
        yield "kernel", kernel[..., c]


def nngeometry(module: nn.Module, x: Tensor, k: int) -> Parts:
    """NNGeometry's Gram matrix, all logits at once."""
    from nngeometry import GramMatrix
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(x, torch.zeros(len(x))), batch_size=len(x))
    kernel = GramMatrix(copy.deepcopy(module), loader).data
    for c in range(kernel.shape[0]):
        yield "kernel", kernel[c, :, c]


def trak(module: nn.Module, x: Tensor, k: int) -> Parts:
    """TRAK's projector for CPUs."""
    from trak.projectors import BasicProjector, ProjectionType

    return _sliced(BasicProjector, ProjectionType.rademacher, module, x, k, model_id=0)


def dattri(module: nn.Module, x: Tensor, k: int) -> Parts:
    """dattri's projector for CPUs."""
    from dattri.func.projection import BasicProjector, ProjectionType

    return _sliced(BasicProjector, ProjectionType.rademacher, module, x, k, ensemble_id=0)


def _sliced(kind, entries, module: nn.Module, x: Tensor, k: int, **number: int) -> Parts:
    """The projection of one logit's gradients alone, onto as many columns as SLICE leaves."""
    P = sum(p.numel() for p in module.parameters())
    columns = k // SLICE
    projector = kind(P, columns, 0, entries, torch.device("cpu"), block_size=columns)
    projector.project(torch.zeros(len(x), P), **number)
    yield "nothing", None


# Name → (function, inputs at once, how many times its time counts).
PEERS = {
    "vmap(grad)": (vmap_grad, 4, 1),
    "vmap(jacrev)": (vmap_jacrev, 2, 1),
    "BackPACK": (backpack, 4, 1),
    "asdl direct NTK": (asdl, 4, 1),
    "NNGeometry Gram": (nngeometry, 2, 1),
    "TRAK projector": (trak, 8, SLICE),
    "dattri projector": (dattri, 8, SLICE),
}

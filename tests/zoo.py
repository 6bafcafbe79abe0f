"""A zoo of networks as people bring them: each gives exact kernels, or is refused with a sentence.

`python -m tests.zoo` prints the table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm

from dntk_core.data.batch import length, take
from dntk_core.models.calling import call


@dataclass(frozen=True)
class Animal:
    """make: the network; inputs: some for it; says: a pattern of the sentence it is refused with, if it is."""

    make: Callable[[], nn.Module]
    inputs: Callable[[], Any]
    says: str = ""
    tolerance: float = 1e-4


def vectors():
    return torch.randn(4, 6)


def images():
    return torch.randn(4, 3, 8, 8)


def sequences():
    return torch.randn(4, 5, 6)


def tokens():
    return torch.randint(1, 9, (4, 5))


def masked():
    return {"ids": tokens(), "mask": torch.tensor([[1.0] * n + [0.0] * (5 - n) for n in (5, 3, 2, 4)])}


class Lambda(nn.Module):
    """A network around one function of itself and its input, with the parts it is given."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


def mlp(*more: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Linear(6, 7), nn.Tanh(), *more, nn.Linear(7, 3))


def convolutional(*more: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 6, 3), *more, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3))


def parameter(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) / 2)


def bag(self: Any, ids: Tensor, mask: Tensor) -> Tensor:
    x = self.words(ids) * mask.unsqueeze(-1)
    return self.head(torch.tanh(x.sum(1) / mask.sum(1, keepdim=True)))


def tied(self: Any, x: Tensor) -> Tensor:
    """Words in and out through the same matrix, the first three as classes."""
    return (torch.tanh(self.mix(self.words(x).mean(1))) @ self.words.weight.T)[:, :3]


def recurrent(kind: type, **how: Any) -> nn.Module:
    return Lambda(
        lambda self, x: self.head(self.body(x)[0][:, -1]),
        body=kind(6, 5, batch_first=True, **how),
        head=nn.Linear(5, 3),
    )


def packed(self: Any, ids: Tensor, mask: Tensor) -> Tensor:
    lengths = mask.sum(1).long().cpu()
    x = nn.utils.rnn.pack_padded_sequence(self.words(ids), lengths, batch_first=True, enforce_sorted=False)
    return self.head(self.body(x)[1][0])


class Sign(torch.autograd.Function):
    """A straight-through sign, written the old way: forward takes the context."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, *grads):
        (x,) = ctx.saved_tensors
        return grads[0] * (x.abs() < 1)


class EarlyExit(nn.Module):
    """Stops early if the batch as a whole looks easy."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 3), nn.Linear(3, 3)

    def forward(self, x):
        y = self.first(x)
        return y if y.abs().mean() > 0.5 else self.second(torch.tanh(y))


class Mixture(nn.Module):
    """Two experts, each input sent to one of them."""

    def __init__(self):
        super().__init__()
        self.gate, self.one, self.other = nn.Linear(6, 1), nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x):
        share = torch.sigmoid(self.gate(x))
        return torch.where(share > 0.5, share * self.one(x), (1 - share) * self.other(x))


class Hyper(nn.Module):
    """Weights made from the input by another network."""

    def __init__(self):
        super().__init__()
        self.maker = nn.Linear(6, 18)

    def forward(self, x):
        return torch.einsum("bi,bij->bj", x, self.maker(x).view(-1, 6, 3))


def attention() -> nn.Module:
    layer = nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, batch_first=True)
    return Lambda(lambda self, x: self.head(self.body(x).mean(1)), body=layer, head=nn.Linear(6, 3))


def torchvision(name: str, **how: Any) -> nn.Module:
    import torchvision.models

    return torchvision.models.get_model(name, weights=None, num_classes=3, **how)


def lora() -> nn.Module:
    """A frozen matrix with a trainable correction of low rank."""
    body = nn.Linear(6, 6).requires_grad_(False)
    return Lambda(
        lambda self, x: self.head(torch.tanh(self.body(x) + x @ self.down @ self.up)),
        body=body,
        down=parameter(6, 2),
        up=parameter(2, 6),
        head=nn.Linear(6, 3),
    )


ZOO: dict[str, Animal] = {
    # Plain ones
    "MLP": Animal(mlp, vectors),
    "convolutions": Animal(convolutional, images),
    "batch norm": Animal(lambda: convolutional(nn.BatchNorm2d(6)), images),
    "group norm": Animal(lambda: convolutional(nn.GroupNorm(2, 6)), images),
    "instance norm": Animal(lambda: convolutional(nn.InstanceNorm2d(6, affine=True)), images),
    "layer norm": Animal(lambda: mlp(nn.LayerNorm(7)), vectors),
    "RMS norm": Animal(lambda: mlp(nn.RMSNorm(7)), vectors),
    "dropout": Animal(lambda: mlp(nn.Dropout(0.5)), vectors),
    "PReLU": Animal(lambda: mlp(nn.PReLU()), vectors),
    "depthwise": Animal(lambda: convolutional(nn.Conv2d(6, 6, 3, groups=6)), images),
    "one-dimensional": Animal(
        lambda: nn.Sequential(nn.Conv1d(5, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(16, 3)), sequences
    ),
    "transposed": Animal(lambda: convolutional(nn.ConvTranspose2d(6, 6, 2)), images),
    "bilinear": Animal(lambda: Lambda(lambda self, x: self.b(x, torch.tanh(x)), b=nn.Bilinear(6, 6, 3)), vectors),
    "SqueezeNet": Animal(lambda: torchvision("squeezenet1_1"), lambda: torch.randn(2, 3, 32, 32)),
    "MobileNetV3": Animal(lambda: torchvision("mobilenet_v3_small"), lambda: torch.randn(2, 3, 32, 32), tolerance=1e-3),
    # Sequences and texts
    "LSTM": Animal(lambda: recurrent(nn.LSTM), sequences),
    "Elman network": Animal(lambda: recurrent(nn.RNN), sequences),
    "GRU": Animal(lambda: recurrent(nn.GRU, num_layers=2), sequences),
    "packed GRU": Animal(
        lambda: Lambda(packed, words=nn.Embedding(9, 6), body=nn.GRU(6, 5, batch_first=True), head=nn.Linear(5, 3)),
        masked,
    ),
    "attention": Animal(attention, sequences),
    "embedding, mask by name": Animal(
        lambda: Lambda(bag, words=nn.Embedding(9, 6, padding_idx=0), head=nn.Linear(6, 3)), masked
    ),
    "embedding, mask in order": Animal(
        lambda: Lambda(bag, words=nn.Embedding(9, 6), head=nn.Linear(6, 3)), lambda: tuple(masked().values())
    ),
    "embedding bag": Animal(lambda: nn.Sequential(nn.EmbeddingBag(9, 6, mode="mean"), nn.Linear(6, 3)), tokens),
    "tied words": Animal(lambda: Lambda(tied, words=nn.Embedding(9, 6), mix=nn.Linear(6, 6)), tokens),
    "two inputs": Animal(
        lambda: Lambda(lambda self, a, b: self.one(a) * self.other(b), one=nn.Linear(6, 3), other=nn.Linear(6, 3)),
        lambda: (vectors(), vectors()),
    ),
    # Parameters used in unusual ways
    "bare parameters": Animal(
        lambda: Lambda(lambda self, x: torch.tanh(x @ self.a) @ self.b, a=parameter(6, 5), b=parameter(5, 3)), vectors
    ),
    "einsum": Animal(
        lambda: Lambda(lambda self, x: torch.einsum("bti,ij->bj", x, self.a), a=parameter(6, 3)), sequences
    ),
    "layer used twice": Animal(
        lambda: Lambda(
            lambda self, x: self.head(torch.tanh(self.a(torch.tanh(self.a(x))))),
            a=nn.Linear(6, 6),
            head=nn.Linear(6, 3),
        ),
        vectors,
    ),
    "weight norm": Animal(lambda: nn.Sequential(weight_norm(nn.Linear(6, 7)), nn.Tanh(), nn.Linear(7, 3)), vectors),
    "spectral norm": Animal(lambda: nn.Sequential(spectral_norm(nn.Linear(6, 7)), nn.Tanh(), nn.Linear(7, 3)), vectors),
    "orthogonal weights": Animal(
        lambda: nn.Sequential(orthogonal(nn.Linear(6, 6)), nn.Tanh(), nn.Linear(6, 3)), vectors
    ),
    "standardised weights": Animal(
        lambda: Lambda(
            lambda self, x: self.head(
                F.linear(x, (self.a - self.a.mean(1, keepdim=True)) / self.a.std(1, keepdim=True))
            ),
            a=parameter(7, 6),
            head=nn.Linear(7, 3),
        ),
        vectors,
    ),
    "scaled parameter": Animal(
        lambda: Lambda(lambda self, x: self.scale * self.a(x), scale=parameter(1), a=nn.Linear(6, 3)), vectors
    ),
    "low-rank correction": Animal(lora, vectors),
    "frozen body": Animal(
        lambda: Lambda(
            lambda self, x: self.head(torch.relu(self.body(x))),
            body=nn.Linear(6, 7).requires_grad_(False),
            head=nn.Linear(7, 3),
        ),
        vectors,
    ),
    "unused layer": Animal(
        lambda: Lambda(lambda self, x: self.head(x), spare=nn.Linear(4, 4), head=nn.Linear(6, 3)), vectors
    ),
    "in-place operations": Animal(
        lambda: nn.Sequential(nn.Linear(6, 7), nn.ReLU(inplace=True), nn.Linear(7, 3)), vectors
    ),
    "mixture of experts": Animal(Mixture, vectors),
    "weights from the input": Animal(Hyper, vectors),
    "old-style function": Animal(
        lambda: Lambda(lambda self, x: self.head(Sign.apply(self.body(x))), body=nn.Linear(6, 7), head=nn.Linear(7, 3)),
        vectors,
    ),
    "checkpointed": Animal(
        lambda: Lambda(
            lambda self, x: self.head(torch.utils.checkpoint.checkpoint(self.body, x, use_reentrant=False)),
            body=nn.Sequential(nn.Linear(6, 7), nn.Tanh()),
            head=nn.Linear(7, 3),
        ),
        vectors,
    ),
    "no gradient on the way": Animal(
        lambda: Lambda(
            lambda self, x: self.head(self.body(x).detach() + x), body=nn.Linear(6, 6), head=nn.Linear(6, 3)
        ),
        vectors,
    ),
    # Layouts, precisions, answers
    "channels last": Animal(lambda: convolutional().to(memory_format=torch.channels_last), images),
    "bfloat16": Animal(lambda: mlp().to(torch.bfloat16), vectors, tolerance=0.05),
    "half": Animal(lambda: mlp().half(), vectors, tolerance=0.01),
    "double": Animal(lambda: mlp().double(), vectors),
    "TorchScript": Animal(lambda: torch.jit.script(mlp()), vectors),
    "traced": Animal(lambda: torch.jit.trace(mlp(), vectors()), vectors),
    "answers a tuple": Animal(lambda: Lambda(lambda self, x: (self.a(x), x), a=nn.Linear(6, 3)), vectors),
    "answers a dict": Animal(lambda: Lambda(lambda self, x: {"logits": self.a(x)}, a=nn.Linear(6, 3)), vectors),
    "answers an object": Animal(
        lambda: Lambda(lambda self, x: SimpleNamespace(logits=self.a(x)), a=nn.Linear(6, 3)), vectors
    ),
    "answers pixels": Animal(lambda: nn.Sequential(nn.Conv2d(3, 3, 8)), images),
    # Refused
    "one output": Animal(lambda: nn.Linear(6, 1), vectors, "one output"),
    "detached output": Animal(
        lambda: Lambda(lambda self, x: self.l(x).detach(), l=nn.Linear(6, 3)), vectors, r"detach\(\)"
    ),
    "nothing to train": Animal(lambda: mlp().requires_grad_(False), vectors, "no parameter of the network requires"),
    "a map of logits": Animal(lambda: nn.Conv2d(3, 3, 1), images, r"must return .*\(batch, C\)"),
    "answers text": Animal(
        lambda: Lambda(lambda self, x: "cat", a=nn.Linear(6, 3)), vectors, r"must return .*\(batch, C\)"
    ),
    "batch statistics": Animal(
        lambda: mlp(nn.BatchNorm1d(7, track_running_stats=False)), vectors, "running statistics"
    ),
    "subtracts the batch's mean": Animal(
        lambda: Lambda(lambda self, x: self.a(x - x.mean(0)), a=nn.Linear(6, 3)), vectors, "batch"
    ),
    "early exit by the batch": Animal(
        EarlyExit, lambda: torch.randn(4, 6) * torch.tensor([0.01, 0.01, 5.0, 5.0])[:, None], "batch"
    ),
    "noise in evaluation": Animal(
        lambda: Lambda(lambda self, x: self.a(x + torch.randn_like(x)), a=nn.Linear(6, 3)),
        vectors,
        "same|differ|random|batch",
    ),
}


def specimen(name: str) -> tuple[nn.Module, Any]:
    """An animal with weights of its own and some inputs, the same every time."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network, x = ZOO[name].make().eval(), ZOO[name].inputs()
        for part in network.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.running_mean is not None:
                part.running_mean.normal_()
                part.running_var.uniform_(0.5, 2)
    return network, x


def naive_kernels(network: nn.Module, x: Any) -> Tensor:
    """Exact class kernels (C, n, n) by plain autograd, one input and one logit at a time."""
    parameters = [p for p in network.parameters() if p.requires_grad]
    rows = []
    for i in range(length(x)):
        y = call(network, take(x, slice(i, i + 1)))[0]
        gradients = [torch.autograd.grad(y_c, parameters, retain_graph=True, allow_unused=True) for y_c in y]
        rows.append(
            torch.stack(
                [
                    torch.cat(
                        [
                            torch.zeros(p.numel()).double() if g is None else g.double().flatten()
                            for g, p in zip(row, parameters, strict=True)
                        ]
                    )
                    for row in gradients
                ]
            )
        )
    Phi = torch.stack(rows, dim=1)
    return Phi @ Phi.mT


def deviation(network: nn.Module, x: Any) -> tuple[float, tuple[str, ...]]:
    """Relative Frobenius error of the engine's exact class kernels; the parameters that have no fast rule."""
    from dntk_core.gradients.preparation import prepare
    from dntk_core.gradients.stream import exact_kernels

    prepared = prepare(network, x)
    found, wanted = exact_kernels(prepared, x), naive_kernels(network, x)
    return float((found - wanted).norm() / wanted.norm()), prepared.rest


def main() -> None:
    """Print what becomes of every animal."""
    from dntk_core.base.errors import DNTKError

    for name in ZOO:
        network, x = specimen(name)
        try:
            error, rest = deviation(network, x)
            print(f"{name:28} exact to {error:.0e}" + (f", general path: {', '.join(rest)}" if rest else ""))
        except DNTKError as error:
            print(f"{name:28} refused: {error}")
        except Exception as error:
            print(f"{name:28} *** {type(error).__name__}: {str(error).partition(chr(10))[0][:150]}")
    print(f"{len(ZOO)} networks")


if __name__ == "__main__":
    main()

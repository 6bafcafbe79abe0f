"""Small networks of every kind, each with inputs for it."""

import torch
import torch.nn.functional as F
from torch import nn


class Convolutions(nn.Module):
    """Strided, dilated, grouped and depthwise convolutions with batch norm and in-place ReLUs."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, 6, 3, stride=2, padding=1),
            nn.BatchNorm2d(6),
            nn.ReLU(inplace=True),
            nn.Conv2d(6, 8, 3, padding=2, dilation=2, groups=2, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.Conv2d(8, 8, (3, 1), padding=(1, 0), groups=8),
            nn.Tanh(),
        )
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Norms(nn.Module):
    """Group norm, layer norm over positions and over everything, one-dimensional batch norm."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 6, 3)
        self.group = nn.GroupNorm(3, 6)
        self.layer = nn.LayerNorm(6)
        self.whole = nn.LayerNorm((9, 6))
        self.linear = nn.Linear(54, 5)
        self.batch = nn.BatchNorm1d(5)
        self.head = nn.Linear(5, 3, bias=False)

    def forward(self, x):
        x = torch.tanh(self.group(self.conv(x)))
        x = self.whole(self.layer(x.flatten(2).transpose(1, 2)))
        return self.head(torch.tanh(self.batch(self.linear(x.flatten(1)))))


class Tokens(nn.Module):
    """An embedding, a learnt position, attention, and a linear layer over positions."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 6)
        self.position = nn.Parameter(torch.randn(5, 6))
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.mix = nn.Linear(6, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, tokens):
        x = self.embed(tokens) + self.position
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return self.head(torch.tanh(self.mix(x)).mean(1))


class Shared(nn.Module):
    """One layer used twice, and one weight used by two modules."""

    def __init__(self):
        super().__init__()
        self.twice = nn.Linear(6, 6)
        self.first = nn.Linear(6, 6, bias=False)
        self.second = nn.Linear(6, 6, bias=False)
        self.second.weight = self.first.weight
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        x = torch.tanh(self.twice(torch.tanh(self.twice(x))))
        return self.head(torch.tanh(self.second(torch.tanh(self.first(x)))))


class Functional(nn.Module):
    """A linear layer whose weight is also used behind its back, and a frozen one."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.frozen = nn.Linear(6, 6).requires_grad_(False)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        x = torch.tanh(self.linear(x))
        return self.head(torch.tanh(F.linear(self.frozen(x), self.linear.weight)))


class SequenceFirst(nn.Module):
    """Layers that see positions before the batch."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.linear(x.transpose(0, 1))).mean(0))


def _images(b):
    return torch.randn(b, 2, 5, 5, generator=torch.Generator().manual_seed(1))


def _vectors(b):
    return torch.randn(b, 6, generator=torch.Generator().manual_seed(1))


def _sequences(b):
    return torch.randn(b, b, 6, generator=torch.Generator().manual_seed(1))


def _tokens(b):
    return torch.randint(0, 7, (b, 5), generator=torch.Generator().manual_seed(1))


# Name → (network, inputs of a batch size, parameters expected on the general path).
KINDS = {
    "convolutions": (Convolutions, _images, ()),
    "norms": (Norms, _images, ()),
    "tokens": (Tokens, _tokens, ()),
    "shared": (Shared, _vectors, ()),
    "functional": (Functional, _vectors, ()),
    "sequence first": (SequenceFirst, _sequences, ("linear.weight", "linear.bias")),
}


def make(kind: str, b: int = 4) -> tuple[nn.Module, torch.Tensor, tuple[str, ...]]:
    """A network with random weights and running statistics, b inputs, and its general-path parameters."""
    cls, inputs, general = KINDS[kind]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = cls()
        for part in network.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm):
                part.running_mean.normal_()
                part.running_var.uniform_(0.5, 2)
            if getattr(part, "weight", None) is not None and part.weight.ndim == 1:
                nn.init.normal_(part.weight, 1.0, 0.2)
    return network.eval(), inputs(b), general
